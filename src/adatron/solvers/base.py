"""What goes into a solver and what comes out of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from math import isfinite
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..certificates import Certificate, unproven
from ..gram import View
from ..problems import Dual
from ..problems.dual import Vector
from .tasks import State, Tasks
from .tolerance import closer

if TYPE_CHECKING:
    from .found import Found

TYPICAL = 1 / 16  # of a proven error: so large the error of a gradient is at most, as a rule
BEGUN = 2.0**-40  # of the largest target
WITHIN = 0.9  # of what errors leave of the tolerance
NO_KERNEL = "the kernel is not positive semi-definite on these data"
OTHER_KERNEL = "use another kernel or other kernel parameters, and (K + K.T) / 2 of a given matrix"


class Status(Enum):
    """How a fit ended; the text says what usually causes it and what to try."""

    CONVERGED = "converged"
    RULE = "the solver's own stopping rule was met"
    MAX_ITER = "the limit of updates (max_iter) was reached; lower C, or raise max_iter"
    MAX_TIME = "the time limit (max_time) was reached; raise it, lower C, or use a larger tol"
    STOPPED = "the callback asked to stop"
    STUCK = "no step makes progress in double precision; lower C, or use a larger tol or gap_tol"
    DIVERGED = (
        "the dual grows without bound: with C=inf the classes are not separable by this kernel, or the targets do not "
        "fit into the tube; use a finite C, or scale the features"
    )
    OVERFLOW = (
        "kernel values or coefficients are too large for double precision, so nothing is proven; scale the features, "
        "or lower C or the parameters of the kernel"
    )
    NOT_CONVEX = f"{NO_KERNEL}: the point found is stationary, but the duality gap bounds nothing; {OTHER_KERNEL}"

    @property
    def good(self) -> bool:
        """Whether the fit ended as it was asked to."""
        return self in (Status.CONVERGED, Status.RULE)


@dataclass(frozen=True)
class Options:
    """When to stop.

    tol : largest KKT violation
    gap_tol : largest relative duality gap, or None
    max_iter : most iterations, in the solver's own unit
    chosen : whether the user chose that limit; reaching the default says more about the problem
    deadline : value of ``time.monotonic()`` at which to stop
    block : most variables in a block of the block solver
    whole : a problem of up to so many variables is one block
    memory : bytes for the factor of a Newton step, or for stored rows of K
    sized : whether each program is solved in a unit of its own, see ``units``
    """

    tol: float = 1e-3
    gap_tol: float | None = None
    max_iter: int = 10**8
    chosen: bool = False
    deadline: float = np.inf
    block: int = 1024
    whole: int = 0
    memory: float = 2.5e8
    sized: bool = False

    @property
    def widest_gap(self) -> float:
        """``gap_tol``, or infinity."""
        return np.inf if self.gap_tol is None else self.gap_tol


@dataclass(frozen=True)
class Progress:
    """What a running fit shows to the outside.

    problem, n_problems, n_finished : the binary problem that this is about, from 0; how many there are; how many of
        them are solved
    n_iter : its iterations, as the solver counts them
    kkt_violation, dual_objective : as the tracked gradient has them; certified in the last report of a problem, which
        comes when it is solved
    duality_gap : the same of the relative gap; inf where no bound is known, nan where the kernel was found not to be
        positive semi-definite
    seconds : since the problems were begun
    """

    problem: int
    n_problems: int
    n_finished: int
    n_iter: int
    kkt_violation: float
    duality_gap: float
    dual_objective: float
    seconds: float


@dataclass(frozen=True)
class Solution:
    """A dual point with its certificate. ``trace`` has one array for each quantity.

    ``blur``: how well multipliers are known, if that is not the resolution of the certificate.
    """

    beta: Vector
    g: Vector
    n_iter: int
    status: Status
    certificate: Certificate
    trace: dict[str, NDArray[np.float64]]
    blur: float | None = None

    def times(self, c: float) -> Solution:
        """That of the program whose coefficients are c times as large."""
        if c == 1.0:
            return self
        trace = {**self.trace, "dual_objective": c * c * self.trace["dual_objective"]}
        return replace(self, beta=c * self.beta, g=c * self.g, certificate=self.certificate.times(c), trace=trace)


def late(dual: Dual, beta: Vector, g: Vector | None, n_iter: int = 0) -> Solution:
    """Where a problem began, if there was no time for anything else."""
    g = -dual.t if g is None else g
    return Solution(beta, g, n_iter, Status.MAX_TIME, unproven(dual, beta, g), trace_of([]))


class Solver(ABC):
    """A way to solve the program: an algorithm with its parameters.

    Attributes
    ----------
    unit : what ``n_iter`` and ``max_iter`` count
    traced : names of what the trace has besides the common quantities
    """

    unit: ClassVar[str]
    traced: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def accepts(self, dual: Dual) -> bool:
        """Whether the algorithm is made for this program."""

    @abstractmethod
    def most(self, n: int) -> int:
        """The limit of iterations for n samples unless the user gives one."""

    def bundles(self, tasks: Tasks, options: Options) -> list[range]:
        """The numbers of the tasks that are open, in their order, in ranges that ``solve_bundle`` takes together."""
        return [range(number, number + 1) for number in np.flatnonzero(tasks.open).tolist()]

    def solve_bundle(
        self, tasks: Tasks, some: range, options: Options, flags: NDArray[np.int64], found: Found
    ) -> dict[int, State | None]:
        """Put the solutions of a bundle into ``found``; where each other task of it is to be solved from, one by one.

        flags : (n_tasks, 2), each as that of a ``Watch``
        """
        return {number: tasks.start(number) for number in some}

    @abstractmethod
    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        """Solve a program over the rows of a view."""


def ended(proof: Certificate, options: Options) -> Status | None:
    """How a fit has ended by the proof of where it is, or None: not yet."""
    if not isfinite(proof.resolution):
        return Status.OVERFLOW
    if not proof.kkt_violation <= options.tol:
        return None
    if not proof.convex:
        return Status.NOT_CONVEX
    return Status.CONVERGED if proof.relative_gap <= options.widest_gap else None


def nearer(tol: float, proof: Certificate, options: Options) -> float:
    """The tolerance to go on with after a proof that does not do; 0 if rounding lets no gradient meet one."""
    here = proof.kkt_violation - proof.resolution
    if not proof.kkt_violation <= options.tol:  # with the errors that the proof counts
        near = min(tol, max(WITHIN * (options.tol - proof.resolution), TYPICAL * proof.resolution))
        return near if here > near else 0.0
    near = min(tol, closer(max(here, 0.1 * tol), proof.relative_gap, options.widest_gap))
    return near if near >= TYPICAL * proof.resolution else 0.0


TRACED: tuple[str, ...] = ("seconds", "n_iter", "kkt_violation", "duality_gap", "dual_objective")


def first_tolerance(dual: Dual, options: Options) -> float:
    """The tolerance to begin with: none that rounding may not let a gradient meet; a proof says what it does."""
    return max(options.tol, BEGUN * max(1.0, float(np.abs(dual.t).max(initial=0.0))))


Report = Callable[[int, float, float, float], bool]  # n_iter, violation, relative gap, dual objective -> stop?


def trace_of(rows: list[tuple[float, ...]], more: tuple[str, ...] = ()) -> dict[str, NDArray[np.float64]]:
    """The trace of a solution from what was recorded, one line each; ``more``: what it has besides."""
    names = (*TRACED, *more)
    return dict(zip(names, np.array(rows, np.float64).reshape(-1, len(names)).T.copy(), strict=True))


@dataclass
class Watch:
    """Traces a solver's progress, reports it, and says when to stop.

    ``flag`` (2,) is shared with the compiled loops: a nonzero first entry asks them to stop, and they set the second
    one when they meet negative curvature. ``names`` are those of what a solver traces besides. The gap of the tracked
    gradient takes several passes, so it is asked for after 0.05 s and then when a tenth more time has passed, and fifty
    times what it took. ``whole``: where a part of a problem is solved, the violation and the gap of all of it.
    """

    dual: Dual
    report: Report | None
    flag: NDArray[np.int64]
    names: tuple[str, ...] = ()
    start: float = field(default_factory=monotonic)
    rows: list[tuple[float, ...]] = field(default_factory=list)
    whole: tuple[float, Callable[[], float]] | None = None
    _next: float = 0.05

    def within(self, violation: float, relative_gap: Callable[[], float]) -> Watch:
        """The same for a part of the problem, of which only iterations and objective are news of all of it."""
        return replace(self, whole=(violation, relative_gap))

    def look(
        self,
        n_iter: int,
        violation: float,
        objective: float,
        relative_gap: Callable[[], float],
        extra: tuple[float, ...] = (),
    ) -> bool:
        """Record where the solver is; returns whether the callback or another thread asked to stop."""
        violation, relative_gap = self.whole or (violation, relative_gap)
        seconds = monotonic() - self.start
        gap = np.nan
        if seconds >= self._next:
            gap = relative_gap()
            taken = monotonic() - self.start - seconds
            stop = self.report is not None and self.report(n_iter, violation, gap, -objective)
            now = monotonic() - self.start
            self._next = now + max(0.1 * now, 50.0 * taken)
            if stop:
                return True
        self.rows.append((seconds, n_iter, violation, gap, -objective, *extra))
        return bool(self.flag[0])

    def until(self, deadline: float) -> Callable[[], bool]:
        """What says whether it is time to stop: it is too late, or somebody asked to."""
        return lambda: bool(self.flag[0]) or monotonic() >= deadline

    def trace(self) -> dict[str, NDArray[np.float64]]:
        return trace_of(self.rows, self.names)
