"""The interface of a solver: what goes in, what comes out, and how a running fit is observed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from time import monotonic
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..gram import View
from ..problems import Dual
from .results import STOP, Solution, Status, trace_of
from .tasks import State, Tasks

Reporter = Callable[[int, float, float, float], bool]  # n_iter, violation, relative gap, dual objective -> stop?


@dataclass(frozen=True)
class Progress:
    """The state of a running fit, as shown to the outside.

    Attributes
    ----------
    problem : int
        The binary problem of this report, from 0.
    n_problems, n_finished : int
        How many problems there are; how many of them are solved.
    n_iter : int
        Iterations of the problem, as the solver counts them.
    kkt_violation, dual_objective : float
        Values of the tracked gradient. They are certified in the last report of a problem, which comes when it is
        solved.
    duality_gap : float
        The relative gap, tracked or certified as they are; inf if no bound is known, nan if the kernel was found not
        to be positive semi-definite.
    seconds : float
        Since the problems were begun.

    Examples
    --------
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> reports = []
    >>> model = SVC(callback=reports.append).fit(*load_iris(return_X_y=True))
    >>> reports[-1].n_problems
    3
    """

    problem: int
    n_problems: int
    n_finished: int
    n_iter: int
    kkt_violation: float
    duality_gap: float
    dual_objective: float
    seconds: float


@dataclass
class Watch:
    """Traces a solver's progress, reports it, and says when to stop.

    ``flag`` (2,) is shared with the compiled loops: a nonzero first entry asks them to stop, and they set the second
    one when they meet negative curvature. ``names`` are the further quantities that a solver traces. The gap of the
    tracked gradient takes several passes. It is asked for after 0.05 s, then when a tenth more time and fifty times
    its own cost have passed. ``whole`` has the violation and the gap of the whole problem while a part is solved.
    """

    dual: Dual
    report: Reporter | None
    flag: NDArray[np.int64]
    names: tuple[str, ...] = ()
    start: float = field(default_factory=monotonic)
    rows: list[tuple[float, ...]] = field(default_factory=list)
    whole: tuple[float, Callable[[], float]] | None = None
    _next: float = 0.05

    def within(self, violation: float, relative_gap: Callable[[], float]) -> Watch:
        """Return the watch for a part of the problem; the violation and the gap are those of the whole problem."""
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
        return bool(self.flag[STOP])

    def until(self, deadline: float) -> Callable[[], bool]:
        """Return a function that says whether to stop: the deadline has passed, or somebody asked to stop."""
        return lambda: bool(self.flag[STOP]) or monotonic() >= deadline

    def trace(self) -> dict[str, NDArray[np.float64]]:
        return trace_of(self.rows, self.names)


__all__ = [  # all that a solver of one's own needs
    "Options",
    "Progress",
    "Solution",
    "Solver",
    "State",
    "Status",
    "Tasks",
    "Watch",
    "Way",
]


class Way(IntEnum):
    """How one problem is solved, see ``route``."""

    TRIVIAL = 0
    BATCH = 1
    DENSE = 2
    ONE_BLOCK = 3
    DECOMPOSE = 4
    SHRUNKEN = 5
    SINGLE_ROWS = 6
    DEVICE = 7
    FEATURES = 8
    PRIMAL = 9

    @property
    def words(self) -> str:
        """The way in words."""
        return WAY_WORDS[self]


WAY_WORDS = {
    Way.TRIVIAL: "with nothing to solve",
    Way.BATCH: "one block each, many in one go",
    Way.DENSE: "one block in float64, solved and measured in one go",
    Way.ONE_BLOCK: "one block",
    Way.DECOMPOSE: "block after block",
    Way.SHRUNKEN: "block after block, the variables in play first as a program of their own",
    Way.SINGLE_ROWS: "by single rows",
    Way.DEVICE: "on the device, all side by side",
    Way.FEATURES: "interior points over the features, then block after block",
    Way.PRIMAL: "in the primal, over the features",
}


@dataclass(frozen=True)
class Options:
    """When to stop.

    tol : largest KKT violation
    gap_tol : largest relative duality gap, or None
    max_iter : most iterations, in the solver's own unit
    chosen : whether the user chose that limit; reaching the default says more about the problem
    deadline : value of ``time.monotonic()`` at which to stop
    way : how the problem is solved
    block : most variables in a block of the block solver
    whole : most variables of a part of a problem that is solved as one block
    memory : bytes for the factor of a Newton step, or for stored rows of K
    sized : whether each program is solved in a unit of its own, see ``units``
    """

    tol: float = 1e-3
    gap_tol: float | None = None
    max_iter: int = 10**8
    chosen: bool = False
    deadline: float = np.inf
    way: Way = Way.DECOMPOSE
    block: int = 1024
    whole: int = 0
    memory: float = 2.5e8
    sized: bool = False

    @property
    def widest_gap(self) -> float:
        """``gap_tol``, or infinity."""
        return np.inf if self.gap_tol is None else self.gap_tol


class Solver(ABC):
    """A way to solve the program: an algorithm with its parameters.

    Attributes
    ----------
    unit : what ``n_iter`` and ``max_iter`` count
    traced : names of the quantities that the trace has besides the common ones
    blocks : whether the solver goes by blocks of variables; other solvers go through single rows, which they store
    ridged : whether the solver takes programs whose errors cost their square, and no others
    """

    unit: ClassVar[str]
    traced: ClassVar[tuple[str, ...]] = ()
    blocks: ClassVar[bool] = False
    #: Whether compiled code may solve several small problems in the solver's place.
    batches: ClassVar[bool] = True
    ridged: ClassVar[bool] = False

    @abstractmethod
    def accepts(self, dual: Dual) -> bool:
        """Return whether the algorithm is made for this program."""

    @abstractmethod
    def most(self, n: int) -> int:
        """Return the limit of iterations for n samples unless the user gives one."""

    @abstractmethod
    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        """Solve a program over the rows of a view."""
