"""From programs to their solutions over one kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Ids, Vector, is_sparse
from ..devices import Device, enough_memory, unsuited
from ..devices.rows import DeviceRows, OnDevice
from ..gram import Gram, Source, View
from ..gram.elsewhere import Elsewhere
from ..gram.errors import refuse_asymmetric
from ..kernels import Kernel
from ..problems import Dual
from ..solvers.base import Options, Solver, Way
from ..solvers.plan import SMALL
from ..solvers.results import Found
from ..solvers.route import Route, Sizes, choose_route
from ..solvers.run import Callback, solve_all, solve_chains, widest
from ..solvers.table import choose
from ..solvers.tasks import Tasks
from ..threads import Clock, Pool, allowed_threads
from .fits import Fits
from .programs import Programs, ranges
from .samples import Samples

LEAN_FEATURES, LEAN_DENSITY = 96, 0.125  # Fewest features, and largest density, for which CSR rows are faster.
BLUR_ALLOWED = 0.1  # Largest fraction of the tolerance for errors of kernel values in double precision.
LAZY = 64  # Number of problems from which each is made only when it is needed.


@dataclass(frozen=True)
class Settings:
    """The settings that a fit needs besides the data.

    ``sized``: targets, or the sums of coefficients, may be of any size, so each program is solved in its own unit.
    ``gap_requested``: whether a fit that meets ``tol`` has failed if its gap is larger than ``gap_tol``.
    ``share``: the fraction of the time left that solvers may take.
    ``device``: where to solve the problems; ``device_X``: X as a tensor, if it is on that device already.
    ``judge``: warns of fits that did not converge, see ``estimators.base.convergence``.
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
    gap_requested: bool = True
    share: float = 1.0
    device: Device | None = None
    device_X: Any = None
    judge: Callable[..., None] = lambda *_, **__: None


#: A kernel matrix and what makes its views, by what the matrix depends on besides the samples and the settings.
SharedGram = dict[Any, tuple[Gram, Callable[[Gram, list[int]], View]]]


class _Work:
    """``Programs`` over the given samples: the programs, their sizes, and which of them are open.

    ids : the samples of a program
    sizes : (n,) variables of each
    open : (n,) whether there is anything to solve
    lazy : whether a program is made each time it is asked for
    typical : a program that has equalities if any has
    """

    def __init__(self, programs: Programs, samples: Samples) -> None:
        n, lengths = len(programs), samples.sizes
        some = list(programs) if n < LAZY or programs.joined is None else []
        self.copies, self.lazy = some[0].copies if n == 1 else 1, not some
        ends = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        self.programs, self._starts, self._ends = programs, ends[:-1], ends[1:]
        if n == 1:
            self.sizes = np.array([self.copies * int(ends[-1])])
        else:
            self.sizes = np.add.reduceat(lengths[programs.groups], programs.first[:-1])
        if not self.lazy:
            duals = [one.dual(self.ids(range(i, i + 1))) for i, one in enumerate(some)]
            self.dual: Callable[[int], Dual] = duals.__getitem__
            self.open = np.array([any(d.totals) or d.reach[0] < 0.0 < d.reach[1] for d in duals])
            self.typical = duals[0] if n == 1 else max(duals, key=lambda dual: len(dual.totals))
        else:
            self.open = (programs.sides() == 0.0) & (self.sizes > 0)
            self.dual = lambda number: programs[number].dual(self.ids(range(number, number + 1)))
            self.typical = self.dual(int(np.argmax(self.open)))

    def close(self, intercepts: Vector) -> None:
        """Set the biases of programs with nothing to solve: all of their samples are on one side."""
        if self.lazy:
            np.copyto(intercepts, self.programs.sides(), where=~self.open)
        else:
            for number in np.flatnonzero(~self.open).tolist():
                dual = self.dual(number)
                intercepts[number] = float(dual.t[0]) if len(dual) else 0.0

    @property
    def most(self) -> float:
        """About the largest sum of the sizes of coefficients in the largest program; 0 if nothing bounds it."""
        most = float(self.sizes.max()) * max(-self.typical.reach[0], self.typical.reach[1])
        return most if most < np.inf else 0.0

    def ids(self, some: range) -> Ids:
        """Return the samples of some problems, one problem after the other."""
        if len(self.programs) == 1:
            return np.arange(self._ends[-1])
        groups = self.programs.groups[self.programs.first[some.start] : self.programs.first[some.stop]]
        return ranges(self._starts[groups], self._ends[groups])

    def all_ids(self) -> Ids:
        """Return the samples of all problems."""
        return self.ids(range(len(self.programs)))

    def joined(self, some: range) -> Dual:
        """Return the programs of some problems as one."""
        assert self.programs.joined is not None  # noqa: S101 (for the type checker)
        return self.programs.joined(some, self.ids(some))

    def _everywhere(self, chained: bool) -> bool:
        """Return whether every problem has all samples in the same order; no chain with nu shares one matrix so."""
        if chained and not (self.typical.row is None and self.typical.sign is None):
            return False
        m, programs = len(self._starts), self.programs
        is_all = len(programs) == 1 or len(programs.groups) == m * len(programs)
        return is_all and (len(programs) == 1 or bool((programs.groups.reshape(-1, m) == np.arange(m)).all()))

    def as_sizes(self, before: Ids | None) -> Sizes:
        """Return the sizes on which the route of the fit depends; chained problems over the same samples share all."""
        chained = before is not None
        lengths = (self._ends - self._starts).astype(np.float64)
        between = 0.0  # not used for one problem
        if chained:
            sets = {tuple(self.programs.segments(number)) for number in range(len(self.programs))}
            between = float(sum(lengths[list(one)].sum() ** 2 - (lengths[list(one)] ** 2).sum() for one in sets))
        elif len(self.programs) > 1:
            between = float(np.sum(self.sizes.astype(np.float64) ** 2) - np.sum(lengths[self.programs.groups] ** 2))
        duals = [self.typical] if self.lazy else [self.dual(number) for number in range(len(self.programs))]
        everywhere, most = self._everywhere(chained), len(self.programs) if before is None else widest(before)
        return Sizes(self._ends - self._starts, self.sizes, self.open, duals, everywhere, between, chained, most)


