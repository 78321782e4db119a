"""Active set: a small dense block to its end, where pairs and singles crawl.

Problem   any program of ``problems.dual``, given K + lambda^2 over its variables.
Update    the free variables F go to the best point of their face, [K_FF A'; A 0] [d; mu] = -[g_F; 0], or until the
          first of them meets a bound, which then leaves F. At the best point the worst violator joins F. A free
          variable that depends on the others (K is of low rank, or C is so large that most are free) walks along the
          direction of no curvature until one meets a bound. 0 is a bound where it is a kink.
Stop      no violation above tol; or ``budget`` multiply-adds are used up; or a flag.
Source    K. Scheinberg, An efficient implementation of an active set method for SVMs, JMLR 7 (2006) 2237-2257.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...problems import Dual
from ...problems.dual import Ids, Vector, dot
from ..margin import Margin

CALL = 1e5  # multiply-adds in the time that a step takes beside them


def price(free: int) -> float:
    """What a walk costs that begins with so many free variables, in multiply-adds, if few join and leave."""
    return 2.0 * free**3 + 4.0 * CALL * free


class Violator(NamedTuple):
    """A variable that gains by moving up (side 1) or down (-1); with it one for the other side, if it needs one."""

    violation: float
    ups: list[int]
    downs: list[int]


class ActiveSet:
    """One block on its way; ``beta`` and ``g`` are where it is."""

    def __init__(self, K: NDArray[np.float64], dual: Dual, beta: Vector, g: Vector, floor: float) -> None:
        self.K, self.dual, self.beta, self.g = K, dual, beta.copy(), g.copy()
        self.sums = dual.sums(beta)
        self.low, self.high, self.kink = dual.lower.copy(), dual.upper.copy(), np.zeros(len(beta))
        self.ids: list[int] = []  # F
        self.margin = Margin(len(dual.totals), float(np.abs(np.diagonal(K)).max()), floor)
        self.border = np.zeros((len(beta), len(dual.totals)))
        for tie, column in zip(dual.ties(), self.border.T, strict=False):
            column[tie] = 1.0
        self.mu = np.zeros(len(dual.totals))
        self.steps, self.spent = 0, 0.0

    def run(self, tol: float, budget: float, stop: NDArray[Any], most: int) -> int:
        """Walk; returns the number of steps, which is at most ``most`` but for the last few."""
        for one in np.flatnonzero(self.dual.free(self.beta)):
            if not self._enter(int(one), float(np.sign(self.beta[one]))):
                return self.steps
        while self._settle() and self.spent < budget and self.steps < most and not stop[0]:
            worst = self._worst()
            if worst.violation <= tol:
                break
            if not all([self._enter(i, 1.0) for i in worst.ups] + [self._enter(j, -1.0) for j in worst.downs]):
                break
        return self.steps

    def _worst(self) -> Violator:
        """The worst violator outside F; the worst pair, where an equality has no variable in F."""
        grow, shrink = self.dual.growth(self.beta, self.g), self.dual.shrinkage(self.beta, self.g)
        inside = np.zeros(len(self.g), bool)
        inside[self.ids] = True
        worst = Violator(0.0, [], [])
        for r, tie in enumerate(self.dual.ties()):
            places = np.arange(len(self.g))[tie]
            paired = bool(self.dual.totals) and not inside[places].any()
            level = self.mu[r] if self.dual.totals and not paired else 0.0
            out = places[~inside[places]]
            if not len(out):
                continue
            i, j = out[np.argmax(grow[out])], out[np.argmax(shrink[out])]
            up, down = float(grow[i] - level), float(shrink[j] + level)
            if paired:
                found = Violator(up + down, [int(i)], [int(j)])
            else:
                found = Violator(up, [int(i)], []) if up > down else Violator(down, [], [int(j)])
            worst = max(worst, found, key=lambda one: one.violation)
        return worst

    def _enter(self, one: int, side: float) -> bool:
        """Take a variable into F; where it depends on F, move all that is needed. False if nothing bounds the way."""
        self._bound(one, side)
        while True:
            column = self.K[one, self.ids]
            if self.margin.append(column, float(self.K[one, one]), self.border[one]):
                self.ids.append(one)
                return True
            ids = np.array([*self.ids, one])
            d = np.append(self.margin.along(column, self.border[one])[0], 1.0)
            descent = -dot(self.g[ids] + self.kink[ids], d)
            d, descent = (d, descent) if descent > 0.0 else (-d, -descent)
            curvature = dot(d, self._times(ids, d)[ids])
            length, at = self._room(ids, d)
            if curvature > 0.0 and descent < length * curvature:
                self._move(ids, d, descent / curvature, None)
                return True
            if not np.isfinite(length):
                return False
            self._move(ids, d, length, at)
            if at == len(self.ids):
                return True
            self._leave(at)

    def _bound(self, one: int, side: float) -> None:
        """Keep a variable on its side of the kink."""
        if self.dual.epsilon:
            plus = self.beta[one] > 0.0 or (self.beta[one] == 0.0 and side > 0.0)
            self.low[one], self.high[one] = (0.0, self.dual.upper[one]) if plus else (self.dual.lower[one], 0.0)
            self.kink[one] = self.dual.epsilon if plus else -self.dual.epsilon

    def _settle(self) -> bool:
        """To the best point of the face. False if rounding has no way there."""
        while self.ids:
            ids = np.array(self.ids)
            try:
                d, self.mu = self.margin.solve(-(self.g[ids] + self.kink[ids]), self.sums - self.dual.sums(self.beta))
            except np.linalg.LinAlgError:
                return False
            if not np.isfinite(d).all():
                return False
            length, at = self._room(ids, d)
            if length >= 1.0:
                self._move(ids, d, 1.0, None)
                break
            self._move(ids, d, length, at)
            self._leave(at)
        return True

    def _room(self, ids: Ids, d: Vector) -> tuple[float, int]:
        """How far along d until the first variable meets a bound, and its place."""
        ends = np.where(d > 0.0, self.high[ids], self.low[ids])
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(d != 0.0, (ends - self.beta[ids]) / d, np.inf)
        at = int(np.argmin(room))
        return max(float(room[at]), 0.0), at

    def _times(self, ids: Ids, d: Vector) -> Vector:
        self.steps += 1
        self.spent += CALL + len(ids) * (len(self.g) + 4.0 * len(ids))
        return np.dot(d, self.K[ids])

    def _move(self, ids: Ids, d: Vector, length: float, at: int | None) -> None:
        """Move along d; the variable at the place ``at`` has met its bound."""
        new = np.clip(self.beta[ids] + length * d, self.low[ids], self.high[ids])
        if at is not None:
            new[at] = self.high[ids[at]] if d[at] > 0.0 else self.low[ids[at]]
        self.g += self._times(ids, new - self.beta[ids])
        self.beta[ids] = new

    def _leave(self, place: int) -> None:
        self.margin.remove(place)
        del self.ids[place]
