"""Interior point: a whole program at once, for programs whose variables mostly stay free, where blocks crawl.

Problem   any program of ``problems.dual`` with finite bounds on both sides of 0. Each variable has a growing part
          v in [0, u], or a shrinking one in [0, -l], or both. w is the sum of the parts in each row of K:
          1/2 w'(K + lambda^2 11')w + c'v  over  A v = s.
Update    Newton's method on g - z + y = 0, v z = tau, (u - v) y = tau, with Mehrotra's predictor and corrector. Let
          D = (z / v + y / (u - v))^-1, and E be the sums of D in each row. Every step is a system in
          K + lambda^2 + E^-1. It is well conditioned for any K, so one Cholesky factor in tiles, in float64, is enough.
          With a linear kernel it is a system of the features, see ``linalg.features``.
Stop      the complementarity v z + (u - v) y is small against the objective, or rounding lets nothing more be gained.
          The caller goes on from there: parts whose multiplier outweighs the tolerance are on their bounds.
Cost      ten to twenty factors of all rows; with a linear kernel up to sixty, of the features.
Source    S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Optim. 2 (1992); M. C.
          Ferris, T. S. Munson, Interior-point methods for massive support vector machines, SIAM J. Optim. 13 (2002).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...arrays import Matrix
from ...gram import View
from ...problems import Dual
from ...problems.dual import Ids, Vector, dot
from ..linalg.factor import Factor, Stopped
from ..linalg.features import ByFeatures
from ..start import feasible

FACTORS_NEEDED = 20.0  # Factors of a whole solution, as a rule.
GAP_ACCURACY = 1e-9  # Fraction of the objective at which the complementarity ends the solution.
ROUNDED_GAP = 1e-7  # Fraction of the largest |w|^2 of the parts: a complementarity far below it is rounding.
SHORT = 0.1  # Length of a predictor below which it says little of the way beyond.
SHY = 0.995  # Fraction of the way to the nearest bound that a step goes.
WORSE = 1e3  # Multiple of the smallest residual so far above which a residual shows rounding.


class SignedParts(NamedTuple):
    """The parts of the variables, one entry each.

    of : the variable of each
    row : its row of K
    sign : 1 if it adds to its variable, else -1
    other : the part of the other sign in the same row, or -1
    top, cost : u or -l, and c
    A : (equalities, parts)
    """

    of: Ids
    row: Ids
    sign: Vector
    other: Ids
    top: Vector
    cost: Vector
    A: Matrix

    def rows(self, values: Vector, n: int) -> Vector:
        """Return the sum of the parts in every row."""
        return np.bincount(self.row, values, n).astype(np.float64)


def parts_of(dual: Dual, row: Ids) -> SignedParts | None:
    """Return the parts; None where two parts of one sign share a row, or 0 is not between the bounds."""
    if dual.unbounded or dual.lower.max(initial=0.0) > 0.0 or dual.upper.min(initial=0.0) < 0.0:
        return None
    plus, minus = np.flatnonzero(dual.upper > 0.0), np.flatnonzero(dual.lower < 0.0)
    of, sign = np.concatenate([plus, minus]), np.repeat([1.0, -1.0], [len(plus), len(minus)])
    place = np.full((2, int(row.max(initial=-1)) + 1), -1)
    for side, ids, first in ((0, plus, 0), (1, minus, len(plus))):
        place[side, row[ids]] = first + np.arange(len(ids))
        if np.count_nonzero(place[side] >= 0) < len(ids):
            return None
    own = row[of]
    other = np.concatenate([place[1, row[plus]], place[0, row[minus]]])
    A = np.zeros((len(dual.totals), len(of)))
    entry = sign if dual.sign is None else sign * dual.sign[of]
    for line, number in zip(A, range(len(A)), strict=True):
        line[:] = np.where(True if dual.row is None else dual.row[of] == number, entry, 0.0)
    top = np.where(sign > 0, dual.upper[of], -dual.lower[of])
    return SignedParts(of, own, sign, other, top, dual.epsilon - sign * dual.t[of], A)


def price(rows: int, entry: float) -> float:
    """Return the multiply-adds of a whole solution."""
    return FACTORS_NEEDED * (rows**3 / 3.0 + 6.0 * entry * rows**2)


def interior(view: View, dual: Dual, beta: Vector, stopped: Callable[[], bool], by_features: bool) -> Vector | None:
    """Return the solution of a program, up to what is left in its free variables; None if none can be found.

    view : in float64
    beta : tells the size of the variables
    by_features : for a linear kernel with few features
    """
    _, first, row = np.unique(view.samples, return_index=True, return_inverse=True)
    if len(first) == len(dual):
        first = row = np.arange(len(dual))
    parts = parts_of(dual, row)
    if parts is None:
        return None
    with np.errstate(all="ignore"):  # values that are not finite are no improvement
        rows = view if len(first) == len(dual) else view.narrowed(first)
        system = ByFeatures(rows, dual.lambda2, stopped) if by_features else ByRows(rows, dual.lambda2, stopped)
        found = Interior(system, view.magnitude + dual.lambda2, dual, parts, beta).run()
    if found is None:
        return None
    return feasible(dual, np.bincount(parts.of, parts.sign * found, len(dual)).astype(np.float64))


class ByRows:
    """Systems of any kernel, each by a Cholesky factor of all rows of K."""

    steps, central, noise, share = 40, False, ROUNDED_GAP, 1.0

    def __init__(self, view: View, lambda2: float, stopped: Callable[[], bool]) -> None:
        self.view, self.lambda2, self.stopped = view, lambda2, stopped

    def __len__(self) -> int:
        return len(self.view)

    def times(self, w: Vector) -> Vector:
        """Return (K + lambda^2 11') w."""
        out = np.full((len(w), 1), self.lambda2 * w.sum())
        self.view.accumulate(out, self.view.points(np.arange(len(w))), w[:, None])
        return out[:, 0]

    def factor(self, E: Vector) -> Callable[[Matrix], Matrix]:
        """Return what solves (1 + E (K + lambda^2 11')) x = h for every column h."""
        factor, held = Factor(self.view, self.lambda2, 1, self.stopped, 1.0 / E), np.empty(0, np.int64)
        return lambda h: factor.solve(h / E[:, None], held)


class Interior:
    """One program on its way to the optimum.

    system : solves for the sums in each row
    largest : the largest entry of K + lambda^2 11'
    beta : tells the size of the variables
    """

    def __init__(
        self, system: ByRows | ByFeatures, largest: float, dual: Dual, parts: SignedParts, beta: Vector
    ) -> None:
        self.system, self.largest, self.parts, self.s = system, largest, parts, np.array(dual.totals)
        top = parts.top
        size = np.abs(beta[parts.of]).mean() if len(beta) else 0.0
        self.v = 0.5 * top if system.central else np.minimum(0.5 * top, max(size, 1e-3 * float(top.mean())))
        self.z = np.full(len(top), float(np.abs(parts.cost).max()) or 1.0)
        self.y = self.z.copy()
        self.mu = np.zeros(len(self.s))

    def run(self) -> Vector | None:
        """Return the parts, as accurate as rounding allows, or None if the run was told to stop."""
        best, least, largest, system = None, np.inf, self.largest, self.system
        for _ in range(system.steps):
            w = self._sum(self.v)
            g = system.times(w)[self.parts.row] * self.parts.sign + self.parts.cost
            rest = -(g + self.parts.A.T @ self.mu - self.z + self.y)
            gap = dot(self.z, self.v) + dot(self.y, self.parts.top - self.v)
            size = float(self.v.sum())
            value = abs(0.5 * dot(self.v, g + self.parts.cost)) + gap + system.noise * largest * (size * size)
            error = gap / value + system.share * float(np.abs(rest).max())
            if error < least:
                best, least = (self.v, self.z, self.y), error
            elif error > WORSE * least:
                break
            if gap <= GAP_ACCURACY * value:
                break
            try:
                self._step(rest, self.s - self.parts.A @ self.v, gap)
            except (Stopped, np.linalg.LinAlgError):
                break
        if best is None:
            return None
        v, z, y = best
        return np.where(largest * v < z, 0.0, np.where(largest * (self.parts.top - v) < y, self.parts.top, v))

    def _sum(self, v: Vector) -> Vector:
        return self.parts.rows(self.parts.sign * v, len(self.system))

    def _step(self, rest: Vector, short: Vector, gap: float) -> None:
        """Take one predictor and one corrector step with one factor."""
        parts, v, z, y = self.parts, self.v, self.z, self.y
        room = parts.top - v
        D = 1.0 / (z / v + y / room)
        E = parts.rows(D, len(self.system))
        solved = self.system.factor(E)

        def along(P: Matrix) -> Matrix:
            """Return the change of the parts for every column of right-hand sides, without the equalities."""
            h = np.column_stack([self._sum(D * p) for p in P.T])
            dw = solved(h)
            both = parts.other >= 0
            share, across = (D / E[parts.row])[:, None], np.where(both, D[parts.other], 0.0)[:, None]
            return share * (across * (P + P[parts.other]) + parts.sign[:, None] * dw[parts.row])

        begin = rest - z + y
        sides = along(np.column_stack([*parts.A, begin]))
        border, scale = sides[:, :-1], parts.A @ sides[:, :-1]

        def meet(free: Vector) -> tuple[Vector, Vector]:
            """Return a change that meets the equalities, and their multipliers."""
            mu: Vector = np.linalg.solve(scale, parts.A @ free - short) if len(parts.A) else short  # pyright: ignore
            return free - border @ mu, mu

        def lengths(dv: Vector, dz: Vector, dy: Vector) -> float:
            down = [(a, da) for a, da in ((v, dv), (room, -dv), (z, dz), (y, dy))]
            return min(1.0, *(float(np.min(-a[da < 0] / da[da < 0], initial=np.inf)) for a, da in down))

        dv, _ = meet(sides[:, -1])
        dz, dy = -z - z / v * dv, -y + y / room * dv
        a = lengths(dv, dz, dy)
        after = dot(z + a * dz, v + a * dv) + dot(y + a * dy, room - a * dv)
        target = (after / gap) ** 3 * gap / (2 * len(v))
        bend = dv if a > SHORT else a * a * dv  # over the length that a short predictor can go: this avoids cycles
        low, high = (target - bend * dz) / v, (target + bend * dy) / room
        dv, mu = meet(along((begin + low - high)[:, None])[:, 0])
        dz, dy = -z + low - z / v * dv, -y + high + y / room * dv
        a = SHY * lengths(dv, dz, dy)
        self.v, self.z, self.y, self.mu = v + a * dv, z + a * dz, y + a * dy, self.mu + a * mu