def solve(
    X: Any,
    samples: Samples,
    programs: Programs,
    settings: Settings,
    start: Callable[[range], Vector] | None = None,
    before: Ids | None = None,
    around: Pool | None = None,
    kept: SharedGram | None = None,
    sphere: bool = False,
) -> Fits:
    """Solve all programs over one Gram matrix.

    X : an array, a CSR matrix or rows that are ``Elsewhere``
    start : maps a range of programs to their starts, one after the other: a coefficient for each of their samples
    before : (n,) the smaller number of the program whose solution a program starts from, or -1; see ``solve_chains``
    around : the pool that calls it with a turn, side by side with others
    kept : of fits of the same samples with the same settings: the last kernel matrix, for fits that need an equal one
    sphere : whether the targets are half of ``own_values``
    """
    kernel = settings.clock.limited(settings.kernel)
    work = _Work(programs, samples)
    solver = choose(settings.solver, work.typical)
    if settings.device is not None:
        refuse_unsuited(settings.device, kernel, X)
    as_given = work.sizes.max() <= SMALL or settings.device is not None or (sphere and kernel.bilinear)
    balanced = sphere or (before is None and work.typical.balanced)  # chains keep gradients, of the given rows
    balanced = balanced and _may_move(X, settings)
    rounded = len(samples.group) > len(samples.rows) or any(work.typical.totals)
    source = replace(_source(X, samples.rows, kernel, as_given, balanced), rounded=rounded)
    if source.columns is not None:
        off = refuse_asymmetric(X, "The kernel matrix K that was given as X", settings.n_jobs)
        source = replace(source, asymmetry=off)
    source = source.cautious(work.most, BLUR_ALLOWED * settings.tol)
    sizes = work.as_sizes(before)
    route = choose_route(source, sizes, solver, settings.cache_bytes, settings.precision, settings.device)
    threads = 1 if route.light else allowed_threads(settings.n_jobs)
    last = kept is None and before is None
    kept = {} if kept is None else kept
    key = threads, source.careful, route.dtype, route.slots, route.held, route.shared, route.device, route.resident
    if key not in kept:
        kept.clear()
    used = kept[key][0].pool if key in kept else Pool(threads, settings.clock.limit, around)
    with used as pool, enough_memory(settings.device) if settings.device is not None else nullcontext():
        segments = [len(samples.rows)] if sizes.everywhere else samples.sizes.tolist()
        if key not in kept:
            kept[key] = _gram(X, source, route, segments, pool, settings)
        gram, view_of = kept[key]
        groups, first = programs.groups, programs.first
        if sizes.everywhere:
            first = work.copies * np.arange(len(programs) + 1)
            groups = np.zeros(first[-1], np.int64)
        joined = work.joined if work.lazy else None
        tasks = Tasks(gram, groups, first, work.dual, work.open, start, joined, view_of=view_of, last=last)
        found = _solve(tasks, solver, settings, pool, route, before)
    if not settings.gap_requested:
        found.forgive_gaps(settings.tol)
    fits = Fits(found, work.all_ids, work.copies, route)
    fits.centred = bool(source.center.any())
    if kernel.bilinear and fits.centred:
        _move_back(fits, source, sphere)
    if not work.open.all():
        work.close(found.intercept)
    return fits


def _may_move(X: Any, settings: Settings) -> bool:
    """Return whether rows may be centred: a device has no CSR rows with a border."""
    return settings.device is None or not is_sparse(X)


