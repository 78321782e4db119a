"""From samples to solved binary problems: everything of a fit that knows no scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gram import SMALL, Gram, Plan, Pool, Source, allowed_threads, plan
from ..kernels import Kernel
from ..problems import Bias, csvc, intercept
from ..solvers.base import Options, Solution
from ..solvers.run import Callback, Task, solve_all
from ..solvers.table import choose
from .samples import Samples

DOUBT = 0.02  # proven relative error of a float32 kernel value beyond which the tiles are float64
WORK = 1e9  # multiply-adds of all Gram matrices below which threads cost more than they give


@dataclass(frozen=True)
class Binary:
    """One problem of a multi-class fit: the classes (segments) with label 1 and with label -1."""

    positive: list[int]
    negative: list[int]

    @property
    def classes(self) -> list[int]:
        return sorted(self.positive + self.negative)


def binary_problems(n_classes: int, multi_class: str) -> list[Binary]:
    """One against one in scikit-learn's order (the first class is positive), or one against the rest.

    Of two classes the second one is positive.
    """
    if n_classes == 2:
        return [Binary([1], [0])]
    if multi_class == "ovo":
        return [Binary([i], [j]) for i, j in combinations(range(n_classes), 2)]
    return [Binary([i], [j for j in range(n_classes) if j != i]) for i in range(n_classes)]


@dataclass(frozen=True)
class Settings:
    """What a fit needs to know besides the data."""

    C: float
    kernel: Kernel
    bias: Bias
    augment: float
    solver: str
    precision: str
    cache_bytes: float
    n_jobs: int | None
    tol: float
    gap_tol: float | None
    max_iter: int
    max_time: float | None
    callback: Callback | None


@dataclass(frozen=True)
class Fitted:
    """A solved binary problem: coefficients of its distinct samples, numbered in the whole training set."""

    ids: NDArray[np.int64]
    solution: Solution | None  # None: one of the two sides is empty
    intercept: float


def fit(X: Any, samples: Samples, binaries: list[Binary], settings: Settings) -> list[Fitted]:
    """Solve all binary problems over one Gram matrix."""
    n = len(samples.rows)
    starts = np.concatenate([[0], np.cumsum(samples.sizes)])
    source = Source.of(X, samples.rows, settings.kernel)
    largest = max(int(sum(samples.sizes[g] for g in b.classes)) for b in binaries)
    cost = settings.kernel.cost(source.features)
    small = largest <= SMALL or not settings.kernel.compiled
    light = len(binaries) * largest**2 * cost < WORK or not settings.kernel.compiled
    threads = 1 if light else allowed_threads(settings.n_jobs)
    segments = [[g] for g in range(len(samples.sizes))] if len(binaries) > 1 else [[0, 1]]
    with Pool(threads) as pool:
        dtype = _tile_type(source, settings, small)
        sizes = [int(sum(samples.sizes[g] for g in groups)) for groups in segments]
        p = plan(n, largest, len(binaries), cost, np.dtype(dtype).itemsize, settings.cache_bytes)
        whole = small and n <= 2 * SMALL and 2 * 8 * n * n <= settings.cache_bytes and settings.kernel.compiled
        gram = Gram(source, dtype, sizes, pool, p.slots, whole)
        tasks, ids = [], []
        for binary in binaries:
            groups = binary.classes if len(binaries) > 1 else [0]
            ids.append(np.concatenate([np.arange(starts[g], starts[g + 1]) for g in binary.classes]))
            tasks.append(_task(gram, groups, binary, samples, ids[-1], settings))
        solved = _solve(tasks, settings, pool, p)
    return [_fitted(i, t, s) for i, t, s in zip(ids, tasks, solved, strict=True)]


def _tile_type(source: Source, settings: Settings, small: bool) -> Any:
    """float32 where its error is proven small; float64 for small problems, for values given in float64, on request."""
    if settings.precision == "double" or small:
        return np.float64
    if source.columns is not None:
        return source.X.dtype
    if settings.precision == "single":
        return np.float32
    bound = settings.kernel.error_bound(source.largest, source.terms, 2.0**-24)
    return np.float32 if bound <= DOUBT * settings.kernel.magnitude(source.largest) else np.float64


def _task(
    gram: Gram, groups: list[int], binary: Binary, samples: Samples, ids: NDArray[np.int64], settings: Settings
) -> Task:
    y = np.concatenate([np.full(samples.sizes[g], 1.0 if g in binary.positive else -1.0) for g in binary.classes])
    return Task(gram.restrict(groups), csvc(y, settings.C * samples.weight[ids], settings.bias, settings.augment))


def _solve(tasks: list[Task], settings: Settings, pool: Pool, p: Plan) -> list[Solution | None]:
    """Solutions of the tasks that have both signs."""
    two_sided = [t for t in tasks if (t.dual.t > 0).any() and (t.dual.t < 0).any()]
    deadline = np.inf if settings.max_time is None else monotonic() + settings.max_time
    most = settings.max_iter
    if most == -1:
        most = max(20_000_000, 2000 * max(len(t.dual) for t in tasks))
    options = Options(settings.tol, settings.gap_tol, most, deadline, p.block, p.factor)
    solutions = iter(solve_all(two_sided, choose(settings.solver), options, pool, p.concurrent, settings.callback))
    return [next(solutions) if any(t is s for s in two_sided) else None for t in tasks]


def _fitted(ids: NDArray[np.int64], task: Task, solution: Solution | None) -> Fitted:
    if solution is None:
        return Fitted(ids, None, float(task.dual.t[0]) if len(task.dual) else 0.0)
    return Fitted(ids, solution, intercept(task.dual, solution.beta, solution.g))
