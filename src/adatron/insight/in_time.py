"""As many samples as there is time for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import inf
from time import monotonic
from typing import Any, TypeVar

import numpy as np

from ..estimators import input_margin
from ..margins import InputMargins
from ..threads import Clock
from .subject import Ids, taken

GROWTH = 3  # Times that a part is as large as all before it, at most.
Answer = TypeVar("Answer")


def in_time(some: Ids, clock: Clock, ask: Callable[[Ids], Answer]) -> tuple[Ids, list[Answer]]:
    """Return the samples that there was time for, and what was found of them, part by part.

    Without a limit all samples are one part. With a limit, chance orders the samples, and the first part is one sample.
    Each further part is as large as the time that is left allows, if it takes as long as those before.
    """
    if clock.deadline == inf or not len(some):
        return some, [ask(some)]
    order = np.random.default_rng(0).permutation(some)
    begun, done, size = monotonic(), 0, 1
    found: list[Answer] = []
    while size > 0:
        found.append(ask(order[done : done + size]))
        done += size
        now = monotonic()
        size = min(GROWTH * done, len(order) - done)
        if now > begun:
            size = min(size, int(done * (clock.deadline - now) / (now - begun)))
    return order[:done], found


def margins_in_time(model: Any, rows: Any, some: Ids, clock: Clock) -> tuple[Ids, InputMargins]:
    """Return the samples that there was time for, sorted, and their distances from the boundary."""
    done, found = in_time(some, clock, lambda part: input_margin(model, taken(rows, part)))
    order = np.argsort(done, kind="stable")
    columns = (np.concatenate([getattr(one, field.name) for one in found])[order] for field in fields(InputMargins))
    return done[order], InputMargins(*columns)
