"""Decomposition: freezes all except a small working set, and solves the program over the working set.

Problem   programs of ``problems.dual`` with equalities (explicit bias, nu), which (15.37) keeps.
Update    the working set of q variables is the steepest feasible direction with q/2 components each way. It has the
          q/2 largest of -g among the variables that can grow, and the q/2 largest of g among those that can shrink.
          A partition finds them, without a sort. Any solver solves the sub-problem (15.34-37) in these variables.
Selection ``'random'``: a pair that violates, and others, all drawn at random: "converges very slowly" (15.5.2).
          ``'heuristic'``: the free variables of the last set stay, up to half of it, and the next violators in the
          order of the data take the other places (Osuna, Freund, Girosi). A set that moves nothing is followed by the
          steepest one.
Stop      the KKT conditions (15.38-40) hold to tol: -g is equal for all free variables, no larger for variables that
          can only grow, no smaller for those that can only shrink.
Source    P. Laskov, Feasible direction decomposition algorithms for training support vector machines, Machine Learning
          46 (2002); T. Joachims (1999); E. Osuna, R. Freund, F. Girosi (1997); Handbook of Computational Statistics,
          section 15.5.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...certificates import multipliers
from ...gram import View
from ...problems import Dual
from ...quoted import quoted
from ..ascent import Ascent
from ..base import Options, Solver, Watch
from ..dense import Inner, Layout
from ..results import Solution, Status
from ..tasks import State

SELECTIONS = "feasible", "random", "heuristic"  # How a working set is chosen.
SET_STEPS = 1000  # updates in a working set, as a multiple of its size
Subsolver = Callable[[NDArray[Any], Dual, Vector, Vector, float], Vector]  # K, program, beta, g, tol -> beta


@dataclass(frozen=True)
class Decomposition(Solver):
    """Feasible-direction decomposition.

    Parameters
    ----------
    q : int, default=40
        Size of the working set, even and at least 2.
    inner : callable, default=None
        Solver of the sub-problem: takes its kernel matrix (q, q), its program, beta, g and a tolerance, and returns
        the new beta. None is sequential minimal optimisation and, if that crawls, an active set.
    selection : {'feasible', 'random', 'heuristic'}, default='feasible'
        Choice of the working set.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.solvers import Decomposition
    >>> SVC(solver=Decomposition()).fit([[0.0], [1.0]], [0, 1]).predict([[0.2]])
    array([0])
    """

    q: int = 40
    inner: Subsolver | None = None
    selection: str = "feasible"
    unit: ClassVar[str] = "working sets"

    def __post_init__(self) -> None:
        if self.q < 2 or self.q % 2:
            raise ValueError(
                f"The 'q' parameter of Decomposition must be an even int >= 2. Got {quoted(self.q)} instead."
            )
        if self.selection not in SELECTIONS:
            raise ValueError(
                f"The 'selection' parameter of Decomposition must be one of {', '.join(map(repr, SELECTIONS))}. Got "
                f"{quoted(self.selection)} instead."
            )

    def accepts(self, dual: Dual) -> bool:
        return bool(dual.totals)

    def most(self, n: int) -> int:
        return max(1_000_000, 100 * n)

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        return _Decomposition(self, view, dual, options, state, watch).solve()


class _Decomposition(Ascent[Decomposition]):
    def prepare(self) -> None:
        self.inner = Inner(self.stopped)
        self.random, self.last, self.next = np.random.default_rng(0), np.zeros(0, np.int64), 0

    def ascend(self, tol: float) -> Status:
        choose = {"feasible": self._steepest, "random": self._drawn, "heuristic": self._in_turn}[self.how.selection]
        while True:
            violation = self.violation()
            status = self.pause(violation, tol)
            if status is not None:
                return status
            close = max(0.1 * violation, 0.5 * tol)
            if not self._advance(choose(), close) and not self._advance(self._steepest(), close):
                return Status.STUCK

    def _drawn(self) -> Ids:
        """Return a violating pair and other variables, drawn at random."""
        up, down = self.dual.growth(self.beta, self.g), self.dual.shrinkage(self.beta, self.g)
        ties = [np.arange(len(self.g))[tie] for tie in self.dual.ties()]
        tie = max(ties, key=lambda tie: up[tie].max() + down[tie].max())
        first = self.random.choice(tie[up[tie] + down[tie].max() > 0.0])
        second = self.random.choice(tie[down[tie] + up[first] > 0.0])
        others = self.random.choice(len(self.g), min(self.how.q, len(self.g)), replace=False)
        return np.unique(np.concatenate([[first, second], others[: self.how.q - 2]]))

    def _in_turn(self) -> Ids:
        """Return free variables of the last set, and the next violators in the order of the data."""
        push = self.dual.push(multipliers(self.dual, self.beta, self.g))
        violators = np.flatnonzero(self.dual.inward(self.beta, self.g + push) > 0.0)
        later = np.roll(violators, -int(np.searchsorted(violators, self.next)))
        kept = self.last[self.dual.free(self.beta)[self.last]][: self.how.q // 2]
        new = later[: self.how.q - len(kept)]
        self.next = int(new[-1]) + 1 if len(new) else 0
        self.last = np.union1d(kept, new)
        return self.last

    def _steepest(self) -> Ids:
        """Return q/2 variables from either end, shared by the equalities; one that is at both ends counts once."""
        ends = self.dual.growth(self.beta, self.g), self.dual.shrinkage(self.beta, self.g)
        ties = [np.arange(len(self.g))[tie] for tie in self.dual.ties()]
        share = max(1, self.how.q // (2 * len(ties)))
        return np.unique(np.concatenate([tie[_largest(values[tie], share)] for tie in ties for values in ends]))

    def _advance(self, W: Ids, tol: float) -> bool:
        """Solve the working set and carry the change over to g. False if nothing moved."""
        old, part = self.beta[W], self.dual.take(W)
        layout = Layout.of(part)
        points = self.view.points(W[layout.order])
        K = self.view.block(points, points)
        if self.how.inner is None:
            new = self.inner.solve(K, layout, part, old, self.g[W], tol, SET_STEPS * len(W), self.watch.flag).beta
        else:
            new = self.how.inner(K[np.ix_(layout.place, layout.place)], part, old, self.g[W], tol)
        self.n_iter += 1
        change = np.zeros(len(self.g))
        change[W] = new - old
        self.beta[W] = new
        self._add(change)
        return bool(change.any())


def _largest(values: Vector, most: int) -> Ids:
    """Return the places of the ``most`` largest finite values."""
    ids = np.argpartition(values, -most)[-most:] if most < len(values) else np.arange(len(values))
    return ids[values[ids] > -np.inf]
