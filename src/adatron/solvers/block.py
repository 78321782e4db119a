"""Block ascent: the solver for anything beyond a few hundred samples.

Problem   any program of ``problems.dual``, all three forms of the bias.
Update    the block W takes half of its q variables from the last block and fills up with the worst violators, from
          both ends; ``smo`` (equality) or ``isda`` (none) solves the program restricted to W; then
          g += K[:, P] (change of beta on P), P the variables that changed: only their rows are ever needed.
Stop      violation <= tol (and relative gap <= gap_tol) *certified* in float64. Float32 tiles propose; the certificate
          corrects g where it matters and the iteration goes on with what is left, whose float32 error is
          proportional to the change of beta, not to beta. Never on a stall: that is reported as such.
Source    E. Osuna, R. Freund, F. Girosi (1997); T. Joachims, Making large-scale SVM learning practical (1999).
"""

from __future__ import annotations

from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..certificates import Certificate, best_multiplier, certify, duality_gap
from ..compiled.search import CHUNK
from ..gram import View
from ..gram.gram import Points
from ..gram.shard import Shard, Violators, worst
from ..problems import Dual
from ..problems.dual import Vector
from .base import Options, Solution, State, Status, Watch
from .isda import isda
from .newton import UNSETTLED, Newton, Progress
from .smo import smo

Ids = NDArray[np.int64]
STEPS = 100  # most steps in a block, as a multiple of its size
ROUNDS = 8  # certificates refused before float64 tiles take over
FAR = 1e12  # coefficients times kernel values of a hard margin beyond this are a dual without bound
HUGE = 1e100  # a margin violation beyond this is overflow, not learning


def block(view: View, dual: Dual, options: Options, state: State | None, watch: Watch, shards: int = 1) -> Solution:
    """Solve a program over the rows of a view. ``shards`` splits it along the segments of the view."""
    return _Block(view, dual, options, state or State(np.zeros(len(dual))), watch, shards).solve()


