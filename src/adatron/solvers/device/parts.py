"""Parts of a large program on a device, by the rules of ``solvers.blocks.parts``."""

from __future__ import annotations

from typing import Any

from ...extras import torch
from ..blocks.parts import AROUND, CLOSE_TO, LARGEST_PART
from .batch import Batch

DEVICE_FIRST_PART = 20  # The first part has one variable in this many.


def near(batch: Batch, tol: float) -> Any:
    """Return the variables of the only program to solve on their own, on the device; None if they are too many."""
    n = batch.sizes[0]
    if not bool(batch.beta.any()):
        return torch().arange(0, n, DEVICE_FIRST_PART, device=batch.device.where)
    inward = None
    for up, down in batch.ends():
        mu = 0.5 * (up.max() - down.max()) if batch.kind.equalities else 0.0
        own = torch().maximum(up - mu, down + mu)[0, :n]
        inward = own if inward is None else torch().maximum(inward, own)
    assert inward is not None  # noqa: S101 (for the type checker)
    beta = batch.beta[0, :n]
    free = (beta > batch.lower[0, :n]) & (beta < batch.upper[0, :n])
    move = (inward > tol) | (free & (beta != 0.0) if batch.kind.epsilon else free)
    moving, most = int(move.sum()), n // LARGEST_PART
    if moving > CLOSE_TO * most:
        return None
    inward[move] = float("inf")
    return inward.topk(min(max(int(AROUND * moving), 2 * batch.q), most), sorted=False).indices.sort().values
