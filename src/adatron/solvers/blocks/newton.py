"""The second-order finish: Newton steps once the set of free variables has nearly settled.

Problem   any program of ``problems.dual``; block ascent finds the free set F fast, then crawls.
Update    minimise the program over F (free variables, and violators that may become free) as if it had no bounds:
          [K_FF + lambda^2 11'  A'; A 0] [delta; mu] = -[g_F; 0], no border without an equality. Variables that leave
          the box are put on their bound and held there. The system is solved again for the rest, until none leaves.
          Then comes an exact line search on the segment from beta to that point. It lies in the box, so D falls.
Cost      one Cholesky factorisation, in the precision of the tiles, and a new one only when many variables have left
          or joined. If the factor is not exact, conjugate gradients follow: in float32, or if it does not fit in memory
          and only diagonal blocks have factors.
Guards    a step is taken when three conditions hold. Block ascent has cost as much as the step will. At its recent
          pace it will cost more than a whole finish. Hardly any violators are left outside F. A step pays if it halves
          the gap, or gains more for its cost than the blocks. After a step that paid the next one follows at once, if
          not too many variables would join. After a step that did not pay, block ascent must cost ever more before
          the next. So the finish wastes at most the work of the blocks; without it block ascent goes on as before.
Source    L. Bottou, C.-J. Lin, Support vector machine solvers (2007), section 7 (direct methods); S. Fine,
          K. Scheinberg, JMLR 2 (2001) 243-264 for what a factor buys; M. Hintermueller, K. Ito, K. Kunisch, SIAM J.
          Optim. 13 (2002) for moving many variables at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from math import log

import numpy as np

from ...arrays import Ids
from ...certificates import best_multipliers
from ...gram import View
from ...problems import Dual
from ...problems.dual import Vector, dot
from ..linalg.bordered import CG_ITERATIONS, CHANGED, System, norm
from ..linalg.factor import FACTOR_TILE, Stopped, factor_bytes
from ..plan import STORE_COST

MOST_SOLUTIONS, EXACT, ROUGHLY = 12, 2.0, 5.0  # Solutions in a step: at most, usually by one factor or by several.
UNSETTLED = 0.04  # Fraction of the free variables beyond a block; with more violators than this F has not settled.
BEYOND_BLOCK = 0.1  # Fraction of the free variables that counts as beyond a block, at least.
LEAVING = 0.125  # Fraction of F that may leave or join in a step; with more F has not settled.
LONGEST_PAUSE = 4.0  # Multiple of the allowed joining variables beyond which the next pause grows no further.
PACE = 0.5  # Fraction of a step's cost that block ascent must spend before its pace is known.
CG_ACCURACY = 0.05  # Accuracy of one solution by conjugate gradients; a step takes several solutions.
GRADIENT_LEFT = 1e-5  # Fraction of the gradient that may remain after a step.
FINISH = 4.0  # Steps that a finish takes, with one factor.
WORTH_FINISH = 1.5  # Multiple of a finish's cost; block ascent that will cost less than this is left alone.
EQUALITIES_MISSED = 1e-13  # Distance from the equalities, relative to the variables: above it a step solves again.
MOST_PATIENCE = 64.0  # Steps that keep failing cost at most one part in this many of what block ascent costs.
STEP_COST = 64.0  # Multiply-adds of a kernel value that one pair update costs for each variable of its block.


class Newton:
    """Newton steps for one problem, and the book-keeping that says when to take one.

    ``memory`` bounds the bytes of a factor; ``stopped`` says that the time is up.
    """

    def __init__(self, view: View, dual: Dual, memory: float, stopped: Callable[[], bool] = lambda: False) -> None:
        self.view, self.dual, self.memory, self.stopped = view, dual, memory, stopped
        self.entry = view.gram.kernel.cost(view.gram.source.features)
        self.row = len(dual) * min(self.entry, STORE_COST)  # cost of a row used again, whether or not it is stored
        self.seen = np.zeros(len(dual), bool)  # rows of K that were computed at least once
        self.total = 0.0  # multiply-adds of block ascent so far
        self.spent = 0.0  # multiply-adds of block ascent since the last step, those in parts of the program included
        self.patience = 1.0
        self.price = 0.0  # price of the next step
        self.again = 0.0  # price of a step with the same factor
        self.pause = 0.0  # multiply-adds that must be spent before the next step
        self.course: list[tuple[float, float]] = []  # multiply-adds since the last step, and the violation at that time
        self.paid = False  # whether the last step was worth its price
        self.start = -np.inf  # objective after the last step
        self.system: System | None = None

    def forget(self) -> None:
        """Give the memory of the last factor back."""
        self.system = None

    def book(self, steps: int, block: int, changed: Ids) -> None:
        """Count what a block has cost, without the first computation of each row, which every method needs."""
        known = int(np.count_nonzero(self.seen[changed]))
        self.seen[changed] = True
        cost = STEP_COST * block * steps + known * self.row + self.entry * block**2
        self.spent, self.total = self.spent + cost, self.total + cost

    def due(self, free: Ids, violation: float, goal: float) -> bool:
        """Return whether block ascent, at this violation and on its way to the goal, has cost enough for a step."""
        self.course.append((self.spent, violation))
        if not self._affordable(free) or self.spent < self.pause:
            return False
        if self.paid:
            return True
        paced = self.spent - self.course[0][0] >= PACE * self.price
        return paced and self._remaining(violation, goal) > WORTH_FINISH * (self.price + (FINISH - 1.0) * self.again)

    def overtaken(self, price: float, violation: float, goal: float) -> bool:
        """Return whether block ascent has cost half of another method's price, and will still cost more than it."""
        return self.total >= PACE * price and not self.paid and self._remaining(violation, goal) > price

    def settled(self, free: int, ids: Ids, block: int) -> bool:
        """Return whether a step is likely to succeed and affordable: few violators join the free variables in ``ids``.

        Unless the last step paid, variables that a block can hold must have settled first: blocks solve them for less.
        If the answer is no, the next step is due when a tenth more has been spent, or twice that if twice too many
        join, and so on.
        """
        joining = len(ids) - free
        allowed = LEAVING * free if self.paid else UNSETTLED * max(free - block, BEYOND_BLOCK * free)
        if joining <= allowed and self._affordable(ids):
            return True
        self.pause = self.spent * (1.0 + 0.1 * min(max(1.0, joining / max(1.0, allowed)), LONGEST_PAUSE))
        return False

    def _affordable(self, ids: Ids) -> bool:
        """Set ``price`` to the price of a step over these variables; return whether block ascent has cost as much."""
        size = len(ids)
        parts = self._parts(size)
        if not parts:
            return False
        factored = self.system is not None and self.system.serves(ids)
        solutions = EXACT if parts == 1 else ROUGHLY * CG_ITERATIONS
        self.again = self.entry * size**2 * solutions + size * self.row
        self.price = self.again + (0.0 if factored else size**3 / (3.0 * parts**2))
        return self.spent >= self.patience * self.price

    def _remaining(self, violation: float, goal: float) -> float:
        """Return what block ascent will still cost if it keeps the pace of its last half."""
        half = bisect_right(self.course, 0.5 * self.spent, key=lambda one: one[0])
        spent, before = self.course[max(0, half - 1)]
        if before <= violation:
            return np.inf
        return (self.spent - spent) * log(violation / goal) / log(before / violation)

    def judge(self, before: tuple[float, float], after: tuple[float, float]) -> None:
        """Learn from a step, by the objectives and the gaps before it and after it.

        A step paid if it halved the gap, or gained more for its cost than the blocks before.
        """
        gain, blocks = before[0] - after[0], self.start - before[0]
        better = np.isfinite(blocks) and gain > 0.0 and gain * self.spent > blocks * self.price
        self.paid = after[1] < 0.5 * before[1] or better
        self.start, self.spent, self.pause = after[0], 0.0, 0.0
        self.course = [(0.0, self.course[-1][1])]
        self.patience = 0.0 if self.paid else min(max(1.0, 2.0 * self.patience), MOST_PATIENCE)

    def _parts(self, free: int) -> int:
        """Return the fewest diagonal blocks whose factors, and what held variables take, fit in memory; 0 if none."""
        size = self.view.gram.dtype.itemsize
        beside = size * (CHANGED + LEAVING) * free**2
        most = -(-free // FACTOR_TILE)
        return next((p for p in range(1, most + 1) if factor_bytes(free, p, size) + beside / p <= self.memory), 0)

    def step(self, beta: Vector, g: Vector, ids: Ids) -> Vector | None:
        """Return better values of the variables ``ids``, or None if there are none."""
        if not self._parts(len(ids)):
            return None
        try:
            return self._step(beta, g, ids)
        except Stopped:
            return None

    def _step(self, beta: Vector, g: Vector, ids: Ids) -> Vector | None:
        dual = self.dual.take(ids)
        if dual.epsilon:
            dual = dual.piece(beta[ids], g[ids] + dual.push(best_multipliers(self.dual, beta, g)))
        old, slope = beta[ids], g[ids] + (self.dual.t[ids] - dual.t)
        system = self._prepare(beta, ids)
        place = system.admit(ids)
        others = np.setdiff1d(np.arange(len(system.ids)), place)
        delta, bound, r = np.zeros(len(system.ids)), np.zeros(len(ids), bool), np.zeros(len(system.ids))
        r[place] = slope
        first = rest = norm(system.slope(r, others))
        for _ in range(MOST_SOLUTIONS):
            x, ahead = system.solve(-r, np.concatenate([others, place[bound]]), -system.dual.sums(delta), CG_ACCURACY)
            new = old + (delta + x)[place]
            out = (new < dual.lower) | (new > dual.upper)
            if np.count_nonzero(out | bound) > LEAVING * len(ids) or not np.isfinite(new).all() or self.stopped():
                return None
            inside = np.clip(new, dual.lower, dual.upper)
            delta, cut = delta + x, np.zeros(len(delta))
            cut[place[out]] = (inside - new)[out]
            delta[place] = inside - old
            r = r + ahead + system.times(cut)[0]
            even = np.abs(system.dual.sums(delta)) <= EQUALITIES_MISSED * np.abs(old).sum()
            before, rest = rest, norm(system.slope(r, np.concatenate([others, place[bound | out]])))
            fine = system.factor.exact or rest <= GRADIENT_LEFT * first or rest > 0.5 * before  # rounding
            if even.all() and fine and not (out & ~bound).any():
                length = self._length(delta[place], slope, dot(delta[place], r[place] - slope))
                new = np.clip(old + min(length, 1.0) * delta[place], dual.lower, dual.upper)
                return new if length > 0.0 else None
            bound |= out
        return None

    def _length(self, change: Vector, slope: Vector, curvature: float) -> float:
        """Return the best point of a segment, as a fraction of its length; 0 if the objective does not fall."""
        descent = -dot(change, slope)
        return descent / curvature if descent > 0.0 and curvature > 0.0 else 0.0

    def _prepare(self, beta: Vector, ids: Ids) -> System:
        """Return a system for these variables: the last one if it still serves."""
        if self.system is None or not self.system.serves(ids):
            self.system = None  # the old factor goes before the new one comes
            room = np.minimum(beta - self.dual.lower, self.dual.upper - beta)[ids]
            if self.dual.epsilon:
                room = np.minimum(room, np.abs(beta[ids]))
            order = np.argsort(-room, kind="stable")  # variables likely to leave cost least at the end of a factor
            self.system = System(self.view, self.dual, self._parts(len(ids)), ids[order], self.stopped)
        return self.system
