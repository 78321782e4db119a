"""Cells of one kernel, solved over one kernel matrix in one call of the engine, and the values of their functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...fitting import engine
from ...fitting.fits import Fits
from ...gram import Gram, Source
from ...gram.points import Points
from ...predicting.decision import decision_values
from ...predicting.expansion import BLURRED, Expansion
from ...threads import Clock, Pool, allowed_threads
from ...threads.gate import one_blas_thread
from .cells import Cell
from .programs import Entry, Whole
from .rows import Rows

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]

SHARE = 0.25  # Fraction of ``cache_size`` for the matrix that decision values are made of, and for the programs.


@dataclass
class Solved:
    """The solution of a cell.

    good : whether all its problems converged
    gap : the largest relative duality gap
    values : (n, n_problems) at the rows of ``test``, and at those of ``train`` if they are asked for, else None
    doubt : a warning about a solution that is optimal and yet useless, or ""
    ends : how far ``test`` may fall and rise up to the optimal function; None: nothing is proven
    """

    good: bool
    gap: float
    test: Vector
    train: Vector | None
    doubt: str
    ends: tuple[Vector, Vector] | None


def solve(
    cells: list[Cell], train: bool, prove: bool, n_jobs: int | None, share: float, around: Pool | None, clock: Clock,
    callback: Any,
) -> list[Solved | None]:  # fmt: skip
    """Return the solutions of cells of one kind and the same rows; None for those that cannot share.

    train : whether values at the training rows are asked for
    prove : whether it is asked how far values are from those of the optimum
    n_jobs, share : threads, and the part of ``cache_size`` that may be used
    around : the pool that solves other cells at the same time
    clock, callback : the end of the whole search, and who hears of the progress
    """
    first, rows = cells[0], cells[0].fold.rows
    model = first.model
    settings = model.settings(first.kernel, clock, first.sized)
    settings = replace(settings, n_jobs=n_jobs, cache_bytes=share * settings.cache_bytes, callback=callback)
    work = float(rows.size) ** 2 * first.kernel.cost(float(rows.X.shape[1]))
    if rows.device is None or around is not None or work < rows.device.fit:  # kernel values are shared on the processor
        settings = replace(settings, device=None)
    else:
        settings = replace(settings, device=rows.device, there=rows.there)
    entries, left = _entries(cells)
    if not entries:
        return [None] * len(cells)
    if first.alone:
        for entry in entries:
            whole = Whole.of([entry], cells)
            fits = engine.fit(rows.X, rows.distinct, whole.problems, settings, around=around)
            _take([entry], fits, cells, whole, prove)
    else:
        before, whole = _chained(cells, entries), Whole.of(entries, cells)
        fits = engine.fit(rows.X, rows.distinct, whole.problems, settings, None, before, around)
        _take(entries, fits, cells, whole, prove)
    found = _valued(cells, entries, rows, settings, train, around)
    return [None if number in left else one for number, one in enumerate(found)]


def _entries(cells: list[Cell]) -> tuple[list[Entry], set[int]]:
    """Return the problems in an order that lets neighbours share, pair by pair, and the cells that have none."""
    left: set[int] = set()
    entries: list[Entry] = []
    for number, cell in enumerate(cells):
        tube, C = (float(getattr(cell.model, name, 0.0)) for name in ("epsilon", "C"))
        try:
            cell.check()
            parts = [(side, *cell.program(side)) for side in cell.sides]
        except Exception:  # scikit-learn's own way says what is wrong
            left.add(number)
            continue
        for place, (side, program, unit) in enumerate(parts):
            order = (side.segments, side.positive, cell.fold.number, tube / unit, cell.others, C, number)
            entries.append(Entry(number, place, side, program, unit, order))
    return sorted(entries, key=lambda entry: entry.order), left


def _chained(cells: list[Cell], entries: list[Entry]) -> Ids:
    """Return for each problem the one that differs from it by a smaller C alone, or -1."""
    last: dict[Any, int] = {}
    out = np.full(len(entries), -1)
    for number, entry in enumerate(entries):
        cell = cells[entry.cell]
        key = cell.fold.number, entry.side, cell.others
        out[number] = last.get(key, -1)
        last[key] = number
    return out


def _take(entries: list[Entry], fits: Fits, cells: list[Cell], whole: Whole, prove: bool) -> None:
    """Keep what the engine found. The gradient over all samples holds the values of those that a fold leaves out."""
    found, rows = fits.found, cells[0].fold.rows
    gaps = np.where(found.solved, found.relative_gaps, 0.0)
    explicit = getattr(cells[0].model, "bias", "explicit") == "explicit"  # else the gradient contains the bias
    known, good, solved = found.gradients is not None, found.good, found.solved
    values = found.gradients + whole.t if found.gradients is not None else np.empty(0)
    # A kernel that only was not found to be indefinite proves nothing about samples that were left out.
    sure = known and prove and cells[0].kernel.convex
    offs = whole.offs(found, _roots(cells[0])) if sure else [None] * len(entries)
    for number, entry in enumerate(entries):
        own = slice(fits.first[number], fits.first[number + 1])
        entry.good, entry.gap = bool(good[number]), float(gaps[number])
        entry.half_width, entry.solved = float(found.half_width[number]), bool(solved[number])
        entry.beta = entry.unit * fits.beta[own]
        entry.intercept = entry.unit * float(found.intercept[number])
        if known and entry.solved and own.stop - own.start == rows.size:
            entry.values = np.empty(rows.size)
            entry.values[whole.ids[own]] = entry.unit * values[own] + explicit * entry.intercept
        off = offs[number]
        entry.off = None if off is None else off.times(entry.unit)


def _roots(cell: Cell) -> Vector:
    """Return the roots of k(x, x) + lambda^2 of all distinct samples."""
    rows = cell.fold.rows
    diagonal = cell.kernel.diagonal(Source.of(rows.X, rows.distinct.rows, cell.kernel).sizes) + cell.augment**2
    return np.sqrt(np.maximum(diagonal, 0.0))


def _valued(
    cells: list[Cell], entries: list[Entry], rows: Rows, settings: engine.Settings, train: bool, around: Pool | None
) -> list[Solved]:
    """Return the solutions with their decision values."""
    own: list[list[Entry]] = [[] for _ in cells]
    for entry in entries:
        own[entry.cell].append(entry)
    doubts = [_divide(cell, some) for cell, some in zip(cells, own, strict=True)]
    tests = [np.empty((len(cell.fold.test), len(cell.sides))) for cell in cells]
    trains = [np.empty((len(cell.fold.train), len(cell.sides))) if train else None for cell in cells]
    by_place: dict[Any, list[Entry]] = {}
    for entry in entries:
        if entry.values is not None:
            fold, out = cells[entry.cell].fold, trains[entry.cell]
            tests[entry.cell][:, entry.place] = entry.values[rows.group[fold.test]]
            if out is not None:
                out[:, entry.place] = entry.values[rows.group[fold.train]]
            continue
        by_place.setdefault((entry.side.segments, id(cells[entry.cell].fold)), []).append(entry)
    groups = list(by_place.values())
    room = SHARE * settings.cache_bytes
    with (
        one_blas_thread(),
        Pool(allowed_threads(settings.n_jobs), around=around) as pool,
    ):  # sums depend on the threads of BLAS
        K = _matrix(rows, entries, settings, pool) if groups and 8.0 * rows.size**2 <= room else None

        def value(number: int) -> None:
            some = groups[number]
            fold = cells[some[0].cell].fold
            ids = rows.ids(list(some[0].side.segments))
            B, b = np.stack([entry.beta for entry in some], axis=1), np.array([entry.intercept for entry in some])
            for part, outs in ((fold.test, tests), (fold.train, trains)):
                if part is fold.train and not train:
                    continue
                where, back = np.unique(rows.group[part], return_inverse=True)
                found = _sums(K, rows, where, ids, B, settings) + b
                for k, entry in enumerate(some):
                    out = outs[entry.cell]
                    assert out is not None  # noqa: S101 (for the type checker)
                    out[:, entry.place] = found[back, k]

        if K is None:
            for number in range(len(groups)):
                value(number)
        else:
            pool.run(value, len(groups))
    roots = _roots(cells[0])
    return [
        Solved(
            all(e.good for e in some),
            max((e.gap for e in some), default=0.0),
            tests[k],
            trains[k],
            doubts[k],
            _ends(some, roots, rows.group[cells[k].fold.test]),
        )
        for k, some in enumerate(own)
    ]


def _ends(entries: list[Entry], roots: Vector, test: Ids) -> tuple[Vector, Vector] | None:
    """Return how far the values of some problems may fall and rise at some samples, (n, n_problems) each."""
    offs = [entry.off for entry in entries if entry.off is not None]
    if not offs or len(offs) < len(entries):
        return None
    below, above = zip(*(off.ends(roots[test]) for off in offs), strict=True)
    return np.stack(below, axis=1), np.stack(above, axis=1)


def _divide(cell: Cell, entries: list[Entry]) -> str:
    """Divide the solutions as their machine does; return its warning."""
    form = cell.form
    widths = np.array([entry.half_width for entry in entries])
    if form.divisors is not None:
        for entry, divisor in zip(entries, form.divisors(widths).tolist(), strict=True):
            entry.beta, entry.intercept = entry.beta / divisor, entry.intercept / divisor
            entry.values = None if entry.values is None else entry.values / divisor
            entry.off = None if entry.off is None else entry.off.times(1.0 / divisor)
    if form.doubt is None:
        return ""
    return form.doubt(widths[[entry.solved for entry in entries]])


def _matrix(rows: Rows, entries: list[Entry], settings: engine.Settings, pool: Pool) -> Vector:
    """Return the kernel matrix of all distinct samples, accurate enough for these coefficients."""
    mass = max(float(np.abs(entry.beta).sum()) for entry in entries)
    source = Source.of(rows.X, rows.distinct.rows, settings.kernel).cautious(mass, BLURRED)
    gram = Gram(source, np.float64, [rows.size], pool)
    return gram.square(Points(gram.source, np.arange(rows.size)), rows.size)


def _sums(K: Vector | None, rows: Rows, where: Ids, ids: Ids, B: Vector, settings: engine.Settings) -> Vector:
    """Return sums of kernel values of some distinct samples with others."""
    if K is not None:
        return K[np.ix_(where, ids)] @ B
    used = B.any(axis=1)
    distinct = rows.distinct.rows
    expansion = Expansion(rows.X[distinct[ids[used]]], B[used], settings.kernel, np.arange(np.count_nonzero(used)))
    zero = np.zeros(B.shape[1])
    remote = None if settings.device is None else expansion.on(settings.device)
    if remote is not None:
        X = rows.X if settings.there is None else settings.there
        return remote.values(X[distinct[where]], zero, single=False)
    return decision_values(rows.X[distinct[where]], expansion, zero, "double", settings.n_jobs, np.asarray)
