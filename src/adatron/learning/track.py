"""One program of an incremental model, and the path that follows it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Ids, Matrix, Vector
from ..certificates import (
    Certificate,
    bounded,
    error_of_sums,
    half_width,
    intercept,
    prove,
    semidefinite,
)
from ..fitting.fits import Fitted
from ..gram import Gram, Source, View
from ..kernels import Kernel
from ..model.checks import is_vector, meaningless
from ..problems import Dual, Problem
from ..solvers.path import Homotopy, compaction
from ..solvers.results import Status
from ..threads import Pool, allowed_threads
from .store import Store

ROWS_AT_ONCE = 256  # Rows of K that are made at a time.
PROOF_OF_NONE = Certificate(0.0, 0.0, 0.0)  # that of no samples
TERM_ROUNDING = 1e-12  # Fraction of the largest term of a gradient.
# Rows, and entries of K, from which the tiles, on all threads, are faster than NumPy.
TILED_ROWS, TILED_ENTRIES = 32, 2**20


class Track:
    """The solution of one program over samples of a store.

    Parameters
    ----------
    store : the samples
    kernel : the kernel of the samples
    sides : the classes whose labels are 1 and -1, where -1 as the second stands for the rest; None: the store's targets

    Attributes
    ----------
    slots : the samples' slots, None if all are in the program; then their order is the store's
    beta, g : the solution and its gradient, one entry for each sample
    """

    def __init__(self, store: Store, kernel: Kernel, sides: tuple[int, int] | None, n_classes: int) -> None:
        self.store, self.kernel, self.sides = store, kernel, sides
        pair = sides is not None and sides[1] >= 0 and n_classes > 2
        self.slots = np.zeros(0, np.int64) if pair else None
        self.beta, self.g = np.zeros((2, 0))
        self._past: Ids = np.zeros(2, np.int64)  # counts of earlier paths
        self._path: Homotopy | None = None

    @property
    def numbers(self) -> Ids:
        """The slots of the samples."""
        return np.arange(self.store.n) if self.slots is None else self.slots

    def state(self) -> dict[str, Any]:
        """Return the state that a file keeps."""
        parts = zip(("slots", "beta", "g", "counts"), self.backup(), strict=True)
        return {"sides": self.sides, **dict(parts)}

    @classmethod
    def of(cls, store: Store, kernel: Kernel, state: dict[str, Any]) -> Track:
        """Build the track from what ``state`` gave."""
        track = cls(store, kernel, state["sides"], 0)
        track.restore(tuple(state[name] for name in ("slots", "beta", "g", "counts")))
        return track

    def copy(self) -> Track:
        """Return the program at this solution, over the same samples."""
        return Track.of(self.store, self.kernel, self.state())

    def fault(self, sides: tuple[int, int] | None, apart: bool) -> str:
        """Return what is wrong with a program that comes from elsewhere, or nothing.

        sides : its classes
        apart : whether only the samples of these classes are in the program
        """
        if self.sides != sides or (self.slots is not None) != apart:
            return f"a program is not that of the samples of the classes {sides}"
        if self.slots is not None:
            own = np.flatnonzero(np.isin(self.store.y, sides or ()))
            if not is_vector(self.slots, "i") or not np.array_equal(np.sort(self.slots), own):
                return f"slots are not the samples of the classes {sides}"
        for values in (self.beta, self.g):
            if not (is_vector(values, "d") and len(values) == len(self.numbers)):
                return "a program has not a coefficient and a gradient for each of its samples"
            if fault := meaningless(values):
                return f"a coefficient or a gradient of a program {fault}"
        counted = is_vector(self._past, "i") and len(self._past) == 2 and self._past.min() >= 0
        return "" if counted else "a program does not count its steps"

    def mine(self, slots: Ids) -> Ids:
        """Return those of some slots that are in the program."""
        return slots if self.slots is None or self.sides is None else slots[np.isin(self.store.y[slots], self.sides)]

    def labels(self) -> Vector:
        """Return targets of the samples."""
        y = self.store.y if self.slots is None else self.store.y[self.slots]
        return y if self.sides is None else np.where(y == self.sides[0], 1.0, -1.0)

    def weights(self) -> Vector:
        """Return weights of the samples."""
        return self.store.weight if self.slots is None else self.store.weight[self.slots]

    def rows(self, ids: Ids) -> Matrix:
        """Return rows of K over the samples."""
        self.store.clock.check()
        X = self._samples
        if len(ids) < TILED_ROWS or len(ids) * X.shape[0] < TILED_ENTRIES or not self.kernel.compiled:
            return self.kernel(X[ids], X)
        with Pool(allowed_threads(None)) as pool:
            return self._view(pool).rows(ids)

    @property
    def _samples(self) -> Any:
        return self.store.near(slice(None) if self.slots is None else self.slots)

    def missing(self, beta: Vector, sphere: bool = False) -> float:
        """Return by how much the intercept of a solution is less for the rows as they were given."""
        if not len(self.store.center):
            return 0.0
        support = np.flatnonzero(beta)
        source = Source(self.store.X, self.numbers[support], self.kernel, self.store.center)
        return source.missing(beta[support], sphere)

    def _view(self, pool: Pool) -> View:
        X = self._samples
        return View.of(Gram(Source.of(X, np.arange(X.shape[0]), self.kernel), np.float64, [X.shape[0]], pool))

    def dual(self, problem: Problem, gone: Ids | None = None) -> Dual:
        """Return the program; variables in the positions ``gone`` have bounds of 0."""
        weight = self.weights().copy()
        weight[[] if gone is None else gone] = 0.0
        return problem.dual(self.labels(), weight, self.diagonal)

    def diagonal(self) -> Vector:
        """Return k(x, x) of the samples."""
        X = self._samples
        return self.kernel.diagonal(Source.of(X, np.arange(X.shape[0]), self.kernel).sizes)

    def path(self, problem: Problem) -> Homotopy:
        """Return the path, which begins at the solution when it is first needed."""
        if self._path is None:
            self._path = Homotopy(self.rows, self.dual(problem), self.beta, self.g)
        return self._path

    def start(self, dual: Dual) -> None:
        """Begin the path to the solution of a program."""
        self._path = Homotopy(self.rows, dual, self.beta, self.g)

    def begin(self, beta: Vector, g: Vector) -> None:
        """Take a solution, perhaps only up to a tolerance, as the present one."""
        self._past = self.counts
        self.beta, self.g, self._path = beta, g, None

    def moved(self) -> None:
        """Take over the solution that the path has reached."""
        if self._path is not None:
            self.beta, self.g = self._path.beta, self._path.g

    def backup(self) -> tuple[Any, ...]:
        """Return the argument of ``restore``."""
        return self.slots, self.beta.copy(), self.g.copy(), self.counts

    def restore(self, backup: tuple[Any, ...]) -> None:
        """Restore the state at ``backup``."""
        self.slots, self.beta, self.g, self._past = backup
        self._path = None

    def grow(self, new: Ids) -> bool:
        """Number the new samples of a store; return whether some are in the program."""
        mine = self.mine(new)
        if self.slots is not None:
            self.slots = np.concatenate([self.slots, mine])
        return len(mine) > 0

    def places(self, slots: Ids) -> Ids:
        """Return the positions of those slots that are in the program."""
        return slots if self.slots is None else np.flatnonzero(np.isin(self.slots, slots))

    def drop(self, gone: Ids, number: Ids, problem: Problem) -> None:
        """Drop released samples at some positions; ``number`` has the new slots of the others."""
        order = compaction(len(self.beta), gone)
        dual = self.dual(problem, gone).take(order)
        if self._path is None:
            self.beta, self.g = self.beta[order], self.g[order]
        else:
            self._path.drop(order, dual)
            self.moved()
        if self.slots is not None:
            self.slots = number[self.slots[order]]

    @property
    def counts(self) -> Ids:
        """Events, and gradients computed anew, so far."""
        return self._past if self._path is None else self._past + np.array([self._path.n_event, self._path.n_refresh])

    def fitted(self, problem: Problem, n_iter: int) -> Fitted:
        """Return the solution with its certificate."""
        dual = self.dual(problem)
        proof = PROOF_OF_NONE
        if len(dual):
            view, none = self._view(Pool(1)), np.zeros(len(dual))
            with nullcontext() if self.kernel.convex else view.gram.pool:  # known kernels need no threads for bounds
                error = error_of_sums(view, dual, self.beta)
                proof = bounded(dual, self.beta, self.g, none, view.magnitude, extra=error)
                if not self.kernel.convex:  # nothing is known of a function
                    proof = replace(proof, convex=semidefinite(view, np.flatnonzero(self.beta)))
        status = Status.CONVERGED if proof.convex else Status.NOT_CONVEX
        width = self.width(dual, self.beta, self.g)
        b = intercept(dual, self.beta, self.g) if len(dual) else 0.0
        return Fitted(self.numbers, self.beta, b, width, n_iter, status, proof, {})

    def prove(self, dual: Dual, beta: Vector) -> Certificate:
        """Return what a gradient computed anew proves of a solution, with bounds of its errors."""
        if not len(dual):
            return PROOF_OF_NONE
        with Pool(1) as pool:
            return prove(self._view(pool), dual, beta, self.gradient(dual, beta))

    def gradient(self, dual: Dual, beta: Vector) -> Vector:
        """Return the gradient of a solution, computed anew."""
        out, support = -dual.t + dual.lambda2 * beta.sum(), np.flatnonzero(beta)
        for start in range(0, len(support), ROWS_AT_ONCE):
            part = support[start : start + ROWS_AT_ONCE]
            out += beta[part] @ self.rows(part)
        return out

    def width(self, dual: Dual, beta: Vector, g: Vector) -> float:
        """Return ``half_width`` of a problem with nu at a solution; values within the rounding of g's sums become 0."""
        width, support = half_width(dual, beta, g) if any(dual.totals) else 0.0, np.flatnonzero(beta)
        if width == 0.0 or not len(support):
            return width
        sizes = self.kernel.diagonal(Source.of(self._samples, support, self.kernel).sizes)
        return width if abs(width) > TERM_ROUNDING * np.abs(beta[support] * sizes).max() else 0.0
