"""From samples to solved problems: everything of a fit that knows no scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..certificates import intercept
from ..gram import SMALL, Clock, Gram, Plan, Pool, Source, allowed_threads, plan
from ..gram.shared import bytes_shared, readable
from ..gram.symmetry import refuse_asymmetric
from ..kernels import Kernel
from ..problems import Dual
from ..solvers.base import Options, Solution, Solver, State, Task
from ..solvers.block import Block
from ..solvers.run import Callback, solve_all
from ..solvers.table import choose
from ..solvers.together import suits
from ..solvers.units import width_of
from .samples import Samples

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]
MANY, FEW = 96, 0.125  # features, and the part of them that is not 0, from and up to which CSR rows are faster
LARGEST, WORK = 1e8, 1e9  # multiply-adds of one Gram matrix, and of all, below which threads cost more than they give
BUNDLED = 3e8  # the same of all where problems are solved in bundles
BLURRED = 0.1  # part of the tolerance that errors of kernel values in double precision may be of
AGAIN = 1.6  # times that each given value is asked for, from which a copy class by class is faster


@dataclass(frozen=True)
class Problem:
    """One program of a fit: the segments of the samples (their classes) it is about, and the program of these samples.

    ``copies``: variables that a sample has; the program's are all first ones, then all second ones.
    """

    segments: list[int]
    program: Callable[[Ids], Dual]
    copies: int = 1


@dataclass(frozen=True)
class Settings:
    """What a fit needs to know besides the data.

    ``sized``: targets, or what coefficients sum up to, may be of any size, so each program is solved in its own unit.
    """

    kernel: Kernel
    solver: str | Solver
    precision: str
    cache_bytes: float
    n_jobs: int | None
    tol: float
    gap_tol: float | None
    max_iter: int
    clock: Clock
    callback: Callback | None
    sized: bool = False


@dataclass(frozen=True)
class Fitted:
    """A solved problem.

    ids : its distinct samples, numbered in the whole training set
    solution : None if one of the two sides is empty
    beta : coefficient of each of them
    half_width : see ``certificates.half_width``; 0 in problems without nu
    """

    ids: Ids
    solution: Solution | None
    beta: NDArray[np.float64]
    intercept: float
    half_width: float = 0.0


def fit(
    X: Any, samples: Samples, problems: list[Problem], settings: Settings, starts: list[Vector] | None = None
) -> list[Fitted]:
    """Solve all problems over one Gram matrix.

    ``starts``: for each problem where to start, a coefficient for each of *all* distinct samples.
    """
    settings = replace(settings, kernel=settings.clock.limited(settings.kernel))
    n = len(samples.rows)
    ends = list(accumulate(samples.sizes.tolist(), initial=0))
    ids = [np.concatenate([np.arange(ends[s], ends[s + 1]) for s in problem.segments]) for problem in problems]
    duals = [problem.program(own) for problem, own in zip(problems, ids, strict=True)]
    solver = choose(settings.solver, max(duals, key=lambda dual: len(dual.totals)))
    largest = max(map(len, duals))
    source = _source(X, samples.rows, settings.kernel, largest <= SMALL)
    if source.columns is not None:
        off = refuse_asymmetric(X, "The kernel matrix K that was given as X", settings.n_jobs)
        source = replace(source, asymmetry=off)
    source = source.cautious(max(map(_most, duals)), BLURRED * settings.tol)
    cost = settings.kernel.cost(source.features)
    small = largest <= SMALL or not settings.kernel.compiled
    blocks = isinstance(solver, Block)
    dtype = _tile_type(source, settings, small)
    p, shared, whole = _planned(source, dtype, samples, problems, duals, settings, blocks)
    work = largest**2 * cost
    least = BUNDLED if shared else WORK
    light = (work < LARGEST and len(problems) * work < least) or settings.kernel.called
    with Pool(1 if light else allowed_threads(settings.n_jobs), settings.clock.limit) as pool:
        sizes = samples.sizes.tolist() if len(problems) > 1 else [n]
        gram = Gram(source, dtype, sizes, pool, p.slots, whole, shared)
        groups = [problem.segments if len(problems) > 1 else [0] for problem in problems]
        views = [gram.restrict(some * problem.copies) for some, problem in zip(groups, problems, strict=True)]
        states = (
            [None] * len(ids) if starts is None else [State(beta[own]) for beta, own in zip(starts, ids, strict=True)]
        )
        tasks = [Task(*parts) for parts in zip(views, duals, states, strict=True)]
        solved = _solve(tasks, solver, settings, pool, p)
    return [_fitted(i, d, s) for i, d, s in zip(ids, duals, solved, strict=True)]


def _most(dual: Dual) -> float:
    """What the sizes of the coefficients can add up to, at most; 0 where nothing bounds them."""
    most = len(dual) * max(-dual.reach[0], dual.reach[1])
    return most if most < np.inf else 0.0


def _planned(
    source: Source,
    dtype: Any,
    samples: Samples,
    problems: list[Problem],
    duals: list[Dual],
    settings: Settings,
    blocks: bool,
) -> tuple[Plan, bool, bool]:
    """Sizes for a fit, whether its problems, each one block, share what is within their segments; whether K is held."""
    n, lengths, memory = len(samples.rows), [len(dual) for dual in duals], settings.cache_bytes
    compiled, given = settings.kernel.compiled, source.columns is not None
    cost = settings.kernel.cost(source.features) if compiled else 0.0
    sized = partial(plan, n, lengths, cost, np.dtype(dtype).itemsize, blocks=blocks)
    room = n <= 2 * SMALL and 2 * 8 * n * n <= memory
    again = not given or sum(size * size for size in lengths) > AGAIN * n * n
    if blocks and len(problems) > 1 and suits(duals[0], dtype):
        sizes = samples.sizes.tolist()
        within = bytes_shared(source, sizes, dtype)
        whole = not compiled and (not given or not readable(source) or (again and room))
        once = 2 * max(lengths) < n or _between(sizes, problems) <= n * n  # or values are made again for it
        fits = (room or not whole) and (once or not compiled) and 4 * within <= memory
        if fits and max(lengths) <= (p := sized(memory - within)).whole:
            return p, True, whole
    small = max(lengths) <= SMALL or not compiled
    return sized(memory), False, small and again and room


def _between(sizes: list[int], problems: list[Problem]) -> float:
    """Kernel values between two segments that all problems ask for."""
    own = [[sizes[s] for s in problem.segments] for problem in problems]
    return float(sum(sum(some) ** 2 - sum(n * n for n in some) for some in own))


def _source(X: Any, rows: Ids, kernel: Kernel, small: bool) -> Source:
    """The rows; dense ones that are mostly zeros as CSR rows, whose products cost less, if float32 is enough for them.

    CSR rows are not centred: a few large features that hardly vary make float32 useless there.
    """
    dense = Source.of(X, rows, kernel)
    if small or sparse.issparse(X) or X.shape[1] < MANY or any(leaf.product != "dot" for leaf in kernel.leaves()):
        return dense
    some = X[:: -(-len(X) // 1000)]
    if np.count_nonzero(some) > FEW * some.size or np.count_nonzero(X) > FEW * X.size:
        return dense
    lean = Source.of(sparse.csr_array(X), rows, kernel)
    return lean if lean.suits_single(lean.largest) else dense


def _tile_type(source: Source, settings: Settings, small: bool) -> Any:
    """float32 where its error is proven small; float64 for small problems, without tiles, on request."""
    if settings.precision == "double" or small:
        return np.float64
    asked = settings.precision == "single"
    if source.kernel.plain and not asked and source.uneven:
        return np.float64
    return np.float32 if source.suits_single(source.largest, asked) else np.float64


def _solve(tasks: list[Task], solver: Solver, settings: Settings, pool: Pool, p: Plan) -> list[Solution | None]:
    """Solutions of the tasks but for those whose variables must be 0 or are all on one side of it."""
    is_open = [any(t.dual.totals) or t.dual.reach[0] < 0.0 < t.dual.reach[1] for t in tasks]
    open_ones = [task for task, one in zip(tasks, is_open, strict=True) if one]
    most = settings.max_iter
    if most == -1:
        most = solver.most(max(len(t.dual) for t in tasks))
    chosen = settings.max_iter != -1
    sizes = p.block, p.whole, p.factor
    options = Options(settings.tol, settings.gap_tol, most, chosen, settings.clock.deadline, *sizes, settings.sized)
    solutions = iter(solve_all(open_ones, solver, options, pool, p.concurrent, settings.callback))
    return [next(solutions) if one else None for one in is_open]


def _fitted(ids: Ids, dual: Dual, solution: Solution | None) -> Fitted:
    if solution is None:
        return Fitted(ids, None, np.zeros(len(ids)), float(dual.t[0]) if len(dual) else 0.0)
    beta = solution.beta if len(dual) == len(ids) else solution.beta.reshape(-1, len(ids)).sum(axis=0)
    return Fitted(ids, solution, beta, intercept(dual, solution.beta, solution.g), width_of(dual, solution))
