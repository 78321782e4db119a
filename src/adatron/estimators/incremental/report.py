"""What proves that a model is the solution of the samples it still has."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from ...certificates import Certificate
from .leave_out import decision
from .track import Track

if TYPE_CHECKING:
    from .machine import Incremental


def report(model: Incremental, refit: bool) -> str:
    """See ``Incremental.deletion_report``."""
    found: dict[str, Any] = {"samples": model.store.n, "arrived": model.store.arrived}
    proofs = [_proof(model, track) for track in model.tracks]
    found["kkt_violation"] = max(proof.kkt_violation for proof in proofs)
    found["duality_gap"] = max(proof.relative_gap for proof in proofs)
    found["files"] = sorted(model.files_)
    found["refits"] = model.n_refit_
    if refit:
        found["largest_difference"] = max(_difference(model, track) for track in model.tracks)
    return json.dumps(found | {"adatron": metadata.version("adatron")})


def _proof(model: Incremental, track: Track) -> Certificate:
    return track.prove(track.dual(model.program))


def _difference(model: Incremental, track: Track) -> float:
    """Of the decision values of the samples, from those of a solution that was found from nothing."""
    if not len(track.beta):
        return 0.0
    other = Track.of(track.store, track.kernel, track.state())
    model.solve_anew(other)
    dual = track.dual(model.program)
    values = [decision(dual, one.beta, one.g) for one in (track, other)]
    return float(np.abs(values[0] - values[1]).max())
