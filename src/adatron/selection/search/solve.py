"""The cells of one kernel: one call of the engine solves them over one matrix; then their decision values are found."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from ...arrays import Ids, Vector
from ...devices import enough_memory
from ...fitting import engine
from ...fitting.fits import Fits
from ...gram import Source
from ...solvers.plan import MAX_SINGLE_BLOCK
from ...solvers.results import Found
from ...threads import Clock, Pool, allowed_threads
from ...threads.gate import one_blas_thread
from .cells import Cell
from .programs import Entry, Off, Where, Whole
from .rows import Fold, SharedRows, Unshared
from .values import evaluate, rate

VALUES_SHARE = 0.25  # Fraction of ``cache_size`` for the matrix that decision values are made of.
DOUBLED_MATRICES = 8  # Matrices of programs with each sample twice that the memory has room for.
FEWEST_FOLDS, MOST_LEFT_OUT = 5, 0.05  # Fewest folds that start from all rows, and the most that they leave out.
VALUE_ROUNDING = 8.0 * 2.0**-53  # Relative rounding of a value that is put together from a sum, a target and a bias.


class ProofsWanted(IntEnum):
    """Which proofs about decision values are wanted.

    NOTHING : none, as the values are not read as labels
    CHEAP : those that follow from gradients of the solver
    ALL : all; values at the training samples are computed for them if the solver has none
    """

    NOTHING = 0
    CHEAP = 1
    ALL = 2


@dataclass
class Solved:
    """The solution of a cell.

    good : whether all its problems converged
    gap : the largest relative duality gap
    test, train : (n, n_problems) values at the rows of the two parts of the fold; None if nobody asks for them
    doubt : a warning about a solution that is optimal and yet useless, or ""
    ends : how far ``test`` may fall and rise on the way to the optimum; None: nothing is proven
    """

    good: bool
    gap: float
    test: Vector
    train: Vector | None
    doubt: str
    ends: tuple[Vector, Vector] | None


def solve(
    cells: list[Cell], train: bool, proofs: ProofsWanted, n_jobs: int | None, share: float, around: Pool | None,
    clock: Clock, callback: Any,
) -> list[Solved | None]:  # fmt: skip
    """Return the solutions of cells of one kind and the same rows; None for cells that cannot share.

    train : whether values at the training rows are asked for
    n_jobs, share : threads, and the part of ``cache_size`` that may be used
    around : the pool that solves other cells at the same time
    clock, callback : the end of the whole search, and the function to tell of the progress
    """
    first, rows = cells[0], cells[0].fold.rows
    settings = first.model.settings(first.kernel, clock, first.problem.sized and first.problem.in_units)
    settings = replace(settings, n_jobs=n_jobs, cache_bytes=share * settings.cache_bytes, callback=callback)
    work = float(rows.size) ** 2 * first.kernel.cost(float(rows.X.shape[1]))
    if rows.device is None or around is not None or work < rows.device.fit:  # kernel values are shared on the processor
        settings = replace(settings, device=None)
    else:
        settings = replace(settings, device=rows.device, device_X=rows.device_X)
    proofs = proofs if first.provable else ProofsWanted.NOTHING
    # Each program is one block even with each sample twice, so that all share a kernel matrix.
    room = DOUBLED_MATRICES * 8.0 * (2 * rows.size) ** 2 <= settings.cache_bytes
    twice = first.problem.copies == 2 and 2 * rows.size <= MAX_SINGLE_BLOCK and room
    together = twice or first.problem.copies == 1
    cells = [*cells, *(_of_all_rows(cells) if together else ())]
    entries, left = _entries(cells)
    if not entries:
        return [None for cell in cells if cell.fold.number >= 0]
    samples, parts = rows.distinct, [entries] if together else [[entry] for entry in entries]
    if twice:
        samples = replace(samples, rows=np.tile(samples.rows, 2), sizes=np.repeat(rows.size, 2))
    solved: list[tuple[Whole, Found]] = []
    for part in parts:
        whole, before = Whole.of(part, cells, twice), _chained(cells, part) if together else None
        fits = engine.solve(rows.X, samples, whole.programs, settings, None, before, around)
        take(part, fits, cells, whole, twice, proofs is ProofsWanted.ALL)
        solved.append((whole, fits.found))
    with one_blas_thread(), enough_memory(settings.device):  # sums depend on the threads of BLAS
        room, threads = VALUES_SHARE * settings.cache_bytes, allowed_threads(settings.n_jobs)
        evaluate(entries, cells, train, proofs is ProofsWanted.ALL, room, around, threads, settings.device)
    if proofs:
        prove_values(entries, cells, *solved[0])
    found = collected(cells, entries, rows, train)
    requested = (number for number, cell in enumerate(cells) if cell.fold.number >= 0)
    return [None if number in left else found[number] for number in requested]


def _of_all_rows(cells: list[Cell]) -> list[Cell]:
    """Return cells of all rows if many folds leave few rows out; cells of folds start from the solutions of these."""
    rows = cells[0].fold.rows
    folds = list({id(cell.fold): cell.fold for cell in cells}.values())
    if len(folds) < FEWEST_FOLDS:
        return []
    counts = np.bincount(rows.group, minlength=rows.size)
    left = [np.mean(np.bincount(rows.group[fold.train], minlength=rows.size) != counts) for fold in folds]
    if np.mean(left) > MOST_LEFT_OUT:
        return []
    every = Fold(rows, -1, np.arange(len(rows.codes)), np.arange(0))
    found = {cell.candidate.number: Cell(cell.candidate, every) for cell in cells}
    out: list[Cell] = []
    for cell in found.values():
        with suppress(Unshared):
            out += [cell] if cell.kind == cells[0].kind else []
    return out


def _entries(cells: list[Cell]) -> tuple[list[Entry], set[int]]:
    """Return the problems pair by pair, so that neighbours share samples, and the cells without problems."""
    left: set[int] = set()
    entries: list[Entry] = []
    for number, cell in enumerate(cells):
        tube, C = (float(getattr(cell.model, name, 0.0)) for name in ("epsilon", "C"))
        try:
            cell.check()
            parts = [(side, *cell.program(side)) for side in cell.sides]
        except Unshared:
            left.add(number)
            continue
        for place, (side, program, unit) in enumerate(parts):
            order = (side.segments, side.positive, cell.fold.number, tube / unit, cell.others, C, number)
            entries.append(Entry(number, place, side, program, unit, order))
    return sorted(entries, key=lambda entry: entry.order), left


def _chained(cells: list[Cell], entries: list[Entry]) -> Ids:
    """Return for each problem the number of the problem whose solution it starts from, or -1.

    That problem is over all rows, or else over the rows of the same fold with a smaller C.
    """
    last: dict[Any, int] = {}
    whole: dict[Any, int] = {}
    out = np.full(len(entries), -1)
    for number, entry in enumerate(entries):
        cell, C = cells[entry.cell], getattr(cells[entry.cell].model, "C", 0.0)
        key = cell.fold.number, entry.side, cell.others
        out[number] = whole.get((entry.side, cell.others, C), last.get(key, -1))
        last[key] = number
        if cell.fold.number < 0:
            whole[entry.side, cell.others, C] = number
    return out


def take(entries: list[Entry], fits: Fits, cells: list[Cell], whole: Whole, twice: bool, sure: bool) -> None:
    """Keep the engine's solutions. A gradient over all samples has the values of samples that a fold leaves out.

    twice : whether a sample has two variables
    sure : whether only gradients with a bound of their errors are of use
    """
    found, rows = fits.found, cells[0].fold.rows
    gaps = np.where(found.solved, found.relative_gaps, 0.0)
    explicit = cells[0].explicit  # else the gradient contains the bias
    good, known = found.good, found.solved & (found.anew | (not sure))
    values = None if found.gradients is None else found.gradients + whole.t
    for number, entry in enumerate(entries):
        own = slice(fits.first[number], fits.first[number + 1])
        beta = fits.beta[own]
        entry.good, entry.gap = bool(good[number]), float(gaps[number])
        entry.half_width, entry.solved = float(found.half_width[number]), bool(found.solved[number])
        entry.beta = entry.unit * (beta.reshape(2, -1).sum(axis=0) if twice else beta)
        entry.intercept = entry.unit * float(found.intercept[number]) + cells[entry.cell].middle
        if values is not None and known[number] and len(beta) == (1 + twice) * rows.size:
            entry.values = np.empty(rows.size)
            entry.values[whole.ids[own]] = entry.unit * values[own] + explicit * entry.intercept


def prove_values(entries: list[Entry], cells: list[Cell], whole: Whole, found: Found) -> None:
    """Bound how far values of classifiers and one-class machines are from those of the optimal functions."""
    rows, augment, explicit = cells[0].fold.rows, cells[0].augment, cells[0].explicit
    g = np.zeros(len(found.beta)) if found.gradients is None else found.gradients.copy()
    rounding, largest = found.of_values
    sizes = np.add.reduceat(np.abs(found.beta), found.first[:-1])
    errors = np.where(found.anew, rate(rounding, largest + augment**2, rows.size) * sizes, np.inf)
    for number in np.flatnonzero(~found.anew).tolist():
        entry, own = entries[number], slice(found.first[number], found.first[number + 1])
        if entry.where is not None and np.isfinite(entry.error):
            values = entry.values[entry.where.own]
            g[own] = (values - explicit * entry.intercept) / entry.unit - whole.t[own]
            errors[number] = (entry.error + _rounding(entry)) / entry.unit
    proven = found.solved & found.convex & np.isfinite(found.gap) & np.isfinite(errors)
    errors = np.where(proven, errors, 0.0)
    confined = whole.confined(found, g, errors, _roots(cells[0]))
    for entry, known, error, width, below, above in zip(entries, proven, errors, *confined, strict=True):
        own = entry.error if entry.where is not None else entry.unit * float(error)
        if known and np.isfinite(own):
            ends = (entry.unit * float(end) for end in (below, above))
            entry.off = Off(entry.unit * float(width), own + _rounding(entry), *ends)


def _rounding(entry: Entry) -> float:
    """Return a bound of the rounding when a problem's values are put together."""
    return VALUE_ROUNDING * (float(np.abs(entry.values).max(initial=0.0)) + abs(entry.intercept) + entry.unit)


