"""Places for the variables of a block."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...compiled.search import CHUNK
from ...compiled.submatrix import scatter
from ...compiled.sums import add_rows
from ...problems import Dual


@dataclass(frozen=True)
class Layout:
    """Places for the variables of a block, equality by equality; each fills whole CHUNKs, as the searches need.

    order : the variable at each place; the padding repeats some
    place : the place of each variable
    where : the same to index with, a slice if they stand one after the other
    starts : first place of each equality, and the number of places
    """

    order: Ids
    place: Ids
    where: Any
    starts: Ids

    @classmethod
    def of(cls, dual: Dual) -> Layout:
        return _alone(len(dual)) if dual.row is None else cls.of_ties(dual.ties(), len(dual))

    @classmethod
    def of_ties(cls, ties: list[Ids], n: int) -> Layout:
        """Lay out n variables; ``ties`` has the variables of each equality."""
        starts = np.cumsum([0, *(-(-len(tie) // CHUNK) * CHUNK for tie in ties)])
        order, place = np.minimum(np.arange(starts[-1]), n - 1), np.zeros(n, np.int64)
        for start, tie in zip(starts, ties, strict=False):
            place[tie] = start + np.arange(len(tie))
        order[place] = np.arange(n)
        plain = bool((place == np.arange(n)).all())
        return cls(order, place, slice(0, n) if plain else place, starts)

    @property
    def end(self) -> int:
        """The place after that of the last variable; only padding follows."""
        return int(self.place.max(initial=-1)) + 1

    def spread(self, values: Vector) -> Vector:
        """Return the values of the variables at their places, 0 elsewhere."""
        out = np.zeros(len(self.order))
        out[self.where] = values
        return out

    def product(self, K: NDArray[Any], values: Vector) -> Vector:
        """Return K v for a matrix at the places and a v of the variables."""
        out = np.zeros(len(K))
        add_rows(K, self.place, values, out)
        return out[self.where]


@functools.lru_cache(maxsize=64)  # many problems of a few classes, and all but the last block, are of few sizes
def _alone(n: int) -> Layout:
    """Lay out one equality. Do not write to the arrays; a mark that forbids it would make another type for numba."""
    return Layout.of_ties([np.arange(n)], n)


def unpadded(K: NDArray[Any], layout: Layout) -> NDArray[np.float64]:
    """Return the matrix of the variables without the padding, in double precision."""
    out, every = np.empty((len(layout.place), len(layout.place))), np.arange(len(layout.place))
    scatter(K, layout.place, layout.place, out, every, every)
    return out
