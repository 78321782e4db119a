"""The programs of a search's cells side by side, and what their solutions prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...certificates.bias import CARE, confine
from ...fitting.programs import Listed, Program, Programs
from ...problems import Dual, csvc
from ...solvers.results import Found
from .cells import Cell, Side
from .rows import SharedRows

TWICE = [0, 1]  # Segments of a problem in which each sample comes twice.


class Off(NamedTuple):
    """How far values of the optimal function may be from those of a solution, see ``certificates.bias.confine``.

    width : times sqrt(k(x, x)), how far the normal may move a value
    error : bound of the errors of the values themselves
    below, above : how far the bias may fall and rise
    """

    width: float
    error: float
    below: float
    above: float

    def times(self, unit: float) -> Off:
        """Return the bounds for values that are multiplied by a number."""
        return Off(*(unit * value for value in self))

    def ends(self, roots: Vector) -> tuple[Vector, Vector]:
        """Return how far values may fall and rise at samples with these roots of k(x, x)."""
        either = CARE * self.width * roots + self.error
        return either + self.below, either + self.above


class Where(NamedTuple):
    """The places of the test rows, of the training rows and of a problem's samples among the values."""

    test: Ids
    train: Ids
    own: Ids


@dataclass
class Entry:
    """One problem of a cell, with its solution: a coefficient of each distinct sample in it, and the bias.

    program : over the problem's samples; None if all programs are made at once
    values, where : values of the decision function, and the places of the samples among them
    error : bound of the errors of the values; infinite if none is known
    off : how far the values may be from those of the optimal function, if that is proven
    """

    cell: int
    place: int
    side: Side
    program: Dual | None
    unit: float
    order: tuple[Any, ...]
    good: bool = False
    gap: float = np.inf
    half_width: float = 0.0
    beta: Any = None
    intercept: float = 0.0
    solved: bool = True
    values: Any = None
    where: Any = None
    error: float = np.inf
    off: Off | None = None


class Beside(Programs):
    """Programs that are parts of one large program.

    A search over ten classes has thousands of pairs, so their programs are made at once.

    segments : the segments of each problem
    whole : the programs side by side
    ends : (n,) where the variables of each end
    """

    def __init__(self, segments: Sequence[Sequence[int]], whole: Dual, ends: Ids) -> None:
        self.groups = np.concatenate([np.array(some, np.int64) for some in segments])
        self.first = np.concatenate([[0], np.cumsum([len(some) for some in segments])])
        self._whole, self._ends = whole, np.concatenate([[0], ends])
        self.joined = self._of

    def _of(self, some: range, ids: Ids) -> Dual:
        return self._whole.take(slice(self._ends[some.start], self._ends[some.stop]))

    def program(self, number: int) -> Program:
        return Program(self.segments(number), lambda ids: self._of(range(number, number + 1), ids))

    def sides(self) -> Vector:
        """Return 0: every problem has samples on both sides."""
        return np.zeros(len(self))


@dataclass
class Whole:
    """The programs of several problems, one after the other.

    programs : as they are solved
    ids : the distinct sample of each variable
    t, lower, upper, row : as in ``Dual``
    totals, epsilons : (n, p) and (n,) of each program
    """

    programs: Programs
    ids: Ids
    t: Vector
    lower: Vector
    upper: Vector
    row: Ids
    totals: NDArray[np.float64]
    epsilons: Vector

    @classmethod
    def of(cls, entries: list[Entry], cells: list[Cell], twice: bool) -> Whole:
        """Make the programs of problems of one kind; ``twice``: the engine has each sample twice, as two classes."""
        known: dict[Side, tuple[Ids, Vector]] = {}
        for entry in entries:
            if entry.side not in known:
                known[entry.side] = _samples(entry.side, cells[0].fold.rows)
        copies = cells[0].problem.copies
        ids = np.concatenate([np.tile(known[entry.side][0], copies) for entry in entries])
        duals = [entry.program for entry in entries if entry.program is not None]
        if duals:
            t, lower, upper = (
                np.concatenate([getattr(dual, name) for dual in duals]) for name in ("t", "lower", "upper")
            )
            row = np.concatenate([dual.membership[0] for dual in duals])
            totals = np.array([dual.totals if dual.sign is None else () for dual in duals]).reshape(len(duals), -1)
            parts = [(TWICE, 1) if twice else (list(e.side.segments), copies) for e in entries]
            some = [Program(one, _constant(e.program), k) for e, (one, k) in zip(entries, parts, strict=True)]
            return cls(Listed(some), ids, t, lower, upper, row, totals, np.array([dual.epsilon for dual in duals]))
        n, whole = len(entries), _joined(entries, cells, known)
        programs = Beside(
            [e.side.segments for e in entries], whole, np.cumsum([len(known[e.side][0]) for e in entries])
        )
        totals = np.tile(np.array(whole.totals), (n, 1))
        return cls(programs, ids, whole.t, whole.lower, whole.upper, whole.membership[0], totals, np.zeros(n))

    def confined(self, found: Found, g: Vector, errors: Vector, roots: Vector) -> tuple[Vector, Vector, Vector]:
        """Return how far the optimal functions may be from those found, in the units of the programs.

        The first number is ``Off.width``; the others say how far biases may fall and rise.

        g : gradients, without an explicit bias
        errors : (n,) bounds of their errors
        roots : of k(x, x) + lambda^2 of all distinct samples
        """
        widths = np.sqrt(2.0 * np.maximum(np.where(np.isfinite(found.gap), found.gap, 0.0), 0.0))
        below, above = np.zeros((2, len(widths)))
        if self.totals.shape[1]:  # else the bias, if any, is part of the normal
            bounds = self.lower, self.upper, self.row, self.totals, self.epsilons
            confine(found.first, *bounds, g, roots[self.ids], widths, errors, below, above)
            below, above = np.maximum(found.intercept - below, 0.0), np.maximum(above - found.intercept, 0.0)
        return widths, below, above


def _samples(side: Side, rows: SharedRows) -> tuple[Ids, Vector]:
    """Return the distinct samples of a problem, and their labels 1 and -1."""
    ids = rows.ids(list(side.segments))
    return ids, np.where(rows.of_class[ids] == side.positive, 1.0, -1.0)


def _joined(entries: list[Entry], cells: list[Cell], known: dict[Side, tuple[Ids, Vector]]) -> Dual:
    """Return the programs of classifiers side by side."""
    weight = [cells[entry.cell].weight[known[entry.side][0]] for entry in entries]
    C = np.repeat([float(cells[entry.cell].model.C) for entry in entries], [len(some) for some in weight])
    held = np.concatenate(weight)
    bounds = np.where(held > 0.0, C, 0.0) * held
    return csvc(np.concatenate([known[e.side][1] for e in entries]), bounds, cells[0].model.bias, cells[0].augment)


def _constant(program: Dual | None) -> Any:
    return lambda ids: program
