"""The cells of a search: cells that share are solved in groups, all others one by one as scikit-learn does."""

from __future__ import annotations

import time
import warnings
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing  # pyright: ignore[reportPrivateUsage]

from ...model.readout import Classes
from ...threads import Pool, allowed_threads
from . import leave_out
from .candidates import Candidate, candidate_of, machine_of
from .cells import Cell
from .proving import NEARER, Doubts, warn_of_unproven
from .rows import Fold, SharedRows, Unshared, checking
from .scoring import Scoring, by_labels
from .solve import ProofsWanted, Solved, solve
from .theirs import FitScores, More, clone, plain_cells, split_of, unreached
from .watch import CellCount, SearchWatch, left_to_them

KERNELS_AT_ONCE = 4  # Most kernels that are solved side by side, on a thread and in a part of the memory each.
KERNEL_MATRICES = 4  # Kernel matrices for each of them.
NUMBERS_KEPT = 16  # Numbers that a problem keeps for each of its samples.
PORTION = 0.25 / KERNELS_AT_ONCE  # Fraction of ``cache_size`` for the problems that are solved in one go.
NOT_SOLVED = "{} of {} fits of the search did not converge: their candidates are not 'converged' in the results."


class Evaluation:
    """Evaluates all candidates of a search on all folds."""

    def __init__(self, search: Any, watch: SearchWatch) -> None:
        self.search, self.watch = search, watch
        if search.prove:
            search.unproven_samples_ = []

    def __call__(
        self, base: Any, X: Any, y: Any, candidates: list[Any], splits: list[Any], scorer: Any, routed: Any
    ) -> tuple[list[FitScores], More]:
        """Return scikit-learn's scores of each cell, candidate after candidate, and further columns."""
        run = _Cells(self.search, base, X, y, splits, scorer, routed, self.watch)
        with self.watch.keeping():
            found = [candidate_of(base, number, one) for number, one in enumerate(candidates)]
            shared = [one for one in found if one is not None]
            run.share(shared)
            if self.search.prove:
                run.prove(shared)
        return run.completed(candidates)