class _Block:
    def __init__(self, view: View, dual: Dual, options: Options, state: State, watch: Watch, shards: int) -> None:
        self.view, self.dual, self.options, self.watch = view, dual, options, watch
        self.q = min(options.block, len(dual))
        self.beta = np.clip(state.beta, dual.lower, dual.upper)
        self.g = -dual.t.copy()
        self.n_iter = state.n_iter
        self.rounds = 0
        self.mark = np.zeros(len(dual), bool)
        self.last: Ids = np.empty(0, np.int64)
        self.path = float(np.abs(self.beta).sum())  # total change of beta, for the error of g
        self.proven = 0.0  # |beta|_1 at the last certificate
        self._split(shards)
        self.newton = Newton(view, dual, options.memory, self._stopped)
        if state.g is not None:
            self.g[:] = state.g
        elif self.beta.any():
            changed = np.flatnonzero(self.beta)
            self._apply(changed, self.beta[changed])

    def _split(self, shards: int) -> None:
        """Shards over whole segments; each holds its part of beta and g (views of the whole here)."""
        self.shards: list[Shard] = []
        for groups in np.array_split(np.arange(len(self.view.groups)), shards):
            a, b = self.view.offsets[groups[0]], self.view.offsets[groups[-1] + 1]
            part = self.view.gram.restrict([self.view.groups[i] for i in groups])
            lower, upper = self.dual.lower[a:b], self.dual.upper[a:b]
            self.shards.append(Shard(part, int(a), lower, upper, self.beta[a:b], self.g[a:b]))

    def solve(self) -> Solution:
        tol = self.options.tol
        while True:
            status = self._ascend(tol)
            certificate = self._certify()
            if status is None:
                status, tol = self._judge(certificate, tol)
            if status is not None:
                if self.dual.unbounded and status is Status.MAX_ITER and np.isinf(certificate.primal):
                    status = Status.DIVERGED  # not one separating plane was found
                if not certificate.convex and status in (Status.CONVERGED, Status.STUCK):
                    status = Status.NOT_CONVEX
                return Solution(self.beta, self.g, self.n_iter, status, certificate, self.watch.trace())

    def _ascend(self, tol: float) -> Status | None:
        """Blocks until the tracked gradient says tol (None), or what ended it."""
        while True:
            grow, shrink = self._violators()
            violation = self._violation(grow, shrink)
            if not violation < HUGE or (self.dual.unbounded and np.abs(self.beta).max() * self.view.magnitude > FAR):
                return Status.DIVERGED
            objective = self.dual.objective(self.beta, self.g)
            stop = self.watch.look(self.n_iter, violation, objective, self._relative_gap)
            if violation <= tol:
                return None
            if stop:
                return Status.STOPPED
            if self.n_iter >= self.options.max_iter:
                return Status.MAX_ITER
            if monotonic() >= self.options.deadline:
                return Status.MAX_TIME
            if self._finish(grow, shrink, violation, tol):
                continue
            W = self._choose(grow, shrink)
            whole = len(W) == len(self.dual)  # nothing outside can undo what a coarse solution would leave
            if not self._advance(W, 0.8 * tol if whole else max(0.1 * violation, 0.5 * tol)):
                return Status.STUCK

    def _judge(self, certificate: Certificate, tol: float) -> tuple[Status | None, float]:
        """Accept a certificate, or say with which tolerance to go on from the corrected gradient."""
        small = certificate.kkt_violation <= self.options.tol
        if small and (self.options.gap_tol is None or not certificate.relative_gap > self.options.gap_tol):
            return Status.CONVERGED, tol
        self.rounds += 1
        if self.rounds % ROUNDS == 0 and not self._widen():
            return Status.STUCK, tol
        if small:
            tol = 0.3 * min(tol, max(certificate.kkt_violation, 0.1 * tol))
        return (Status.STUCK if tol < certificate.resolution else None), tol

    def _widen(self) -> bool:
        """Float32 tiles do not get there: go on with float64 ones. False if they are in use already."""
        if self.view.gram.dtype == np.float64:
            return self.rounds < 4 * ROUNDS
        self.view = self.view.widened()
        self._split(len(self.shards))
        self.newton = Newton(self.view, self.dual, self.options.memory, self._stopped)
        return True

    def _violators(self) -> tuple[Violators, Violators]:
        """The q worst of the whole problem in both directions."""
        grow, shrink = self.shards[0].violators(self.q)
        for shard in self.shards[1:]:
            more = shard.violators(self.q)
            grow, shrink = worst(grow.joined(more[0]), self.q), worst(shrink.joined(more[1]), self.q)
        return grow, shrink

    def _violation(self, grow: Violators, shrink: Violators) -> float:
        """As ``kkt_violation``, from the ends of the two lists."""
        a, b = (float(v.values[0]) if len(v.values) else -np.inf for v in (grow, shrink))
        return max(0.0, a + b if self.dual.total is not None else max(a, b))

    def _choose(self, grow: Violators, shrink: Violators) -> Ids:
        """Half of the last block, then from both ends of the violators; everything if it fits."""
        if self.q == len(self.dual):
            return np.arange(self.q)
        keep = self.last[len(self.last) - min(len(self.last), self.q // 2) :]
        room = self.q - len(keep)
        if self.dual.total is None:
            both = worst(grow.joined(shrink), self.q)
            new = self._untaken(both.ids[both.values > 0], keep)[:room]
        else:
            up = self._untaken(grow.ids, keep)[: room // 2]
            new = np.concatenate([up, self._untaken(shrink.ids, np.concatenate([keep, up]))[: room // 2]])
        self.last = np.concatenate([keep, new])
        return self.last

    def _untaken(self, ids: Ids, taken: Ids) -> Ids:
        """Those of ``ids`` that are not among ``taken``."""
        self.mark[taken] = True
        free = ids[~self.mark[ids]]
        self.mark[taken] = False
        return free

    def _advance(self, W: Ids, tol: float) -> bool:
        """Solve the block W and carry the change over to g. False if nothing moved."""
        padded = np.concatenate([W, np.full(-len(W) % CHUNK, W[0])])
        points = self._points(padded)
        K = self.view.block(points, points)
        old = self.beta[padded]
        new, lower, upper = old.copy(), self.dual.lower[padded], self.dual.upper[padded]
        new[len(W) :] = lower[len(W) :] = upper[len(W) :] = 0.0  # the padding cannot move
        g = self.g[padded]
        if K.dtype == np.float32 and np.abs(g).max() * 2.0**-20 > 0.1 * tol:
            K = K.astype(np.float64)  # float32 does not resolve this tolerance
        K += K.dtype.type(self.dual.lambda2)
        steps = min(STEPS * len(W), self.options.max_iter - self.n_iter)
        solve = isda if self.dual.total is None else smo
        steps = solve(K, new, g.astype(K.dtype), lower, upper, tol, steps, self.watch.flag)
        self.n_iter += steps
        changed = np.flatnonzero(new[: len(W)] != old[: len(W)])
        self.newton.book(steps, len(W), W[changed])
        if len(changed):
            self._move(W[changed], new[changed], points.take(changed))
        return len(changed) > 0

    def _finish(self, grow: Violators, shrink: Violators, violation: float, tol: float) -> bool:
        """A Newton step if one is due; whether it moved anything."""
        free = (self.beta > self.dual.lower) & (self.beta < self.dual.upper)
        size = int(np.count_nonzero(free))
        if not self.newton.due(size, violation, min(tol, self.options.gap_tol or tol)):
            return False
        inward = self._inward(grow, shrink, tol)
        free[inward] = True
        ids = np.flatnonzero(free)
        if len(ids) > (1.0 + UNSETTLED) * size or len(ids) > self.options.max_iter - self.n_iter:
            self.newton.wait()
            return False
        before = self._progress()
        move = self.newton.step(self.beta, self.g, ids)
        if move is not None:
            changed = move.beta != self.beta[move.ids]
            self._move(move.ids[changed], move.beta[changed])
            self.n_iter += int(np.count_nonzero(changed))
        self.newton.judge(before, self._progress())
        return move is not None

    def _stopped(self) -> bool:
        return bool(self.watch.flag[0]) or monotonic() >= self.options.deadline

    def _progress(self) -> Progress:
        return Progress(self.dual.objective(self.beta, self.g), self._relative_gap())

    def _inward(self, grow: Violators, shrink: Violators, tol: float) -> Ids:
        """The violators that gain by moving at the best multiplier."""
        mu = best_multiplier(self.dual, self.beta, self.g)
        return np.concatenate([grow.ids[grow.values - mu > tol], shrink.ids[shrink.values + mu > tol]])

    def _move(self, ids: Ids, beta: Vector, points: Points | None = None) -> None:
        """Set some variables and carry their change over to g."""
        self._apply(ids, beta - self.beta[ids], points)
        for shard in self.shards:
            shard.set_beta(ids, beta)

    def _points(self, ids: Ids) -> Points:
        """The points behind some variables, from the shards that hold them."""
        if len(self.shards) == 1:
            return self.shards[0].points(ids)
        owned = [shard.owns(ids) for shard in self.shards]
        points = Points.concatenate([s.points(ids[mine]) for s, mine in zip(self.shards, owned, strict=True)])
        return points.take(np.argsort(np.concatenate([np.flatnonzero(mine) for mine in owned])))

    def _apply(self, ids: Ids, change: Vector, points: Points | None = None) -> None:
        """Add a change of beta to g, in the order of the variables."""
        order = np.argsort(ids)
        points = (points or self._points(ids)).take(order)
        change = change[order]
        for shard in self.shards:
            shard.apply(points, change, self.dual.lambda2 * float(change.sum()))
        self.path += float(np.abs(change).sum())

    def _relative_gap(self) -> float:
        """Relative gap of the tracked gradient, for the eye."""
        gap = duality_gap(self.dual, self.beta, self.g, best_multiplier(self.dual, self.beta, self.g))
        value = self.dual.objective(self.beta, self.g)
        return gap / max(1.0, abs(value), abs(gap - value)) if np.isfinite(gap) else np.inf

    def _certify(self) -> Certificate:
        size = float(np.abs(self.beta).sum())
        drift = 2.0**-53 * (self.q + 2) * (self.path * (self.view.magnitude + self.dual.lambda2) + 1.0)
        slack = self.view.error_bound() * (size + self.proven) + drift
        self.proven = size
        return certify(self.view, self.dual, self.beta, self.g, slack, convex=not self.watch.flag[1])
