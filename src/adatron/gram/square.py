"""Kernel matrices among some points: half is computed and mirrored; shared values are kept.

Kernel values do not depend on the order of the pair, to the last bit. One-vs-one problems of a class share the values
among its samples. Problems that are one block share them by ``Gram.shared_values``. If a block of another problem holds
most of a segment, the segment's rows over itself are stored and copied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector
from ..compiled.submatrix import reflect, scatter, transpose
from ..compiled.sums import add_square, fold
from .backends.segment import Room, Then, TileSegment
from .gram import Gram
from .source import Points

SQUARE_SIDE = 512  # Points of the squares that half of a matrix consists of.
FRESH = 0.75  # Fraction of new points in a block up to which the values among the others are kept.


class _Side(NamedTuple):
    """The points of a block that belong to one segment."""

    points: Points
    segment: int
    places: Ids  # in the block


class Square:
    """Kernel values among the points of one block after the other. Points that keep their places keep their values.

    It leases room of its Gram matrix, which must be given back.
    """

    def __init__(self, gram: Gram) -> None:
        self._gram = gram
        self._room: Room | None = None
        self.forget()

    def give_back(self) -> None:
        """Give its room back; the known values are lost."""
        if self._room is not None:
            self._gram.workspace.give_back(self._room)
        self._room = None
        self.forget()

    def forget(self) -> None:
        """Forget the values: they have been overwritten."""
        self._ids: Ids = np.empty(0, np.int64)
        self._K: NDArray[Any] = np.empty((0, 0))

    def among(self, P: Points, width: int) -> NDArray[Any]:
        """Return kernel values of |P| points with each other, in the tiles' precision, valid until the next call.

        Rows and columns of 0 follow up to the width, then columns that are arbitrary.
        """
        gram, n = self._gram, len(P)
        if gram.held:
            return np.pad(gram.block(P, P), (0, width - n))
        known = width == len(self._K) and n == len(self._ids)
        fresh = np.flatnonzero(P.ids != self._ids) if known else np.arange(n)  # places whose points are new
        K, self._ids = self._K, self._ids[:0]  # no value counts as known until all are made
        if len(fresh) > FRESH * n or (len(fresh) and not gram.mirrors):
            K = self._leased(width)
            symmetric(gram, P, K)
        elif len(fresh):
            rows, lines = TileSegment(P.source, gram.workspace, gram.pool), np.arange(n)
            lines[fresh] = -1
            rows.fill(P.take(fresh), K, fresh, then=_mirror(K, fresh, lines))
        K[n:], K[:, n:width] = 0.0, 0.0
        self._K, self._ids = K, P.ids
        return K

    def _leased(self, width: int) -> NDArray[Any]:
        """Return room of this width."""
        if self._room is None or len(self._room.K) != width:
            self.give_back()
            self._room = self._gram.workspace.lease(width)
        return self._room.K


def symmetric(gram: Gram, P: Points, out: NDArray[Any]) -> None:
    """Fill in kernel values among points, mirrored values between two segments once; entries beyond are arbitrary."""
    sides = _sides(gram, P) if gram.mirrors else []
    if len(sides) <= 1 or any(np.any(np.diff(side.places) != 1) for side in sides):
        gram.segment(P.source).fill(P, out, np.arange(len(P)))
        return
    for i, one in enumerate(sides):  # in the order of their places: writing a side may overwrite the start of the next
        shared, shift = _shared(gram, one, out), int(one.places[0])
        if shared and not i:
            continue
        segment = gram.over(one.points)
        if not shared:
            segment.fill(one.points, out, one.places, shift=shift)
        for other in sides[:i]:
            start, stop = int(other.places[0]), int(other.places[-1]) + 1
            segment.fill(other.points, out, other.places, shift=shift, then=_transposed(out, start, stop, shift))


def _transposed(K: NDArray[Any], start: int, stop: int, shift: int) -> Then:
    """Return ``_mirror`` for consecutive lines and consecutive rows, start:stop."""

    def then(first: int, last: int) -> None:
        transpose(K, shift + first, shift + last, start, stop)

    return then


def _mirror(K: NDArray[Any], rows: Ids, lines: Ids) -> Then:
    """Return a function that mirrors a row's values as soon as they are made; ``lines`` gives each line, or -1."""

    def then(first: int, last: int) -> None:
        some = lines[first:last]
        reflect(K, rows, some[some >= 0])

    return then


def mirrored_sums(gram: Gram, P: Points, v: Vector) -> Vector:
    """Return K[P, P] v from half of the matrix; only a square for each thread is held at a time."""
    parts = [slice(a, min(len(P), a + SQUARE_SIDE)) for a in range(0, len(P), SQUARE_SIDE)]
    total, low = np.zeros(len(P)), np.zeros(len(P))
    for i in range((len(parts) + 1) // 2):  # a short line of squares and a long one: equal work for every i
        _add_lines(gram, P, v, parts, {i, len(parts) - 1 - i}, total, low)
    return total + low


def _add_lines(
    gram: Gram, P: Points, v: Vector, parts: list[slice], lines: set[int], total: Vector, low: Vector
) -> None:
    """Add K v to total + low for the squares on and left of the diagonal on some lines, and for their mirror images."""
    rows = {k: gram.segment(P.source.take(parts[k])) for k in sorted(lines) if k}
    squares = [(k, j) for k in sorted(lines) for j in range(k + 1)]
    sums: list[Any] = [None] * len(squares)

    def square(number: int) -> None:
        k, j = squares[number]
        some = P.take(parts[j])
        K = rows[k].values(some) if j != k else gram.square(some, len(some))
        n, m = K.shape
        sums[number] = np.zeros(m), np.zeros(m), np.zeros(n if j != k else 0), np.zeros(n if j != k else 0)
        add_square(K, v[parts[j]], v[parts[k]], *sums[number])

    gram.pool.run(square, len(squares))
    for (k, j), (down, down_low, across, across_low) in zip(squares, sums, strict=True):
        for part, more, rest in ((parts[k], down, down_low), (parts[j], across, across_low)):
            if len(more):
                fold(more, total[part], low[part], len(more))
                low[part] += rest


def _sides(gram: Gram, P: Points) -> list[_Side]:
    segment = np.searchsorted(gram.starts, P.ids, side="right") - 1
    found = []
    for number in np.unique(segment):
        places = np.flatnonzero(segment == number)
        found.append(_Side(P.take(places), int(number), places))
    return sorted(found, key=lambda side: side.places[0])


def _shared(gram: Gram, one: _Side, out: NDArray[Any]) -> bool:
    """Copy values among the points from the stored rows of their segment, if all rows can be stored."""
    segment = gram.segments[one.segment]
    start = gram.starts[one.segment]
    size = int(gram.starts[one.segment + 1] - start)
    if not isinstance(segment, TileSegment) or len(segment.store) < size or 2 * len(one.places) < size:
        return False
    segment.keep(gram.own(one.segment))
    with segment.store.leased(one.points.ids, again=np.zeros(len(one.places), bool)) as lease:
        if (lease.found < 0).any():
            return False
        with gram.pool.aside():
            scatter(segment.store.values, lease.found, one.points.ids - start, out, one.places, one.places)
        return True
