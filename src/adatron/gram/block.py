"""Kernel matrices among some points: half of one is mirrored, what many problems share is stored.

Kernel values do not depend on the order of the pair, to the last bit. One-vs-one problems of a class share the values
among its samples: if a block holds most of a segment, the segment's rows over itself are stored and copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.submatrix import add_rows, reflect, scatter
from .segment import TileSegment

if TYPE_CHECKING:
    from .gram import Gram, Points, View

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]
SQUARE = 512  # points of the squares that half of a matrix is made of
FRESH = 0.75  # of the points of a block, up to which the values among the others are kept
LINES = 128  # of a block that one task reflects


class _Side(NamedTuple):
    """The points of a block that are of one segment."""

    points: Points
    segment: int
    places: Ids  # in the block
    columns: Ids  # in the segment


class Square:
    """Kernel values among the points of one block after the other. Points that keep their places keep their values."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.forget()

    def forget(self) -> None:
        """The values are lost: they were changed, or their room was."""
        self._ids: Ids = np.empty(0, np.int64)

    def among(self, P: Points) -> NDArray[Any]:
        """Kernel values of |P| points with each other, in the precision of the tiles, until the next call."""
        gram = self._view.gram
        fresh = np.flatnonzero(P.ids != self._ids) if len(P) == len(self._ids) else np.arange(len(P))
        if len(fresh) > FRESH * len(P) or not gram.mirrors:
            self._K = self._view.block(P, P)
        elif len(fresh):
            K = self._K
            gram.segment(P.source).fill(P.take(fresh), K, fresh)
            starts = range(0, len(K), LINES)
            gram.pool.run(lambda k: reflect(K, fresh, starts[k], min(len(K), starts[k] + LINES)), len(starts))
        self._ids = P.ids
        return self._K


def symmetric(gram: Gram, P: Points) -> NDArray[Any]:
    """Kernel values among points, in the precision of the tiles; they stay until the next call on this thread."""
    out = gram.workspace.square(len(P))
    sides = _sides(gram, P)
    for i, one in enumerate(sides):
        if not _shared(gram, one, out):
            _put(gram.segment(one.points.source).values(one.points), one, one, out)
        for other in sides[:i]:
            K = gram.segment(one.points.source).values(other.points)
            _put(K, other, one, out)
            _put(np.ascontiguousarray(K.T), one, other, out)
    return out


def mirrored_sums(gram: Gram, P: Points, v: Vector) -> Vector:
    """K[P, P] v from half of the matrix, of which no more is held than a square for each thread."""
    parts = [slice(a, min(len(P), a + SQUARE)) for a in range(0, len(P), SQUARE)]
    out = np.zeros(len(P))
    for i in range((len(parts) + 1) // 2):  # a short line of squares and a long one, as much work for every i
        _add_lines(gram, P, v, parts, {i, len(parts) - 1 - i}, out)
    return out


def _add_lines(gram: Gram, P: Points, v: Vector, parts: list[slice], lines: set[int], out: Vector) -> None:
    """out += K v for the squares left of the diagonal on some lines, and for their mirror images."""
    rows = {k: gram.segment(P.source.take(parts[k])) for k in sorted(lines)}
    squares = [(k, j) for k in rows for j in range(k + 1)]
    sums: list[Any] = [None] * len(squares)

    def square(number: int) -> None:
        k, j = squares[number]
        K = rows[k].values(P.take(parts[j]))
        down = np.zeros(K.shape[1])
        add_rows(K, np.arange(len(K)), v[parts[j]], down)
        sums[number] = down, np.einsum("ij,j->i", K, v[parts[k]])

    gram.pool.run(square, len(squares))
    for (k, j), (down, across) in zip(squares, sums, strict=True):
        out[parts[k]] += down
        if j != k:
            out[parts[j]] += across


def _sides(gram: Gram, P: Points) -> list[_Side]:
    segment = np.searchsorted(gram.starts, P.ids, side="right") - 1
    found = []
    for number in np.unique(segment):
        places = np.flatnonzero(segment == number)
        found.append(_Side(P.take(places), int(number), places, P.ids[places] - gram.starts[number]))
    return found


def _shared(gram: Gram, one: _Side, out: NDArray[Any]) -> bool:
    """Copy values among the points from the stored rows of their segment, if there is room for them."""
    segment = gram.segments[one.segment]
    size = int(gram.starts[one.segment + 1] - gram.starts[one.segment])
    if not isinstance(segment, TileSegment) or len(segment.store) < size or 2 * len(one.places) < size:
        return False
    segment.keep(gram.own(one.segment))
    lease = segment.store.borrow(one.points.ids)
    try:
        if (lease.found < 0).any():
            return False
        scatter(segment.store.values, lease.found, one.columns, out, one.places, one.places)
        return True
    finally:
        segment.store.give_back(lease, filled=False)


def _put(K: NDArray[Any], rows: _Side, columns: _Side, out: NDArray[Any]) -> None:
    """K to its places."""
    scatter(K, np.arange(len(K)), np.arange(K.shape[1]), out, rows.places, columns.places)
