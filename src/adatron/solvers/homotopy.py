"""Homotopy: the exact solution on its way while the program changes, so that it need not be found anew.

Problem   any program of ``problems.dual``; its targets t, bounds l and u and sums s go to those of another one along a
          straight line: samples come and go, several at once, C or a weight or nu changes.
Path      the solution moves linearly while the same variables are free. These solve the margin system

              [H_FF A_F'; A_F 0] [beta_F'; mu'] = [t_F' - H_FB beta_B'; s' - A_B beta_B'],

          ' being the rate; the others stay on their bounds, which may move (0 is one more where it is a kink). At the
          first event a free variable meets a bound, or the gradient of one outside says that it gains by leaving it.
Degenerate a variable that depends on the free ones (equal samples, a kernel of low rank) moves with them along the
          direction of no curvature, until one of them meets a bound and makes room. Where an equality has no free
          variable its multiplier moves until one can be. Of several events at once the first variable's comes first.
Start     a solution up to a tolerance is exact for targets that differ by as much: the first path leads back.
Source    G. Cauwenberghs, T. Poggio, NIPS 13 (2001); P. Laskov et al., JMLR 7 (2006) 1909-1936; T. Hastie et al., JMLR
          5 (2004) 1391-1415 (the path in C); C. P. Diehl, G. Cauwenberghs, IJCNN (2003).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problems import Dual
from ..problems.dual import Ids, Vector
from .margin import Margin

Matrix = NDArray[np.float64]
Rows = Callable[[Ids], NDArray[np.float64]]
FLOOR = 1e-12  # pivots below this part of a variable's own entry are rounding
STILL = 1e-11  # rates below this part of the largest one are rounding
DRIFT = 1e-10  # of the gradient, relative to its terms; beyond it is computed anew
IDLE = 20  # events at one place, for each free variable, after which the path is given up
ROWS = 256  # of H that are asked for at a time


class Stalled(Exception):
    """Rounding has no way on; the program must be solved anew."""


class Rates(NamedTuple):
    """What changes when the program goes on a little."""

    beta: Vector
    g: Vector
    mu: Vector
    h: Vector  # g + A' mu


class Event(NamedTuple):
    """A variable that leaves a knot to the right (1) or to the left (-1), or, free before, has met a knot."""

    variable: int
    side: int
    knot: int


class Homotopy:
    """A solution that follows its program.

    Parameters
    ----------
    rows : rows of K, for the variables asked for, over all variables
    dual : the program
    beta : (n,) a solution up to a tolerance, feasible
    g : (n,) its gradient

    Attributes
    ----------
    mu : multiplier of each equality
    ids : the free variables
    n_event, n_refresh : events on the way; gradients computed anew because of drift
    """

    def __init__(self, rows: Rows, dual: Dual, beta: Vector, g: Vector) -> None:
        self._rows = rows
        self.beta, self.g = beta.copy(), g.copy()
        self.n_event = self.n_refresh = 0
        self.largest = 0.0  # entry of H seen
        n = len(dual)
        self._load(dual)
        self.ids: list[int] = []
        self.H = np.empty((0, n))
        self.margin = Margin(len(dual.totals), 1.0, FLOOR)
        self.place, self.piece, self.at = np.full((3, n), -1)
        for k in range(len(self.knots) - 1, -1, -1):
            self.at[self.beta == self.knots[k]] = k
        self.mu = self._multipliers()
        self._settle(np.arange(n))
        for one in np.flatnonzero(self.at < 0):
            self._enter(int(one), self._between(int(one)), 1)
        self.follow(dual)

    def _load(self, dual: Dual) -> None:
        self.dual = dual
        self.knots, self.slopes = _knots(dual)
        self.sums = np.array(dual.totals)
        self.border = np.zeros((len(dual), len(dual.totals)))
        for r, tie in enumerate(dual.ties() if dual.totals else []):
            self.border[tie, r] = 1.0 if dual.sign is None else dual.sign[tie]
        self.rate_knots, self.push = np.zeros_like(self.knots), np.zeros(len(dual))

    def _between(self, one: int) -> int:
        """The knot to the left of a variable that is at none."""
        return int(np.searchsorted(self.knots[:, one], self.beta[one])) - 1

    def _multipliers(self) -> Vector:
        """Those that make the gradients of the variables between knots even, or else lie in the middle."""
        mu = np.zeros(len(self.sums))
        for r, a in enumerate(self.border.T):
            loose = np.flatnonzero((a != 0.0) & (self.at < 0))
            if len(loose):
                slopes = self.slopes[[self._between(int(one)) for one in loose]]
                mu[r] = np.mean(-a[loose] * (self.g[loose] + slopes))
                continue
            least, most = self._slack(r)
            ends = np.array([np.max(least, initial=-np.inf), np.min(most, initial=np.inf)])
            ends = ends[np.isfinite(ends)]
            mu[r] = ends.mean() if len(ends) else 0.0
        return mu

    def _slack(self, r: int) -> tuple[Vector, Vector]:
        """The interval of the multiplier of an equality that each of its variables, at a knot, allows."""
        a = self.border[:, r]
        mine = np.flatnonzero(a != 0.0)
        low, high = self._ends(mine)
        first, last = -self.g[mine] - high, -self.g[mine] - low  # low <= -(g + a mu) <= high
        return np.where(a[mine] > 0, first, -last), np.where(a[mine] > 0, last, -first)

    def _ends(self, ids: Ids) -> tuple[Vector, Vector]:
        """Between which -h must be for variables at knots: the slopes to the left and to the right."""
        slopes = np.concatenate([[-np.inf], self.slopes, [np.inf]])
        return slopes[self.at[ids]], slopes[self.at[ids] + 1]

    def _settle(self, ids: Ids) -> None:
        """Change the targets of some variables so that their ``beta`` is right."""
        h = (self.g + self.border @ self.mu)[ids]
        right = np.array([-self.slopes[self._between(int(one))] if self.at[one] < 0 else 0.0 for one in ids])
        low, high = self._ends(ids)
        right = np.where(self.at[ids] < 0, right, -np.clip(-h, low, high))
        t = self.dual.t.copy()
        t[ids] -= right - h
        self.g[ids] += right - h
        self.dual = replace(self.dual, t=t)

    def follow(self, target: Dual) -> None:
        """Go to the solution of another program over the same variables.

        Raises
        ------
        Stalled
            The state is then no solution.
        """
        begin, knots = self.dual, self.knots.copy()
        ends, _ = _knots(target)
        with np.errstate(invalid="ignore"):
            change = np.where(ends == knots, 0.0, ends - knots)
        self.rate_knots, self.rate_t = change, target.t - begin.t
        rate_sums = np.array(target.totals) - self.sums
        self.push = self._product(self._rate_fixed())
        done, idle = 0.0, 0
        while True:
            self._supply(rate_sums)
            rates = self._rates(rate_sums)
            step, event = self._first(rates, 1.0 - done)
            done = 1.0 if event is None else done + step
            self.beta += step * rates.beta
            self.g += step * rates.g
            self.mu += step * rates.mu
            self.knots = ends.copy() if event is None else knots + np.where(change == 0.0, 0.0, done * change)
            self.sums = self.sums + step * rate_sums
            fixed = np.flatnonzero(self.at >= 0)
            self.beta[fixed] = self.knots[self.at[fixed], fixed]
            if event is None:
                break
            self.n_event += 1
            idle = 0 if step > 0.0 else idle + 1
            if idle > IDLE * (len(self.ids) + 10):
                raise Stalled
            if event.knot >= 0:
                self._leave(event.variable, event.knot)
            else:
                self._leave_knot(event.variable, event.side)
        self._load(target)
        self._close()

    def _rate_fixed(self) -> Vector:
        """Rates of the variables at knots, 0 for the free ones."""
        fixed = self.at >= 0
        out = np.zeros(len(self.beta))
        out[fixed] = self.rate_knots[self.at[fixed], np.flatnonzero(fixed)]
        return out

    def _product(self, v: Vector) -> Vector:
        """H v."""
        out, ids = np.zeros(len(v)), np.flatnonzero(v)
        for start in range(0, len(ids), ROWS):
            part = ids[start : start + ROWS]
            rows = self._rows(part)
            out += v[part] @ rows
            self.largest = max(self.largest, float(np.abs(rows[np.arange(len(part)), part]).max()))
        return out + self.dual.lambda2 * v.sum()

    def _rates(self, rate_sums: Vector) -> Rates:
        beta, mu = self._rate_fixed(), np.zeros(len(self.mu))
        g = self.push - self.rate_t
        if self.ids:
            d, mu = self.margin.solve(-g[self.ids], rate_sums - beta @ self.border)
            if not np.isfinite(d).all():
                raise Stalled
            beta[self.ids] = d
            g = g + self._times(d)
        return Rates(beta, g, mu, g + self.border @ mu)

    def _times(self, d: Vector) -> Vector:
        """H_F' d."""
        spread = np.empty(len(d))
        spread[self.place[self.ids]] = d
        return spread @ self.H[: len(d)]

    def _supply(self, rate_sums: Vector) -> None:
        """See that each equality whose sum must change has a free variable to do it."""
        for r, need in enumerate(rate_sums - self._rate_fixed() @ self.border):
            a = self.border[:, r]
            if abs(need) <= STILL * (1.0 + abs(rate_sums[r])) or (a[self.ids] != 0.0).any():
                continue
            least, most = self._slack(r)
            mine = np.flatnonzero(a != 0.0)
            ends = least if need > 0.0 else -most  # the multiplier falls to the largest ``least``, or rises
            if not np.isfinite(ends).any():
                raise Stalled
            k = int(np.argmax(ends))
            self.mu[r] = least[k] if need > 0.0 else most[k]
            side = 1 if (need > 0.0) == (a[mine[k]] > 0.0) else -1
            self._leave_knot(int(mine[k]), side)

    def _first(self, rates: Rates, room: float) -> tuple[float, Event | None]:
        """The first event before the end, and how far it is."""
        n = len(self.beta)
        steps, sides, knots = np.full(n, np.inf), np.zeros(n, np.int64), np.full(n, -1)
        fixed = np.flatnonzero(self.at >= 0)
        away, rate = -(self.g + self.border @ self.mu)[fixed], -rates.h[fixed]
        low, high = self._ends(fixed)
        noise = STILL * (self.largest * np.abs(rates.beta).sum() + np.abs(self.rate_t).max(initial=0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.where(rate > noise, (high - away) / rate, np.inf)
            down = np.where(rate < -noise, (low - away) / rate, np.inf)
        steps[fixed], sides[fixed] = np.minimum(up, down), np.where(up <= down, 1, -1)
        ids = np.array(self.ids, np.int64)
        piece, d = self.piece[ids], rates.beta[ids]
        noise = STILL * np.abs(rates.beta).max(initial=0.0)
        to_high, to_low = d - self.rate_knots[piece + 1, ids], d - self.rate_knots[piece, ids]
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.where(to_high > noise, (self.knots[piece + 1, ids] - self.beta[ids]) / to_high, np.inf)
            down = np.where(to_low < -noise, (self.knots[piece, ids] - self.beta[ids]) / to_low, np.inf)
        steps[ids], knots[ids] = np.minimum(up, down), np.where(up <= down, piece + 1, piece)
        steps = np.maximum(steps, 0.0)
        one = int(np.argmin(steps))
        if not steps[one] < room:
            return room, None
        return float(steps[one]), Event(one, int(sides[one]), int(knots[one]))

    def _leave_knot(self, one: int, side: int) -> None:
        self._enter(one, int(self.at[one]) if side > 0 else int(self.at[one]) - 1, side)

    def _enter(self, one: int, piece: int, side: int) -> None:
        """Make a variable free; where it depends on the free ones, they move until there is room."""
        row = self._rows(np.array([one]))[0] + self.dual.lambda2
        self.largest = max(self.largest, float(row[one]))
        if not self.ids:
            self.margin = Margin(len(self.sums), self.largest or 1.0, FLOOR)
        while not self.margin.append(row[self.ids], float(row[one]), self.border[one]):
            if self._give_way(one, piece, side, row):
                return
        if self.at[one] >= 0:
            self.push -= self.rate_knots[self.at[one], one] * row
        if len(self.ids) == len(self.H):
            self.H = np.concatenate([self.H, np.empty((max(16, len(self.H)), len(self.beta)))])
        self.H[len(self.ids)] = row
        self.place[one] = len(self.ids)
        self.ids.append(one)
        self.piece[one], self.at[one] = piece, -1

    def _give_way(self, one: int, piece: int, side: int, row: Vector) -> bool:
        """A variable that depends on the free ones moves with them, at no curvature, until the first meets a knot.

        True if that is the variable itself.
        """
        d = side * self.margin.along(row[self.ids], self.border[one])
        length, at, knot = self._room(d)
        end = piece + 1 if side > 0 else piece
        own = abs(float(self.knots[end, one] - self.beta[one]))
        if not np.isfinite(min(length, own)):
            raise Stalled
        self.beta[self.ids] += min(length, own) * d
        self.g += min(length, own) * (self._times(d) + side * row)
        if own > length:
            self.beta[one] += length * side
            self._leave(self.ids[at], knot)
            return False
        before = self.rate_knots[self.at[one], one] if self.at[one] >= 0 else 0.0
        self.push += (self.rate_knots[end, one] - before) * row
        self.beta[one], self.at[one] = self.knots[end, one], end
        return True

    def _room(self, d: Vector) -> tuple[float, int, int]:
        """How far the free variables can move along d, which one ends it, and at which knot."""
        if not len(d):
            return np.inf, -1, -1
        ids = np.array(self.ids)
        knot = self.piece[ids] + (d > 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(d != 0.0, (self.knots[knot, ids] - self.beta[ids]) / d, np.inf)
        room = np.maximum(room, 0.0)
        at = int(np.argmin(room))
        return float(room[at]), at, int(knot[at])

    def _leave(self, one: int, knot: int) -> None:
        """A free variable has met a knot and stays there."""
        row, last = self.place[one], len(self.ids) - 1
        self.push += self.rate_knots[knot, one] * self.H[row]
        moved = int(np.flatnonzero(self.place == last)[0])
        self.H[row], self.place[moved] = self.H[last], row
        self.margin.remove(self.ids.index(one))
        self.ids.remove(one)
        self.place[one], self.piece[one], self.at[one] = -1, -1, knot
        self.beta[one] = self.knots[knot, one]

    def _close(self) -> None:
        """Take away what rounding has left: the residual of the margin system, and the drift of the gradient."""
        for one in [i for i in self.ids if self.knots[self.piece[i], i] == self.knots[self.piece[i] + 1, i]]:
            self._leave(one, int(self.piece[one]))
        support = np.flatnonzero(self.beta)
        if self.ids:
            rows = self.H[self.place[self.ids]]
            exact = rows[:, support] @ self.beta[support] - self.dual.t[self.ids]
            scale = np.abs(rows[:, support]).max(initial=0.0) * np.abs(self.beta[support]).sum() + 1.0
            if np.abs(exact - self.g[self.ids]).max() > DRIFT * scale:
                self.g = self._product(self.beta) - self.dual.t
                self.n_refresh += 1
            r = -(self.g[self.ids] + self.slopes[self.piece[self.ids]])
            d, mu = self.margin.solve(r, self.sums - self.beta @ self.border)
            held = (self.border[self.ids] != 0.0).any(axis=0)
            self.mu[held] = mu[held]
            piece = self.piece[self.ids]
            new = np.clip(self.beta[self.ids] + d, self.knots[piece, self.ids], self.knots[piece + 1, self.ids])
            self.g += self._times(new - self.beta[self.ids])
            self.beta[self.ids] = new

    def extend(self, rows: Rows, dual: Dual) -> None:
        """Take in the last variables of a program, which has those of this one before them, and go to its solution.

        ``rows`` are those of K over all of them.
        """
        n, begin, more = len(self.beta), self.dual, np.arange(len(self.beta), len(dual))
        new = rows(more) + dual.lambda2
        self._rows = rows
        self.H = np.concatenate([self.H, np.empty((len(self.H), len(more)))], axis=1)
        self.H[self.place[self.ids], n:] = new[:, self.ids].T
        self.g = np.concatenate([self.g, new[:, :n] @ self.beta - dual.t[n:]])
        self.beta = np.concatenate([self.beta, np.zeros(len(more))])
        self.place, self.piece, self.at = (np.r_[v, np.full(len(more), -1)] for v in (self.place, self.piece, self.at))
        old = {name: np.r_[getattr(begin, name), getattr(dual, name)[n:]] for name in ("t", "lower", "upper")}
        self._load(replace(dual, totals=begin.totals, **old))
        self.at[more] = np.argmax(self.knots[:, more] == 0.0, axis=0)
        self._settle(more)
        self.follow(dual)

    def shrink(self, rows: Rows, dual: Dual, kept: Ids) -> None:
        """Let all variables go but those that are kept, and go to the solution of the program of these.

        ``rows`` are those of K over the kept ones.
        """
        gone = np.setdiff1d(np.arange(len(self.beta)), kept)
        t, lower, upper = self.dual.t.copy(), self.dual.lower.copy(), self.dual.upper.copy()
        lower[gone], upper[gone] = np.minimum(self.beta[gone], 0.0), np.maximum(self.beta[gone], 0.0)
        self._load(replace(self.dual, lower=lower, upper=upper))
        for one in gone[self.beta[gone] != 0.0]:
            end = len(self.knots) - 1 if self.beta[one] > 0.0 else 0
            if self.at[one] < 0:
                self._leave(int(one), end)
            self.at[one] = end
        t[kept], lower[kept], upper[kept], lower[gone], upper[gone] = dual.t, dual.lower, dual.upper, 0.0, 0.0
        self.follow(replace(self.dual, t=t, lower=lower, upper=upper, totals=dual.totals))
        for name in ("beta", "g", "place", "piece", "at"):
            setattr(self, name, getattr(self, name)[kept])
        self.ids = np.searchsorted(kept, self.ids).tolist()
        self.H, self._rows = self.H[:, kept], rows
        self._load(dual)


def _knots(dual: Dual) -> tuple[Matrix, Vector]:
    """Where each variable's term has a bound or a kink, (2 or 3, n), and its slopes in between."""
    if dual.epsilon:
        return np.stack([dual.lower, np.zeros(len(dual)), dual.upper]), np.array([-dual.epsilon, dual.epsilon])
    return np.stack([dual.lower, dual.upper]), np.zeros(1)
