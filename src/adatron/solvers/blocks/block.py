"""Block ascent: many variables at a time, the default and the fastest.

Problem   any program of ``problems.dual``, all three forms of the bias.
Update    the block W keeps half of its q variables, with an equality at their places and with their part of K. The
          worst violators, from both ends, take the other places. ``pairs`` (equality) or ``singles`` (none) solves
          the program restricted to W; if they crawl, an active set does. W is solved to the part min(0.1, 0.3 r^2)
          of the violation; r is the violation divided by the one before the last block. Then g += K[:, P] (change of
          beta on P). P are the variables that changed, so only their rows are ever needed. In a large program, the
          variables that violate or are free, and as many again next to them, first become a program of their own,
          which the same blocks solve. Its change as a whole is carried over to the rest of g, once.
Stop      violation <= tol (and relative gap <= gap_tol) *certified* in float64. Float32 tiles propose. The certificate
          corrects g where that matters, and the iteration goes on from there: the new float32 error is proportional to
          the further change of beta, not to beta. A stall is reported as such. Small programs are solved in
          one go, see ``blocks.at_once``.
Source    E. Osuna, R. Freund, F. Girosi (1997); T. Joachims, Making large-scale SVM learning practical (1999); for
          that part: S. C. Eisenstat, H. F. Walker, Choosing the forcing terms in an inexact Newton method, SIAM J.
          Sci. Comput. 17 (1996), choice 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...certificates import best_multipliers
from ...compiled.cache.uninterrupted import cached_property
from ...gram import Gram, Points, Square, View
from ...problems import Dual
from ...threads import OutOfTime
from ..ascent import Ascent
from ..base import Options, Solver, Watch, Way
from ..dense import INNER, Inner, Layout
from ..linalg.factor import factor_bytes
from ..linalg.features import price_by_features
from ..loop import OF_BLOCKS, OF_PARTS, how_closely
from ..plan import FEW, feature_bytes
from ..results import NEGATIVE_CURVATURE, STOP, Solution, Status
from ..tasks import Origin, State
from .at_once import at_once
from .gradient import Gradient
from .interior import interior, price
from .newton import Newton
from .shard import FIRST_PART, Ends, Survey, Violators, near, restricted, worst

NEGATIVE_NOISE = 1e-6  # Fraction of the terms of an objective beyond which a negative one is not rounding.


@dataclass(frozen=True)
class Block(Solver):
    """Block ascent, the default.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.solvers import Block
    >>> SVC(solver=Block()).fit([[0.0], [1.0]], [0, 1]).predict([[0.2]])
    array([0])
    """

    unit: ClassVar[str] = "updates of pairs or coordinates"
    blocks: ClassVar[bool] = True

    def accepts(self, dual: Dual) -> bool:
        return True

    def most(self, n: int) -> int:
        return max(20_000_000, 2000 * n)

    def hold(self, view: View, dual: Dual, beta: Vector, options: Options) -> Gradient:
        """Return the variables of a program with their gradient."""
        return Gradient(view, dual, beta, options.deadline < np.inf)

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        if options.way is Way.DEVICE:
            from ..device.solve import solve

            return solve(self, view, dual, options, state, watch)
        if options.way is Way.DENSE:
            solution, state = at_once(view, dual, options, state, watch)
            if solution is not None:
                return solution
        return _Block(self, view, dual, options, state, watch).solve()


class _Block(Ascent[Block]):
    """A solver at work on a program, or on a part of one, which begins at ``origin``."""

    def __init__(
        self,
        how: Block,
        view: View,
        dual: Dual,
        options: Options,
        state: State | None,
        watch: Watch,
        origin: Origin | None = None,
    ) -> None:
        self.origin = origin
        self.q = len(dual) if options.way < Way.DECOMPOSE else min(options.block, len(dual))
        self.mark = np.zeros(len(dual), bool)
        self.places: Ids = np.empty(0, np.int64)  # the variable at each place of the block
        self.ages: Ids = np.empty(0, np.int64)  # its places, those first whose variable was chosen longest ago
        self.before = 0.0  # the violation before the last block
        self.leapt = False
        super().__init__(how, view, dual, options, state, watch)
        self.square = Square(view.gram)

    def solve(self) -> Solution:
        try:
            return super().solve()
        finally:
            self.square.give_back()
            self.held.give_back()

    def hold(self) -> Gradient:
        return self.how.hold(self.view, self.dual, self.beta, self.options)

    def prepare(self) -> None:
        self.newton = Newton(self.view, self.dual, self.options.memory, self.stopped)
        alone = self.origin is None and self.q == len(self.dual)
        self.inner = Inner(self.stopped, self.n_iter if alone else 0)
        self.square.give_back()
        self.square = Square(self.view.gram)
        self.held.serve(self.view)

    def ascend(self, tol: float) -> Status:
        while True:
            here = self.held.survey(self.q)
            violation = self._violation(here.ends)
            objective = here.objective if self.origin is None else self.objective()
            status = self.pause(violation, tol, objective=objective)
            if status is not None:
                return status
            if self.origin is None and self.view.gram.kernel.convex:
                size = float(np.abs(self.dual.t * self.beta).sum() + abs(objective))
                if objective + self._gain() < -NEGATIVE_NOISE * size:  # |w|^2: steps follow the noise of values
                    return Status.STUCK
            if self._finish(here, violation, tol) or self._leap(violation, tol):
                continue
            of_block, of_part = (self._inner_tol(violation, tol, *forcing) for forcing in (OF_BLOCKS, OF_PARTS))
            self.before = violation
            moved = self._descend(self._part(tol), objective, of_part)
            moved = moved or self._advance(self._choose(here.ends), of_block)
            if not moved:
                return Status.STOPPED if self.watch.flag[STOP] else Status.STUCK

    def _part(self, tol: float) -> Ids:
        """Return the variables to solve as a program of their own, or none.

        None are returned while the store has room for all rows of the solution: a part would make them anew.
        """
        n, known, nothing = len(self.dual), np.count_nonzero(self.beta), np.empty(0, np.int64)
        if self.options.way is not Way.SHRUNKEN or self.view.gram.slots > known:
            return nothing
        return near(self.dual, self.beta, self.g, tol, 2 * self.q) if known else np.arange(0, n, FIRST_PART)

    def _descend(self, ids: Ids, objective: float, tol: float) -> bool:
        """Solve the program of some variables, and carry the change over to g. Return whether anything moved."""
        if not len(ids):
            return False
        self.newton.forget()
        self.square.give_back()
        beta, g, self.n_iter, self.newton.spent = self._of_part(ids, objective, tol)
        moved = beta != self.beta[ids]
        if moved.any():
            try:
                self._move(ids[moved], beta[moved])
            except OutOfTime:  # the part took most of the time: its solution is worth more than a proof
                self._set(ids, beta)
                self.g[ids], self.steady = g, False
                raise
        return bool(moved.any())

    def _of_part(self, ids: Ids, objective: float, tol: float) -> tuple[Vector, Vector, int, float]:
        """Solve the program of some variables; return them, their gradient, and what it took."""
        origin = Origin(self.beta[ids], self.held.at(ids), objective)
        dual, state = restricted(self.dual, ids, origin.beta), State(origin.beta, origin.g, self.n_iter)
        watch = self.watch.within(self.before, self.relative_gap)
        options = replace(self.options, way=Way.ONE_BLOCK if len(ids) <= self.options.whole else Way.DECOMPOSE)
        part = _Block(self.how, self.view.part(ids), dual, options, state, watch, origin)
        part.prepare()
        part.newton.spent = self.newton.spent
        try:
            part.ascend(tol)
            return part.beta, part.g, part.n_iter, part.newton.spent
        finally:
            part.square.give_back()
            part.held.give_back()

    def _inner_tol(self, violation: float, tol: float, factor: float, power: int) -> float:
        """Return how closely to solve the next block, or part: the faster the violation falls, the more closely."""
        if self.q == len(self.dual):
            return INNER * tol
        return how_closely(violation, self.before, tol, factor, power)

    def _violation(self, ends: list[Ends]) -> float:
        """Return the violation, see ``kkt_violation``, from the ends of the lists."""
        join = sum if self.dual.totals else max
        return max(0.0, *(join((one.grow.largest, one.shrink.largest)) for one in ends))

    def _choose(self, ends: list[Ends]) -> Ids:
        """Return half of the last block and the worst violators, or all variables if they fit."""
        if self.q == len(self.dual):
            return np.arange(self.q)
        old, keep = np.split(self.ages, [max(0, len(self.ages) - self.q // 2)])
        chosen = self._worst(ends, self.places[keep], self.q - len(keep))
        if self.dual.totals and len(self.places) == self.q:
            self._replace(old, keep, chosen)
        else:
            W = np.concatenate([self.places[keep], chosen])
            order = np.argsort(W)  # segment by segment
            self.places, self.ages = W[order], np.argsort(order)
        return self.places

    def _replace(self, old: Ids, keep: Ids, chosen: Ids) -> None:
        """Give the places that are old to the violators; places that none takes stay as they are."""
        new = chosen[~self._among(chosen, self.places[old])]
        again = self._among(self.places[old], chosen)
        left = old[~again]
        taken, left = left[: len(new)], left[len(new) :]
        if self.dual.row is not None:  # a place stays with its equality as far as it goes
            taken = taken[np.argsort(self.dual.row[self.places[taken]], kind="stable")]
            new = new[np.argsort(self.dual.row[new], kind="stable")]
        self.places = self.places.copy()
        self.places[taken] = new
        self.ages = np.concatenate([left, keep, old[again], taken])

    def _worst(self, ends: list[Ends], taken: Ids, room: int) -> Ids:
        """Return up to ``room`` violators from both ends that are not among those taken."""
        if not self.dual.totals:
            both = ends[0].grow.joined(ends[0].shrink)
            return worst(self._without(both, taken, both.values > 0.0), room).ids
        share, chosen = room // (2 * len(ends)), taken
        for violators in (v for one in ends for v in one):
            chosen = np.concatenate([chosen, worst(self._without(violators, chosen), share).ids])
        return chosen[len(taken) :]

    def _without(self, violators: Violators, taken: Ids, which: Any = True) -> Violators:
        """Return the violators that are not taken."""
        left = which & ~self._among(violators.ids, taken)
        return Violators(violators.ids[left], violators.values[left])

    def _among(self, ids: Ids, others: Ids) -> NDArray[np.bool_]:
        """Return which of ``ids`` are among others."""
        self.mark[others] = True
        found = self.mark[ids]
        self.mark[others] = False
        return found

    def _advance(self, W: Ids, tol: float) -> bool:
        """Solve the block W and carry the change over to g. Return whether anything moved."""
        points, slope = self.held.look(W)
        old, part = self.beta[W], self.dual.take(W)
        layout = Layout.of(part)
        K = self.square.among(points.take(layout.order[: layout.end]), len(layout.order))
        steps = self.options.max_iter - self.n_iter
        with self.view.gram.pool.aside():
            found = self.inner.solve(K, layout, part, old, slope, tol, steps, self.watch.flag)
        self.n_iter += found.steps
        if not found.intact:
            self.square.forget()
        new, changed = found.beta, np.flatnonzero(found.beta != old)
        self.newton.book(found.steps, len(W), W[changed])
        exact = found.K.dtype == np.float64 or not self.dual.lambda2  # with lambda^2 in it, a float32 matrix is rounded
        if exact and len(W) == len(self.dual):
            self._set_all(W, new, found.product(new - old))
        elif len(changed):
            self._move(W[changed], new[changed], points.take(changed))
        return len(changed) > 0

    def _finish(self, here: Survey, violation: float, tol: float) -> bool:
        """Take a Newton step if one is due; return whether it moved anything."""
        if not self.newton.due(here.free, violation, min(tol, self.options.gap_tol or tol)):
            return False
        inward = self._inward(here.ends, tol)
        ids = np.sort(np.concatenate([here.free, inward[~self._among(inward, here.free)]]))
        if not self.newton.settled(len(here.free), ids, self.q) or len(ids) > self.options.max_iter - self.n_iter:
            return False
        before = self.objective(), self.relative_gap()
        new = self.newton.step(self.beta, self.g, ids)
        if new is not None:
            changed = new != self.beta[ids]
            self._move(ids[changed], new[changed])
            self.n_iter += int(np.count_nonzero(changed))
        self.newton.judge(before, (self.objective(), self.relative_gap()))
        return new is not None

    def _leap(self, violation: float, tol: float) -> bool:
        """Solve the whole program by interior points, once, if blocks crawl; return whether anything moved."""
        unfit = self.leapt or self.origin is not None or self.watch.flag[NEGATIVE_CURVATURE] or self.dual.unbounded
        at_once = self.options.way is Way.FEATURES
        if unfit or not (at_once or self._overtaken(violation, min(tol, self.options.gap_tol or tol))):
            return False
        self.leapt = True
        if self.view.gram.dtype != np.float64:
            self._widen()
            self._anew()
        found = interior(self.view, self.dual, self.beta, self.stopped, self._by_features)
        if found is None:
            return False
        old, g, before = self.beta.copy(), self.g.copy(), self.objective()
        changed = np.flatnonzero(found != old)
        self._move(changed, found[changed])
        self.n_iter += len(changed)
        better = self.objective() < before
        if not better:
            self._set(changed, old[changed])
            self.g = g
        return better

    def _overtaken(self, violation: float, goal: float) -> bool:
        """Return whether blocks crawl so much that interior points will cost less."""
        n, width = self.distinct, self.view.gram.source.X.shape[1]
        if self._by_features:
            return self.newton.overtaken(price_by_features(n, width), violation, goal)
        fits = factor_bytes(n, 1, 8) <= self.options.memory
        return fits and self.newton.overtaken(price(n, self.newton.entry), violation, goal)

    @cached_property
    def _by_features(self) -> bool:
        """Whether interior points go by the features of a linear kernel instead of rows of K."""
        if self.options.way is Way.FEATURES:
            return True
        gram, width = self.view.gram, self.view.gram.source.X.shape[1]
        here = type(gram) is Gram and gram.kernel.plain and gram.device is None
        return here and FEW * width <= self.distinct and feature_bytes(width) <= self.options.memory

    @cached_property
    def distinct(self) -> int:
        """Rows of K that are not copies of others."""
        return int(np.diff(self.view.gram.starts)[sorted(set(self.view.groups))].sum())

    def _inward(self, ends: list[Ends], tol: float) -> Ids:
        """Return the violators that gain by moving at the best multipliers."""
        mu = best_multipliers(self.dual, self.beta, self.g) if self.dual.totals else [0.0]
        worsts = [[worst(v, self.q) for v in pair] for pair in ends]
        ids = [(grow.ids[grow.values - m > tol], shrink.ids[shrink.values + m > tol])
               for (grow, shrink), m in zip(worsts, mu, strict=True)]  # fmt: skip
        return np.concatenate([part for pair in ids for part in pair])

    def _move(self, ids: Ids, beta: Vector, points: Points | None = None) -> None:
        """Set some variables and carry their change over to g."""
        free = (beta > self.dual.lower[ids]) & (beta < self.dual.upper[ids])
        points = replace(points or self.held.points(ids), again=free)
        order = np.argsort(ids)
        ids, beta = ids[order], beta[order]
        change = beta - self.beta[ids]
        self.count_rounding(1, len(ids), float(np.abs(change).sum()))
        self.held.apply(ids, points.take(order), change, self.dual.lambda2 * float(change.sum()), beta)

    def _set_all(self, W: Ids, beta: Vector, product: Vector) -> None:
        """Set all variables, whose change adds ``product`` to g."""
        change = beta - self.beta[W]
        self._set(W, beta)
        self.g[W] += product
        self.count_rounding(1, len(W), float(np.abs(change).sum()))

    def _set(self, ids: Ids, beta: Vector) -> None:
        self.held.set_beta(ids, beta)