def _roots(cell: Cell) -> Vector:
    """Return the roots of k(x, x) + lambda^2 of all distinct samples."""
    rows = cell.fold.rows
    diagonal = cell.kernel.diagonal(Source.of(rows.X, rows.distinct.rows, cell.kernel).sizes) + cell.augment**2
    return np.sqrt(np.maximum(diagonal, 0.0))


def collected(cells: list[Cell], entries: list[Entry], rows: SharedRows, train: bool) -> list[Solved]:
    """Return the solutions with their decision values."""
    own: list[list[Entry]] = [[] for _ in cells]
    for entry in entries:
        own[entry.cell].append(entry)
    roots, out = _roots(cells[0]), list[Solved]()
    for cell, some in zip(cells, own, strict=True):
        fold, doubt = cell.fold, _divide(cell, some)
        test, known = rows.group[fold.test], rows.group[fold.train] if train else rows.group[:0]
        values = np.empty((len(test), len(some))), np.empty((len(known), len(some)))
        for entry in some:
            where = Where(test, known, known) if entry.where is None else entry.where
            for part, places in zip(values, (where.test, where.train), strict=True):
                part[:, entry.place] = entry.values[places]
        good, gap = all(e.good for e in some), max((e.gap for e in some), default=0.0)
        out.append(Solved(good, gap, values[0], values[1] if train else None, doubt, _ends(some, roots, test)))
    return out


def _ends(entries: list[Entry], roots: Vector, test: Ids) -> tuple[Vector, Vector] | None:
    """Return how far the values of some problems may fall and rise at some samples, (n, n_problems) each."""
    offs = [entry.off for entry in entries if entry.off is not None]
    if not offs or len(offs) < len(entries):
        return None
    below, above = zip(*(off.ends(roots[test]) for off in offs), strict=True)
    return np.stack(below, axis=1), np.stack(above, axis=1)


def _divide(cell: Cell, entries: list[Entry]) -> str:
    """Divide the solutions as their machine does; return its warning."""
    widths = np.array([entry.half_width for entry in entries])
    divisors = cell.problem.divisors(widths)
    if divisors is not None:
        for entry, divisor in zip(entries, divisors.tolist(), strict=True):
            entry.beta, entry.intercept = entry.beta / divisor, entry.intercept / divisor
            entry.values = entry.values / divisor
            entry.off = None if entry.off is None else entry.off.times(1.0 / divisor)
    return cell.problem.doubt(widths[[entry.solved for entry in entries]])