class _Cells:
    """The cells of one call.

    done : the scores of each cell (candidate, fold)
    proofs : whether a cell's fit converged, and its largest relative gap
    in_doubt : a cell's rows whose label may be another one at the optimum
    doubts : warnings about solutions
    """

    def __init__(
        self, search: Any, base: Any, X: Any, y: Any, splits: list[Any], scorer: Any, routed: Any, watch: SearchWatch
    ) -> None:
        self.watch = watch
        self.search, self.base, self.X, self.y, self.scorer, self.routed = search, base, X, y, scorer, routed
        every = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
        self.given, self.splits = splits, [(every[np.asarray(a)], every[np.asarray(b)]) for a, b in splits]
        self.done: dict[tuple[int, int], FitScores] = {}
        self.proofs: dict[tuple[int, int], tuple[bool, float]] = {}
        self.weight = next(iter(routed.estimator.fit.values()), None)
        self.in_doubt = Doubts(scorer, search.refit, bool(routed.scorer.score), [test for _, test in self.splits])
        self.scoring = Scoring(X, y, self.splits, scorer, routed.scorer.score, search.error_score)
        self.proving = ProofsWanted.CHEAP if by_labels(scorer) else ProofsWanted.NOTHING
        if search.prove:
            self.proving = ProofsWanted.ALL
        self.doubts: set[str] = set()

    def share(self, candidates: list[Candidate], wanted: set[tuple[int, int]] | None = None) -> None:
        """Solve the cells that can share; ``wanted``: only these, if given."""
        by_rows: dict[tuple[Hashable, int], list[Candidate]] = {}
        for one in candidates:
            for fold in range(len(self.splits)) if one.prefix is not None else (-1,):
                if wanted is None or fold < 0 or (one.number, fold) in wanted:
                    by_rows.setdefault((one.samples, fold), []).append(one)
        for (_, fold), some in by_rows.items():
            if self.watch.over:
                return
            try:
                rows, folds = self._rows(some[0], fold)
            except Unshared:
                continue
            self._groups(rows, folds, some, wanted)

    def _rows(self, one: Candidate, fold: int) -> tuple[SharedRows, list[tuple[int, Any, Any]]]:
        """Return rows and the folds in them: all, or the rows of one fold that the steps of a pipeline have made.

        Raise Unshared if a step fails, or if a fit would refuse the rows.
        """
        model = clone(one.model)
        if one.prefix is None:
            return self._plain_rows(model)
        train, test = self.splits[fold]
        X_train, y_train = split_of(self.base, self.X, self.y, train)
        X_test, y_test = split_of(self.base, self.X, self.y, test, train)
        try:
            steps = clone(one.prefix)
            parts = steps.fit_transform(X_train, y_train), steps.transform(X_test)
        except Exception as error:  # the user's own steps; scikit-learn's own way meets the error again
            raise Unshared from error
        y = None if y_train is None else np.concatenate([np.asarray(y_train), np.asarray(y_test)])
        weight = None if self.weight is None else np.asarray(self.weight)[np.concatenate([train, test])]
        with checking():
            both = _stacked(parts)
        rows = SharedRows.of(model, both, y, weight)
        n = len(train)
        return rows, [(fold, np.arange(n), np.arange(n, n + len(test)))]

    def _plain_rows(self, model: Any) -> tuple[SharedRows, list[tuple[int, Any, Any]]]:
        """Return the rows that folds use, and the folds in them."""
        used = np.unique(np.concatenate([part for split in self.splits for part in split]))
        X, y, weight, place = self.X, self.y, self.weight, np.arange(len(used))
        if len(used) < (X.shape[0] if hasattr(X, "shape") else len(X)):
            place = np.empty(used[-1] + 1, np.int64)
            place[used] = np.arange(len(used))
            X, y, weight = (None if part is None else _safe_indexing(part, used) for part in (X, y, weight))
        rows = SharedRows.of(model, X, y, weight)
        return rows, [(number, place[train], place[test]) for number, (train, test) in enumerate(self.splits)]

    def _groups(
        self, rows: SharedRows, folds: list[tuple[int, Any, Any]], candidates: list[Candidate],
        wanted: set[tuple[int, int]] | None,
    ) -> None:  # fmt: skip
        """Solve cells over the same rows, kernel by kernel."""
        n_jobs = candidates[0].model.n_jobs if self.search.n_jobs is None else self.search.n_jobs
        groups: dict[Hashable, list[Cell]] = {}
        for number, train, test in folds:
            try:
                fold = Fold(rows, number, train, test)
            except Unshared:
                continue
            for one in candidates if wanted is None else [one for one in candidates if (one.number, number) in wanted]:
                try:
                    cell = Cell(one, fold)
                    groups.setdefault(cell.resolved(), []).append(cell)
                except Unshared:
                    continue
        left = [self._leave_out(cells, n_jobs) for cells in groups.values()]
        self._solve([part for cells in left if cells for part in _portions(cells, rows)], rows, n_jobs)

    def _leave_out(self, cells: list[Cell], n_jobs: int | None) -> list[Cell]:
        """Solve cells whose folds leave out one sample each on the exact path; return the cells that are left."""
        if self.search.return_train_score or self.proving is not ProofsWanted.CHEAP:
            return cells
        by_setting: dict[int, list[Cell]] = {}
        for cell in cells:
            by_setting.setdefault(cell.candidate.number, []).append(cell)
        left: list[Cell] = []
        for some in by_setting.values():
            if not leave_out.suits(some):
                left += some
                continue
            found, begun = list[Solved | None]([None] * len(some)), time.perf_counter()
            if not self.watch.over:
                with self.watch.keeping(), left_to_them():
                    found = leave_out.solve(some, self.proving, n_jobs, self.watch.clock, lambda: self.watch.over)
            seconds = (time.perf_counter() - begun) / len(some)
            for cell, one in zip(some, found, strict=True):
                if one is None:
                    left.append(cell)
                else:
                    self._keep(cell, one, seconds)
            self.watch.advance(len(some) - found.count(None))
        return left

    def _solve(self, parts: list[list[Cell]], rows: SharedRows, n_jobs: int | None) -> None:
        """Solve parts side by side, each on one thread, if their matrices are small; else one after the other."""
        if not parts:
            return
        train = self.search.return_train_score
        least = min(float(part[0].model.cache_size) for part in parts) * 2.0**20
        concurrent = len(parts) > 1 and KERNELS_AT_ONCE * KERNEL_MATRICES * 8.0 * rows.size**2 <= least
        found: list[tuple[list[Solved | None], float]] = [([], 0.0)] * len(parts)

        def task(number: int) -> None:
            if self.watch.over:
                return
            begun, cells = time.perf_counter(), parts[number]
            threads, share, around = (1, 1.0 / KERNELS_AT_ONCE, pool) if concurrent else (n_jobs, 1.0, None)
            seen = CellCount(self.watch, len(cells), sum(len(cell.sides) for cell in cells))
            with pool.turn(), left_to_them():
                one = solve(cells, train, self.proving, threads, share, around, self.watch.clock, seen.callback)
                found[number] = one, (time.perf_counter() - begun) / len(one)
                seen.end()

        with self.watch.keeping(), Pool(allowed_threads(n_jobs) if concurrent else 1) as pool:
            pool.run(task, len(parts), KERNELS_AT_ONCE)
        for cells, (all_solved, seconds) in zip(parts, found, strict=True):
            for cell, one in zip(cells, all_solved, strict=False):
                known = (cell.candidate.number, cell.fold.number) in self.done
                if one is None or (known and one.ends is None):
                    continue  # what was found before counts
                if one.good or not (known or self.watch.clock.late):
                    self._keep(cell, one, seconds)

    def _keep(self, cell: Cell, one: Solved, seconds: float) -> None:
        """Keep the scores of a cell, and what is proven about it."""
        key = cell.candidate.number, cell.fold.number
        self.done[key], self.proofs[key] = self.scoring.of(cell, one, seconds), (one.good, one.gap)
        self.doubts |= {one.doubt} - {""}
        if one.ends is not None and one.good:
            self._doubt(key, cell, one, one.ends)

    def prove(self, candidates: list[Candidate]) -> None:
        """Solve unproven cells of all candidates that may be best more closely, as long as that helps."""
        for gap in NEARER:
            wanted = self.in_doubt.open_cells()
            if self.watch.over or not wanted:
                return
            numbers = {number for number, _ in wanted}
            some = [one for one in candidates if one.number in numbers]
            coarser = [one for one in some if one.model.gap_tol is None or one.model.gap_tol > gap]
            self.share([replace(one, model=clone(one.model).set_params(gap_tol=gap)) for one in coarser], wanted)

    def _doubt(self, key: tuple[int, int], cell: Cell, found: Solved, ends: tuple[Any, Any]) -> None:
        """Keep the rows of a cell whose labels are not proven, and the number of right labels among the others."""
        readout = cell.readout
        if isinstance(readout, Classes) and readout.each and cell.problem.divisors(np.ones(1)) is not None:
            return  # the margins that the values were divided by are not confined
        certain = readout.within(found.test, *ends)
        truth = self.scoring.parts(cell.fold.number)[0].labels
        right = None
        if truth is not None:
            right = int(np.count_nonzero(certain & (readout.predictions(found.test) == truth)))
        self.in_doubt.keep(key, self.splits[cell.fold.number][1][~certain], right)

    def completed(self, candidates: list[Any]) -> tuple[list[FitScores], More]:
        """Fit all cells that are left in scikit-learn's own way; return all cells, and the columns on convergence."""
        cells = [(number, fold) for number in range(len(candidates)) for fold in range(len(self.splits))]
        left = [key for key in cells if key not in self.done]
        bad = sum(not good for good, _ in self.proofs.values())
        common = self.base, self.X, self.y, candidates, self.given, self.scorer, self.routed
        with self.watch.keeping():
            for key, one in plain_cells(self.search, *common, left, self.watch, keep=True) if left else ():
                self.proofs[key] = _proof(one.pop("estimator"), one["fit_error"])
                self.done[key] = one
        for key in set(left) - set(self.done):
            self.proofs[key], self.done[key] = (False, np.nan), unreached()
        for doubt in sorted(self.doubts):
            warnings.warn(doubt, ConvergenceWarning, stacklevel=2)
        if bad:
            warnings.warn(NOT_SOLVED.format(bad, len(cells)), ConvergenceWarning, stacklevel=2)
        proofs = [[self.proofs[number, fold] for fold in range(len(self.splits))] for number in range(len(candidates))]
        more: More = {
            "converged": [all(good for good, _ in own) for own in proofs],
            "max_duality_gap": [float(np.max([gap for _, gap in own])) for own in proofs],
        }
        unproven = [self.in_doubt.of(number) for number in range(len(candidates))]
        more["proven"] = [rows is not None and not len(rows) for rows in unproven]
        if self.search.prove:
            self.search.unproven_samples_ += unproven  # a range that is widened is evaluated in several calls
            if not self.watch.over:
                warn_of_unproven(unproven, candidates)
        return [self.done[key] for key in cells], more


def _portions(cells: list[Cell], rows: SharedRows) -> list[list[Cell]]:
    """Divide cells into parts whose problems fit into the memory that the user allows."""
    most = PORTION * 2.0**20 * float(cells[0].model.cache_size)
    each = 8.0 * NUMBERS_KEPT * sum(len(rows.ids(list(side.segments))) for side in cells[0].sides)
    step = max(1, int(most / each))
    return [cells[a : a + step] for a in range(0, len(cells), step)]


def _proof(estimator: Any, error: Any) -> tuple[bool, float]:
    """Return whether a single fit converged, and its largest gap."""
    model = machine_of(estimator)
    if error is not None or model is None or not hasattr(model, "duality_gap_"):
        return False, np.nan
    return not model.fit_status_, float(np.max(model.duality_gap_))


def _stacked(parts: tuple[Any, Any]) -> Any:
    """Return the rows of two parts."""
    if sparse.issparse(parts[0]):
        return sparse.vstack([sparse.csr_matrix(part) for part in parts], format="csr")
    return np.concatenate([np.asarray(part) for part in parts])
