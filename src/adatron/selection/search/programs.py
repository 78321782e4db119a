"""The programs of a search's cells side by side, and what their solutions prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...certificates.confined import confine
from ...fitting.problems import Listed, Problem, Problems
from ...problems import Dual, csvc
from ...solvers.found import Found
from .beside import Beside
from .cells import Cell, Side
from .confined import Off
from .rows import Rows

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]


@dataclass
class Entry:
    """One problem of a cell, with its solution: a coefficient of each distinct sample in it, and the bias.

    program : (n,) of its samples; None if all programs are made at once
    values : of its function at all distinct samples, where the solver has found them
    off : how far they may be from those of the optimal function, where that is proven
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
    off: Off | None = None


@dataclass
class Whole:
    """The programs of several problems, one after the other.

    problems : as the engine takes them
    ids : the distinct sample of each variable
    t, lower, upper, row : as in ``Dual``
    totals, epsilons : (n, p) and (n,) of each program
    """

    problems: Problems
    ids: Ids
    t: Vector
    lower: Vector
    upper: Vector
    row: Ids
    totals: NDArray[np.float64]
    epsilons: Vector

    @classmethod
    def of(cls, entries: list[Entry], cells: list[Cell]) -> Whole:
        """Make those of some problems of one kind."""
        known: dict[Side, tuple[Ids, Vector]] = {}
        for entry in entries:
            if entry.side not in known:
                known[entry.side] = _samples(entry.side, cells[0].fold.rows)
        ids = np.concatenate([known[entry.side][0] for entry in entries])
        duals = [entry.program for entry in entries if entry.program is not None]
        if duals:
            t, lower, upper = (
                np.concatenate([getattr(dual, name) for dual in duals]) for name in ("t", "lower", "upper")
            )
            row = np.concatenate([dual.membership[0] for dual in duals])
            totals = np.array([dual.totals if dual.sign is None else () for dual in duals]).reshape(len(duals), -1)
            some = [Problem(list(e.side.segments), _constant(e.program), cells[e.cell].form.copies) for e in entries]
            return cls(Listed(some), ids, t, lower, upper, row, totals, np.array([dual.epsilon for dual in duals]))
        n, whole = len(entries), _joined(entries, cells, known)
        problems = Beside(
            [e.side.segments for e in entries], whole, np.cumsum([len(known[e.side][0]) for e in entries])
        )
        totals = np.tile(np.array(whole.totals), (n, 1))
        return cls(problems, ids, whole.t, whole.lower, whole.upper, whole.membership[0], totals, np.zeros(n))

    def offs(self, found: Found, roots: Vector) -> list[Off | None]:
        """Return how far the optimal functions may be from those found, in the numbers of the programs.

        roots : of k(x, x) + lambda^2 of all distinct samples
        """
        assert found.gradients is not None  # noqa: S101 (for the type checker)
        proven = found.solved & found.convex & np.isfinite(found.gap)
        widths = np.sqrt(2.0 * np.maximum(np.where(proven, found.gap, 0.0), 0.0))
        errors = np.where(proven, found.resolution, 0.0)
        below, above = np.zeros((2, len(proven)))
        if self.totals.shape[1]:  # else the bias, if any, is part of the normal
            bounds = self.lower, self.upper, self.row, self.totals, self.epsilons
            confine(found.first, *bounds, found.gradients, roots[self.ids], widths, errors, below, above)
            below, above = np.maximum(found.intercept - below, 0.0), np.maximum(above - found.intercept, 0.0)
        columns = zip(*(v.tolist() for v in (proven, widths, errors, below, above)), strict=True)
        return [Off(*some) if known else None for known, *some in columns]


def _samples(side: Side, rows: Rows) -> tuple[Ids, Vector]:
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