def _move_back(fits: Fits, source: Source, sphere: bool) -> None:
    """Let intercepts and gradients be those of the given rows, see ``Source.missing``."""
    found, some = fits.found, np.flatnonzero(fits.beta)
    used, where = np.unique(fits.ids[some], return_inverse=True)
    level = source.take(used).level()
    number = np.repeat(np.arange(len(fits)), np.diff(fits.first))[some]
    terms, ends = fits.beta[some] * level[where], np.searchsorted(number, np.arange(len(fits) + 1))
    moved = np.array([fsum(terms[a:b]) for a, b in pairwise(ends)])
    if sphere:
        moved += source.middle()
    found.intercept = found.intercept - moved
    if found.g is not None:
        found.g = found.g + moved[0]


def own_values(X: Any, rows: Ids, settings: Settings) -> Vector:
    """Return k(x, x) of some rows of X, in float64, centred as for a ball."""
    kernel = settings.clock.limited(settings.kernel)
    return kernel.diagonal(_source(X, rows, kernel, True, _may_move(X, settings)).sizes)


def _gram(
    X: Any, source: Source, route: Route, segments: list[int], pool: Pool, settings: Settings
) -> tuple[Gram, Callable[[Gram, list[int]], View]]:
    """Return the kernel matrix, and what makes its views; rows elsewhere come here if no problem goes by blocks."""
    if isinstance(X, Elsewhere):
        if (route.ways >= Way.DECOMPOSE).any():
            return X.gram(source, route.dtype, segments, pool, route.slots), X.view
        source = X.fetched(source)
    used = settings.device if route.device else None
    device = None if used is None else moved(used, source, settings.device_X, route.resident)
    return Gram(source, route.dtype, segments, pool, route.slots, route.held, route.shared, device=device), View.of


def _source(X: Any, rows: Ids, kernel: Kernel, as_given: bool, balanced: bool = False) -> Source:
    """Return the rows; mostly zero dense rows as cheaper CSR rows, if float32 is accurate enough for them.

    Few CSR rows are centred, so a few large features that hardly vary make float32 useless for them.
    """
    if isinstance(X, Elsewhere):
        return X.source(rows, kernel, as_given, balanced)
    dense = Source.of(X, rows, kernel, balanced=balanced)
    if as_given or is_sparse(X) or not may_be_lean(X.shape[1], kernel):
        return dense
    some = X[:: -(-len(X) // 1000)]
    if np.count_nonzero(some) > LEAN_DENSITY * some.size or np.count_nonzero(X) > LEAN_DENSITY * X.size:
        return dense
    lean = Source.of(sparse.csr_array(X), rows, kernel, balanced=balanced)
    return lean if lean.suits_single(lean.largest) else dense


def may_be_lean(features: int, kernel: Kernel) -> bool:
    """Return whether CSR rows may be faster than dense rows that are mostly zero."""
    return features >= LEAN_FEATURES and all(leaf.product == "dot" for leaf in kernel.leaves())


def _solve(tasks: Tasks, solver: Solver, settings: Settings, pool: Pool, route: Route, before: Ids | None) -> Found:
    """Solve the tasks, except those whose variables must be 0 or are all on one side of 0."""
    most = settings.max_iter
    if most == -1:
        most = solver.most(int(tasks.sizes[tasks.open].max(initial=0)))
    chosen = settings.max_iter != -1
    options = Options(
        settings.tol,
        settings.gap_tol,
        most,
        chosen,
        settings.clock.part(settings.share).deadline,
        route.alone(0),  # each gets its own
        block=route.block,
        whole=route.whole,
        memory=route.memory,
        sized=settings.sized,
    )
    if before is not None:
        return solve_chains(tasks, before, solver, options, route, pool, settings.callback)
    return solve_all(tasks, solver, options, route, pool, settings.callback)


def refuse_unsuited(device: Device, kernel: Kernel, X: Any) -> None:
    """Fail if a device does not evaluate the kernel of such samples."""
    if is_sparse(X):
        raise ValueError(
            f"device={device.name!r} takes no sparse X. Leave device out, or pass X.toarray() if it fits into memory."
        )
    reason = unsuited(kernel)
    if reason is not None:
        raise ValueError(
            f"device={device.name!r} does not evaluate the {kernel.name!r} kernel: {reason}. Leave device out, or use "
            "'rbf', 'linear', 'poly', 'sigmoid', or sums and products of them."
        )


def moved(device: Device, source: Source, device_X: Any, resident: int) -> OnDevice:
    """Return the rows of a source on a device; ``device_X``: X as a tensor, if it is on the device already.

    resident : see ``Route``
    """
    rows = DeviceRows.of(device, source.kernel, source.X, source.ids, source.center, device_X, resident)
    bounds = [source.kernel.error_bound(source.largest, float(source.terms), unit) for unit in (2.0**-24, 2.0**-53)]
    rows.probe(source.X, source.ids, source.center, (bounds[0], bounds[1]))
    return OnDevice(rows, np.arange(len(source)))
