"""Homotopy: follows the exact solution while the program changes, so that it need not be found anew.

Problem   any program of ``problems.dual``. Its targets t, bounds l and u and sums s go to those of another program
          along a straight line: samples come and go, several at once, or C, a weight or nu changes.
Path      the solution moves linearly while the same variables are free. These solve the margin system

              [H_FF A_F'; A_F 0] [beta_F'; mu'] = [t_F' - H_FB beta_B'; s' - A_B beta_B'],

          where ' is the rate. The others stay on their bounds, which may move (0 is a further bound where it is a
          kink). At the first event a free variable meets a bound, or a variable outside gains by leaving its bound.
Degenerate a variable that depends on the free ones (equal samples, a kernel of low rank) moves with them in the
          direction of no curvature. The first that meets a bound makes room. If an equality has no free variable,
          its multiplier moves until one can be free. If several events happen at once, the first variable's comes
          first. If many have followed each other without a step, as in a circle, variables before it wait.
Start     a solution up to a tolerance is exact for targets that differ by as much; the first path leads from these
          targets to those of the program.
Source    G. Cauwenberghs, T. Poggio, NIPS 13 (2001); P. Laskov et al., JMLR 7 (2006) 1909-1936; T. Hastie et al., JMLR
          5 (2004) 1391-1415 (the path in C); C. P. Diehl, G. Cauwenberghs, IJCNN (2003).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Ids, Vector
from ...problems import Dual
from ...threads.gate import one_blas_thread
from .state import ROWS_ASKED, SNAP, Matrix, PathState, RowsOf, Stalled, knots_of
from .step import RATES_NOT_FINITE, STILL, advance

DRIFT = 1e-10  # Drift of the gradient, relative to its terms, above which it is computed anew.
LOOSE = 1e-9  # Fraction of the sum of all sizes; equalities missed by more are lost.
ARRIVED = 1e-12  # Fraction of the way below which the rest is rounding.
IDLE_EVENTS = 20  # Events at one place, for each free variable, after which the path is given up.


class Homotopy(PathState):
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
    n_event, n_refresh : events on the way; gradients computed anew because of drift
    """

    def __init__(self, rows: RowsOf, dual: Dual, beta: Vector, g: Vector) -> None:
        super().__init__(rows, dual, beta, g)
        self.n_event = self.n_refresh = 0
        self.follow(dual)

    def follow(self, target: Dual, watch: Callable[[float], None] | None = None) -> None:
        """Go to the solution of another program over the same variables.

        ``watch`` is called at each event, with the fraction of the way that is done.

        Raises
        ------
        Stalled
            The state is then not a solution.
        """
        moves = self._follow(target, watch)
        self._load(target)
        if moves:
            self._close()
            self._hold()

    def _follow(self, target: Dual, watch: Callable[[float], None] | None = None) -> bool:
        """Follow the program; return whether there was a way to go."""
        start, (ends, _) = self.knots.copy(), knots_of(target)
        with np.errstate(invalid="ignore"):
            change = np.where(ends == start, 0.0, ends - start)
        if not np.isfinite(change).all():
            raise Stalled  # a bound that becomes finite, or infinite
        self.rate_knots, rate_t = change, target.t - self.dual.t
        rate_sums = np.array(target.totals) - self.sums
        moves = bool(change.any() or rate_t.any() or rate_sums.any())
        if moves:
            self.rate_product = self._product(self._rate_fixed())
            self._go(start, ends, rate_t, rate_sums, watch)
        self.dual = target
        return moves

    def _go(self, start: Matrix, ends: Matrix, rate_t: Vector, rate_sums: Vector, watch: Any) -> None:
        done, idle = 0.0, 0
        # The fields of ``PathPoint`` and of ``Course``; all that follows changes these arrays in place.
        point = self.at, self.piece, self.knots, self.slopes, self.border, self.beta, self.g, self.mu, self.sums
        course = start, ends, self.rate_knots, rate_t, rate_sums, self.rate_product
        while True:
            if not self._supply(rate_sums):
                if done < 1.0 - ARRIVED:
                    raise Stalled
                self._arrive(ends, (1.0 - done) * (self.rate_product - rate_t))
                return
            before, patience = done, self.free.m + 10
            begin = idle % len(self.beta) if idle > patience else 0
            free = *self.margin.factor, self.ids, self.free.values, self.free.where
            done, one, side, knot = advance(free, point, course, self.largest, done, begin)
            if one == RATES_NOT_FINITE:
                raise Stalled
            if watch is not None:
                watch(done)
            if one < 0:
                return
            self.n_event += 1
            idle = 0 if done > before else idle + 1
            if idle > IDLE_EVENTS * patience:
                raise Stalled
            if knot >= 0:
                self._leave(one, knot)
            else:
                self._leave_knot(one, side)

    def _arrive(self, ends: Matrix, rest: Vector) -> None:
        """Go the last bit, which is rounding, with no variable free."""
        fixed = np.flatnonzero(self.at >= 0)
        self.knots = ends.copy()
        self.beta[fixed] = ends[self.at[fixed], fixed]
        self.g += rest

    def _supply(self, rate_sums: Vector) -> bool:
        """Give each equality whose sum must change a free variable to change it; return False if none can be free."""
        if self.margin.held:
            return True
        rates = self._rate_fixed()
        sizes = np.abs(rate_sums) + np.abs(rates) @ np.abs(self.border)
        for r, need in enumerate(rate_sums - rates @ self.border):
            a = self.border[:, r]
            if abs(need) <= STILL * sizes[r] or (a[self.ids] != 0.0).any():
                continue
            least, most = self._slack(r)
            mine = np.flatnonzero(a != 0.0)
            ends = least if need > 0.0 else -most  # the multiplier falls to the largest ``least``, or rises
            if not np.isfinite(ends).any():
                return False
            k = int(np.argmax(ends))
            self.mu[r] = least[k] if need > 0.0 else most[k]
            side = 1 if (need > 0.0) == (a[mine[k]] > 0.0) else -1
            self._leave_knot(int(mine[k]), side)
        return True

    def _close(self) -> None:
        """Remove what rounding has left: the residual of the margin system, and the drift of the gradient."""
        self._snap()
        if not len(self.ids):
            return
        ids, piece = self.ids, self.piece[self.ids]
        exact = self.free.products(self.beta) - self.dual.t[ids]
        if np.abs(exact - self.g[ids]).max() > DRIFT * (self.largest * np.abs(self.beta).sum() + 1.0):
            self.refresh()
        left = -(self.g[ids] + self.slopes[piece] + self.border[ids] @ self.mu)
        d, mu = self.margin.solve(left, self.sums - self.beta @ self.border)
        new = np.clip(self.beta[ids] + d, self.knots[piece, ids], self.knots[piece + 1, ids])
        if np.abs(new - self.beta[ids] - d).max() <= SNAP * np.abs(self.beta).max():  # else d is rounding, magnified
            self.mu += mu
            self.g += self.free.times(new - self.beta[ids])
            self.beta[ids] = new
        self._snap()

    def _hold(self) -> None:
        """Fail if the equalities were lost on the way."""
        if np.abs(self.beta @ self.border - self.sums).max(initial=0.0) > LOOSE * np.abs(self.beta).sum():
            raise Stalled

    def refresh(self) -> None:
        """Compute the gradient anew."""
        self.g = self._product(self.beta) - self.dual.t
        self.n_refresh += 1

    def extend(self, dual: Dual) -> None:
        """Take in the last variables of a program and go to its solution; this program's variables come before them.

        From now on ``rows`` are rows over all variables.
        """
        n, begin, more = len(self.beta), self.dual, np.arange(len(self.beta), len(dual))
        new = self._rows(more) + dual.lambda2
        self.free.widen(new[:, self.ids])
        self.g = np.concatenate([self.g, np.sum(new[:, :n] * self.beta, axis=1) - dual.t[n:]])
        self.beta = np.concatenate([self.beta, np.zeros(len(more))])
        self.piece, self.at = (np.r_[v, np.full(len(more), -1)] for v in (self.piece, self.at))
        old = {name: np.r_[getattr(begin, name), getattr(dual, name)[n:]] for name in ("t", "lower", "upper")}
        if not dual.epsilon:  # 0 is no knot inside the bounds: the bounds begin at 0, too
            inside = n + np.flatnonzero((dual.lower[n:] < 0.0) & (dual.upper[n:] > 0.0))
            old["lower"][inside] = old["upper"][inside] = 0.0
        self._load(replace(dual, totals=begin.totals, **old))
        zero, h = self.knots[:, more] == 0.0, self.g[more] + self.border[more] @ self.mu
        self.at[more] = np.where(h > 0.0, np.argmax(zero, axis=0), len(zero) - 1 - np.argmax(zero[::-1], axis=0))
        self._settle(more)
        self.follow(dual)

    def including(self, dual: Dual, rows: RowsOf) -> Homotopy:
        """Return a copy that has taken in the last variables of a program, see ``extend``; this one stays as it is."""
        other = self.copy()
        other._rows = rows
        other.extend(dual)
        return other

    def release(self, gone: Ids, dual: Dual) -> None:
        """Go to the solution of a program over the same variables, in which those that go have bounds of 0."""
        self._pin(gone)
        self.follow(dual)

    def _pin(self, gone: Ids) -> None:
        """Hold some variables where they are."""
        self.knots[0, gone], self.knots[-1, gone] = np.minimum(self.beta[gone], 0.0), np.maximum(self.beta[gone], 0.0)
        for one in gone[self.beta[gone] != 0.0]:
            end = len(self.knots) - 1 if self.beta[one] > 0.0 else 0
            if self.at[one] < 0:
                self._leave(int(one), end)
            self.at[one] = end

    def drop(self, order: Ids, dual: Dual) -> None:
        """Keep the variables in ``order``, which ``compaction`` gave; the others have been released.

        ``dual`` is the program over them; from now on ``rows`` must be rows over them, too.
        """
        for one in self.ids[~np.isin(self.ids, order)]:  # free variables without room between their bounds
            self._leave(int(one), int(self.piece[one]))
        for name in ("beta", "g", "piece", "at"):
            setattr(self, name, getattr(self, name)[order])
        self.free.drop(order)
        self._load(dual)

    def copy(self, used: Homotopy | None = None) -> Homotopy:
        """Return another solution at the same place, which goes its own way; ``used`` is one no longer needed."""
        other = copy(self)
        for name in ("beta", "g", "mu", "sums", "piece", "at", "knots", "rate_product"):
            setattr(other, name, getattr(self, name).copy())
        other.free = self.free.copy(None if used is None else used.free)
        other.margin = self.margin.copy(None if used is None else used.margin)
        return other

    @property
    def offset(self) -> float:
        """b of the program's decision function; the middle of its interval if no variable is free."""
        if self.dual.sign is None and len(self.mu):
            mu = self.mu if self.margin.held else self._multipliers()
            return float(mu.sum()) / len(mu)
        return self.dual.lambda2 * float(self.beta.sum())

    def straight(self) -> Vector:
        """Return each free variable's decision value without it, or nan if an event is on the way there.

        If the free variables answer at constant rates while one of them goes to 0, one solution of the margin system
        gives the end (O. Chapelle, V. Vapnik, NIPS 12 (2000): the span).
        """
        if not len(self.ids):
            return np.zeros(0)
        with one_blas_thread():  # products this small are not worth waking the others
            D, M = self.margin.inverse()
            parts = np.split(np.arange(len(D)), range(ROWS_ASKED, len(D), ROWS_ASKED))
            return np.concatenate([self._straight(some, D[some], M[some]) for some in parts])

    def _straight(self, some: Ids, D: Matrix, M: Matrix) -> Vector:
        """Return the decision values for some free variables; each is a line of the arrays."""
        ids, fixed, lines = self.ids, np.flatnonzero(self.at >= 0), np.arange(len(some))
        own, mine = D[lines, some], self.border[ids] != 0.0
        alone = (mine[some] & (mine.sum(axis=0) == 1)).any(axis=1)  # nothing else can move, and nothing else holds mu
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where((own > 0.0) & ~alone, -self.beta[ids[some]] / own, np.nan)[:, None]
        mu, beta = self.mu + part * M, self.beta[ids] + part * D
        beta[lines, some] = self.beta[ids[some]]
        g = self.g + (part * D) @ self.free.table
        low, high = self._ends(fixed)
        away = -(g + mu @ self.border.T)
        near = SNAP * np.abs(beta).max(axis=1, keepdims=True)
        inside = (beta > self.knots[self.piece[ids], ids] + near) & (beta < self.knots[self.piece[ids] + 1, ids] - near)
        free = inside.all(axis=1) & ((away[:, fixed] > low) & (away[:, fixed] < high)).all(axis=1)
        b = mu.sum(axis=1) if self.dual.sign is None else 0.0
        return np.where(free, g[lines, ids[some]] + self.dual.t[ids[some]] + b, np.nan)

    def without(self, gone: Ids, dual: Dual, rows: RowsOf, used: Homotopy | None = None) -> Homotopy:
        """Return a copy with some variables released, only to be read; this solution stays as it is."""
        other = self.copy(used)
        other._rows = rows
        other._pin(gone)
        other._follow(dual)
        other._snap()
        other._hold()
        return other
