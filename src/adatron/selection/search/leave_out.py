"""Folds that leave out one sample each, by the exact path from the solution with all samples.

Every solution gets a fresh gradient and a proof. The engine solves the folds for which the proof fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...certificates import intercept, prove
from ...estimators import SVC
from ...estimators.incremental import IncrementalSVC
from ...fitting.fits import Fits
from ...gram import Gram, Points, Source, View
from ...learning.leave_out import Optimum, without
from ...problems import Dual
from ...solvers.results import Found, Status
from ...solvers.start import feasible
from ...threads import Clock, OutOfTime, Pool, allowed_threads
from ...threads.gate import one_blas_thread
from .cells import Cell
from .programs import Entry, Whole
from .rows import Unshared
from .solve import VALUES_SHARE, ProofsWanted, Solved, collected, prove_values, take

PATH_FOLDS = 8  # Folds from which the path is faster than the engine.
FOLDS_TOGETHER = 64  # Folds that are proven at a time.


def suits(cells: list[Cell]) -> bool:
    """Return whether cells of one setting are single samples left out of two classes of an SVC.

    Nothing in the machine may depend on which sample is left out, and no sample may come twice.
    """
    first, rows = cells[0], cells[0].fold.rows
    model = first.model
    if type(model) is not SVC or not first.provable or len(rows.classes) != 2 or rows.weighted:
        return False
    free = model.gamma != "scale" and model.class_weight != "balanced" and np.isfinite(model.C)
    fixed = first.explicit or model.bias == "none" or model.augment != "auto"
    room = 8.0 * rows.size**2 <= VALUES_SHARE * 2.0**20 * float(model.cache_size)
    if not (free and fixed and room and model.solver == "auto") or rows.size < len(rows.codes):
        return False
    folds = {id(cell.fold): cell.fold for cell in cells}.values()
    return len(folds) >= PATH_FOLDS and all(_leaves_one(fold.train, fold.test, rows.size) for fold in folds)


def _leaves_one(train: NDArray[np.int64], test: NDArray[np.int64], n: int) -> bool:
    """Return whether a fold has one test row, and all other rows once for training."""
    counts = np.bincount(np.concatenate([train, test]), minlength=n)
    return len(test) == 1 and bool((counts == 1).all())


def solve(
    cells: list[Cell], proofs: ProofsWanted, n_jobs: int | None, clock: Clock, over: Callable[[], bool]
) -> list[Solved | None]:
    """Return the solutions of cells of one setting and many folds.

    A solution is None if rounding keeps it from the tolerance, if there was no time, or if a fit would refuse it.

    clock : the end of the search
    over : returns whether no further fold may begin
    """
    first, rows = cells[0], cells[0].fold.rows
    model, out = first.model, list[Solved | None]([None] * len(cells))
    distinct = rows.distinct.rows
    try:
        first.check()
        first.program(first.sides[0])
    except Unshared:
        return out
    names = ("C", "degree", "gamma", "coef0", "class_weight", "bias", "kernel")
    settings = {name: getattr(model, name) for name in names}
    try:
        path = IncrementalSVC(**settings, augment=first.augment or 1.0, n_jobs=n_jobs, max_time=clock.left())
        path.fit(rows.X[distinct], rows.classes[rows.of_class])
        with one_blas_thread(), Pool(allowed_threads(n_jobs)) as pool:
            gram = Gram(Source.of(rows.X, distinct, first.kernel), np.float64, [rows.size], pool)
            K = gram.square(Points(gram.source, np.arange(rows.size)), rows.size)
            points = _points(path, cells)
            while some := list(islice(points, FOLDS_TOGETHER)):
                found = _proven([cells[k] for k, _ in some], [one for _, one in some], K, View.of(gram), proofs)
                for (number, _), one in zip(some, found, strict=True):
                    out[number] = one
                if over():
                    break
    except (ArithmeticError, TimeoutError, OutOfTime):  # rounding leaves no way, and the engine goes on; or the end
        pass
    return out


def _points(path: IncrementalSVC, cells: list[Cell]) -> Iterator[tuple[int, tuple[Dual, Vector]]]:
    """Yield the number of each cell, its program, and the solution."""
    rows, (own,) = cells[0].fold.rows, Optimum.of(path.learner)
    number_of = {int(rows.group[cell.fold.test[0]]): number for number, cell in enumerate(cells)}
    beta, decisive = own.beta.copy(), own.deciding()
    for one, number in number_of.items():
        if not decisive[one]:  # it has no coefficient, and no part in the bias
            yield number, (own.lacking(one), beta)
    for one, left in without(own, np.flatnonzero(decisive)):
        if one in number_of:
            yield number_of[one], (left.dual, feasible(left.dual, left.beta))


def _proven(
    cells: list[Cell], points: list[tuple[Dual, Vector]], K: Vector, view: View, proofs: ProofsWanted
) -> list[Solved | None]:
    """Return the solutions of cells with their proofs; None for those that are not good enough."""
    model, n = cells[0].model, len(K)
    entries = [Entry(number, 0, cell.sides[0], None, 1.0, ()) for number, cell in enumerate(cells)]
    whole, found = Whole.of(entries, cells, twice=False), Found(np.full(len(cells), n))
    products = K @ np.stack([beta for _, beta in points], axis=1)
    found.gradients, found.of_values = np.empty(n * len(cells)), (view.gram.rounding, view.gram.magnitude)
    for number, ((dual, beta), product) in enumerate(zip(points, products.T, strict=True)):
        g = product + dual.lambda2 * float(beta.sum()) - dual.t
        proof = prove(view, dual, beta, g)
        good = proof.kkt_violation <= model.tol and proof.relative_gap <= (model.gap_tol or np.inf)
        found.keep(number, beta, 0, Status.CONVERGED if good else Status.STUCK, proof, {})
        found.intercept[number] = intercept(dual, beta, g)
        found.gradients[number * n : (number + 1) * n] = g
    found.anew[:] = True
    take(entries, Fits(found, lambda: whole.ids), cells, whole, twice=False, sure=True)
    if proofs:
        prove_values(entries, cells, whole, found)
    solved = collected(cells, entries, cells[0].fold.rows, train=False)
    return [one if one.good else None for one in solved]
