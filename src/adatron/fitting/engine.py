"""From samples to solved problems: everything of a fit that knows no scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..gram import SMALL, Gram, Plan, Source, plan
from ..gram.shared import bytes_shared, readable
from ..gram.symmetry import refuse_asymmetric
from ..kernels import Kernel
from ..problems import Dual
from ..solvers.base import Options, Solver
from ..solvers.blocks.block import Block
from ..solvers.found import Found
from ..solvers.run import Callback, solve_all
from ..solvers.table import choose
from ..solvers.tasks import State, Tasks
from ..solvers.whole.many import suits
from ..threads import Clock, Pool, allowed_threads
from .fits import Fits
from .problems import Problems, ranges
from .samples import Samples

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]
MANY, FEW = 96, 0.125  # features, and the part of them that is not 0, from and up to which CSR rows are faster
LARGEST, WORK = 1e8, 1e9  # multiply-adds of one Gram matrix, and of all, below which threads cost more than they give
BUNDLED = 3e8  # the same of all where problems are solved in bundles
BLURRED = 0.1  # part of the tolerance that errors of kernel values in double precision may be of
LAZY = 64  # problems, from which none is made before it is needed
SEVERAL = 8  # problems over all samples, from which they share one matrix in double precision
AGAIN = 1.6  # times that each given value is asked for, from which a copy class by class is faster


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


class _Programs:
    """The programs of the problems over the samples, and what a plan needs to know of them.

    ids : the samples of a problem
    sizes : (n,) variables of each
    open : (n,) whether there is anything to solve
    lazy : whether a program is made each time it is asked for
    typical : a program that has equalities if any has
    """

    def __init__(self, problems: Problems, samples: Samples) -> None:
        lengths, some = samples.sizes, list(problems) if len(problems) < LAZY or problems.joined is None else []
        self.copies, self.lazy = some[0].copies if len(problems) == 1 else 1, not some
        ends = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        self.problems, self._starts, self._ends = problems, ends[:-1], ends[1:]
        if len(problems) == 1:
            self.sizes = np.array([self.copies * int(ends[-1])])
        else:
            self.sizes = np.add.reduceat(lengths[problems.groups], problems.first[:-1])
        if not self.lazy:
            duals = [problem.program(self.ids(range(i, i + 1))) for i, problem in enumerate(some)]
            self.dual: Callable[[int], Dual] = duals.__getitem__
            self.open = np.array([any(d.totals) or d.reach[0] < 0.0 < d.reach[1] for d in duals])
            self.typical = max(duals, key=lambda dual: len(dual.totals))
            self.bias = np.array([float(d.t[0]) if len(d) else 0.0 for d in duals])  # where nothing is open
        else:
            self.bias = problems.sides()
            self.open = (self.bias == 0.0) & (self.sizes > 0)
            self.dual = lambda number: problems[number].program(self.ids(range(number, number + 1)))
            self.typical = self.dual(int(np.argmax(self.open)))

    @property
    def most(self) -> float:
        """What coefficients of the largest program add up to at most, or about; 0 if nothing bounds them."""
        most = float(self.sizes.max()) * max(-self.typical.reach[0], self.typical.reach[1])
        return most if most < np.inf else 0.0

    def ids(self, some: range) -> Ids:
        """The samples of some problems, one problem after the other."""
        if len(self.problems) == 1:
            return np.arange(self._ends[-1])
        groups = self.problems.groups[self.problems.first[some.start] : self.problems.first[some.stop]]
        return ranges(self._starts[groups], self._ends[groups])

    def all_ids(self) -> Ids:
        """Those of all problems."""
        return self.ids(range(len(self.problems)))

    def joined(self, some: range) -> Dual:
        """The programs of some problems as one."""
        assert self.problems.joined is not None  # noqa: S101 (for the type checker)
        return self.problems.joined(some, self.ids(some))

    @property
    def everywhere(self) -> bool:
        """Whether every problem is about all samples in the same order."""
        m, problems = len(self._starts), self.problems
        whole = len(problems) == 1 or len(problems.groups) == m * len(problems)
        return whole and (len(problems) == 1 or bool((problems.groups.reshape(-1, m) == np.arange(m)).all()))

    def between(self) -> float:
        """Kernel values between two segments that all problems ask for."""
        lengths = (self._ends - self._starts).astype(np.float64)
        return float(np.sum(self.sizes.astype(np.float64) ** 2) - np.sum(lengths[self.problems.groups] ** 2))


def fit(
    X: Any,
    samples: Samples,
    problems: Problems,
    settings: Settings,
    start: Callable[[int], Vector] | None = None,
) -> Fits:
    """Solve all problems over one Gram matrix.

    ``start``: for the problem of a number where to start, a coefficient for each of *all* distinct samples.
    """
    settings = replace(settings, kernel=settings.clock.limited(settings.kernel))
    n, programs = len(samples.rows), _Programs(problems, samples)
    solver = choose(settings.solver, programs.typical)
    source = _source(X, samples.rows, settings.kernel, programs.sizes.max() <= SMALL)
    if source.columns is not None:
        off = refuse_asymmetric(X, "The kernel matrix K that was given as X", settings.n_jobs)
        source = replace(source, asymmetry=off)
    source = source.cautious(programs.most, BLURRED * settings.tol)
    alone, everywhere = len(problems) == 1, programs.everywhere
    blocks = isinstance(solver, Block)
    matrix = blocks and everywhere and not alone and _matrix_fits(n, programs, settings)
    small = matrix or programs.sizes.max() <= SMALL or not settings.kernel.compiled
    dtype = _tile_type(source, settings, small)
    p, shared, whole = _planned(source, dtype, samples, programs, settings, blocks, matrix)
    work = [n * n] if matrix else programs.sizes.astype(np.float64) ** 2
    cost, least = settings.kernel.cost(source.features), BUNDLED if shared else WORK
    light = (np.max(work) * cost < LARGEST and np.sum(work) * cost < least) or settings.kernel.called
    with Pool(1 if light else allowed_threads(settings.n_jobs), settings.clock.limit) as pool:
        gram = Gram(source, dtype, [n] if everywhere else samples.sizes.tolist(), pool, p.slots, whole, shared)
        groups, first = problems.groups, problems.first
        if everywhere:
            first = programs.copies * np.arange(len(problems) + 1)
            groups = np.zeros(first[-1], np.int64)
        state = None if start is None else lambda number: State(start(number)[programs.ids(range(number, number + 1))])
        joined = programs.joined if programs.lazy else None
        tasks = Tasks(gram, groups, first, programs.dual, programs.open, state, joined)
        found = _solve(tasks, solver, settings, pool, p)
    found.intercept[~programs.open] = programs.bias[~programs.open]
    return Fits(found, programs.all_ids, programs.copies)


def _matrix_fits(n: int, programs: _Programs, settings: Settings) -> bool:
    """Whether problems over all samples share one matrix in double precision."""
    suited = settings.precision != "single" and suits(programs.typical, np.float64)
    return suited and (n <= SMALL or len(programs.problems) >= SEVERAL) and 4 * 8.0 * n * n <= settings.cache_bytes


def _planned(
    source: Source,
    dtype: Any,
    samples: Samples,
    programs: _Programs,
    settings: Settings,
    blocks: bool,
    matrix: bool,
) -> tuple[Plan, bool, bool]:
    """Sizes for a fit, whether its problems, each one block, share what is within their segments; whether K is held.

    ``matrix``: all of them share the matrix of all samples.
    """
    n, lengths, memory = len(samples.rows), programs.sizes, settings.cache_bytes
    compiled, given = settings.kernel.compiled, source.columns is not None
    cost = settings.kernel.cost(source.features) if compiled else 0.0
    sized = partial(plan, n, lengths, cost, np.dtype(dtype).itemsize, blocks=blocks)
    room = n <= 2 * SMALL and 2 * 8 * n * n <= memory
    if matrix:
        return sized(memory - 8.0 * n * n), True, settings.kernel.called and room
    largest = int(lengths.max())
    again = not given or float(np.sum(lengths.astype(np.float64) ** 2)) > AGAIN * n * n
    if blocks and len(lengths) > 1 and suits(programs.typical, dtype):
        within = bytes_shared(source, samples.sizes.tolist(), dtype)
        whole = not compiled and (not given or not readable(source) or (again and room))
        once = 2 * largest < n or programs.between() <= n * n  # or values are made again for it
        fits = (room or not whole) and (once or not compiled) and 4 * within <= memory
        if fits and largest <= (p := sized(memory - within)).whole:
            return p, True, whole
    small = largest <= SMALL or not compiled
    return sized(memory), False, small and again and room


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


def _solve(tasks: Tasks, solver: Solver, settings: Settings, pool: Pool, p: Plan) -> Found:
    """Solutions of the tasks but for those whose variables must be 0 or are all on one side of it."""
    most = settings.max_iter
    if most == -1:
        most = solver.most(int(tasks.sizes[tasks.open].max(initial=0)))
    chosen = settings.max_iter != -1
    sizes = p.block, p.whole, p.factor
    options = Options(settings.tol, settings.gap_tol, most, chosen, settings.clock.deadline, *sizes, settings.sized)
    return solve_all(tasks, solver, options, pool, p.concurrent, settings.callback)
