"""The coordinator's account of a program's parts on the slabs, and the changes that it sends to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..solvers.blocks.shard import Violators, worst
from .partition import Ids, Vector
from .sent import compact
from .state import Edit, SlabProgram, SurveyReport

# A slab reports this multiple of the violators that were needed, plus this many.
VIOLATORS_FACTOR, VIOLATORS_SPARE = 1.1, 16


class Change(NamedTuple):
    """A change of the gradient: points, whether each will be asked for again, their weights; and a constant."""

    ids: Ids
    again: NDArray[np.bool_] | None
    v: Vector
    constant: float

    def edit(self, places: NDArray[Any], before: int, stored: bool) -> Edit:
        """Return the change as slabs apply it; ``stored``: whether slabs store kernel values."""
        again = None if self.again is None else np.packbits(self.again)
        return Edit(places, before, self.v, self.constant, (compact(self.ids), again) if stored else None)


class Part:
    """One slab's variables, as the coordinator knows them: their numbers, in their order, and their program.

    most : how many violators of a direction the slab reports: somewhat more than were needed last time
    """

    def __init__(self, program: SlabProgram, ids: Ids, expected: float) -> None:
        self.program, self.ids = program, ids
        self.most = enough(expected + 4.0 * expected**0.5)

    def violators(self, report: SurveyReport, r: int, side: int) -> Violators:
        """Return the violators of a direction with their numbers in the whole program."""
        places, values = report.ends[r][side]
        return Violators(self.ids[places], values)


def enough(expected: float) -> int:
    """Return how many violators to ask for if so many are expected to be needed."""
    return int(VIOLATORS_FACTOR * expected) + VIOLATORS_SPARE


def violators(
    parts: dict[int, Part], reports: dict[int, SurveyReport], equalities: int, most: int
) -> tuple[list[NDArray[Any]], set[int]]:
    """Return the worst violators of all slabs, and the slabs whose reports are too short for that.

    Returns
    -------
    lists : numbers and gains; for each equality the variables that could grow, then those that could shrink
    short : slabs that have left out violators which might be among the worst
    """
    lists: list[NDArray[Any]] = []
    short: set[int] = set()
    needed = dict.fromkeys(parts, 0)
    for r, side in ((r, side) for r in range(equalities) for side in (0, 1)):
        some = {j: part.violators(reports[j], r, side) for j, part in parts.items()}
        found = _merged(list(some.values()), most)
        least = found.values.min(initial=np.inf) if len(found.ids) >= most else -np.inf
        for j, own in some.items():
            needed[j] = max(needed[j], int(np.count_nonzero(own.values >= least)))
            asked = reports[j].most
            if asked < most and len(own.ids) >= asked and own.values.min(initial=np.inf) >= least:
                short.add(j)
        lists += found
    for j, count in needed.items():
        parts[j].most = min(most, enough(count))
    return lists, short


def _merged(some: list[Violators], most: int) -> Violators:
    """Return the worst of some violators, in the order of their numbers."""
    ids, values = (np.concatenate([getattr(one, name) for one in some]) for name in ("ids", "values"))
    order = np.argsort(ids)
    return worst(Violators(ids[order], values[order]), most)
