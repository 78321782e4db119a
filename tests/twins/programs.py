"""Dense twins of problems, certificates and solvers: whole matrices in float64, brute force, nothing clever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from adatron.problems import Dual

Vector = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Program:
    """minimise ½ β'Qβ - t'β subject to l <= β <= u and, with ``total``, Σβ = total. Q is K + λ²."""

    Q: Any
    t: Vector
    lower: Vector
    upper: Vector
    total: float | None

    @classmethod
    def of(cls, K: Any, dual: Dual) -> Program:
        return cls(np.asarray(K, np.float64) + dual.lambda2, dual.t, dual.lower, dual.upper, dual.total)

    @property
    def hard(self) -> bool:
        return bool(np.isinf(self.upper).any() or np.isinf(self.lower).any())

    def gradient(self, beta: Vector) -> Vector:
        return self.Q @ beta - self.t

    def objective(self, beta: Vector) -> float:
        return float(0.5 * beta @ self.Q @ beta - self.t @ beta)

    def feasible(self, beta: Vector, residual: float) -> bool:
        inside = (beta >= self.lower).all() and (beta <= self.upper).all()
        return bool(inside and (self.total is None or abs(beta.sum() - self.total) <= residual))

    def violation(self, beta: Vector, g: Vector | None = None) -> float:
        """The largest pair (with an equality) or single variable that violates the KKT conditions, pair by pair."""
        g = self.gradient(beta) if g is None else g
        grow = [-g[i] for i in range(len(g)) if beta[i] < self.upper[i]]
        shrink = [g[i] for i in range(len(g)) if beta[i] > self.lower[i]]
        if self.total is not None:
            return max((a + b for a in [max(grow, default=-np.inf)] for b in shrink), default=0.0, key=float)
        return max([0.0, *grow, *shrink])

    def gap(self, beta: Vector) -> float:
        """The smallest duality gap over every multiplier that could be the best one."""
        g = self.gradient(beta)
        return min(self._gap_at(beta, g, mu) for mu in self._multipliers(g))

    def _multipliers(self, g: Vector) -> Any:
        """The kinks of the gap; for a hard margin the crossings of a margin that grows with one that falls."""
        if self.total is None:
            return [0.0]
        if not self.hard:
            return np.unique(-g)
        z = g + self.t
        return -0.5 * np.unique(np.add.outer(z[self.t > 0], z[self.t < 0]))

    def _gap_at(self, beta: Vector, g: Vector, mu: float) -> float:
        """max over l <= v <= u of (g + μ)'(β - v): at a corner. Hard margin: (w, b) scaled to margin 1."""
        h = g + mu
        if self.hard:
            margin = (1.0 + self.t * h).min()
            return np.inf if margin <= 0 else 0.5 * beta @ self.Q @ beta / margin**2 + self.objective(beta)
        return float(
            sum(max(h[i] * (beta[i] - self.lower[i]), h[i] * (beta[i] - self.upper[i])) for i in range(len(g)))
        )

    def primal(self, beta: Vector, b: float) -> float:
        """½|w|² + Σ C_i max(0, 1 - y_i f_i): C-SVC only."""
        margins = self.t * (self.Q @ beta + b)
        C = self.upper - self.lower
        return float(0.5 * beta @ self.Q @ beta + (C * np.maximum(0.0, 1.0 - margins)).sum())

    def solve(self, steps: int = 2000) -> Vector:
        """A good feasible point: pairs or single variables one at a time, then Newton steps on the free ones.

        What rests on it holds for any feasible point; how good it is decides only how sharp the test is.
        """
        beta = np.zeros(len(self.t))
        g = self.gradient(beta)
        for _ in range(steps):
            if not self._step(beta, g):
                break
        for _ in range(20):
            better = self._newton(beta)
            if better is None or self.objective(better) > self.objective(beta):
                break
            beta = better
        return beta

    def _step(self, beta: Vector, g: Vector) -> bool:
        grow = np.where(beta < self.upper, -g, -np.inf)
        shrink = np.where(beta > self.lower, g, -np.inf)
        i, j = int(np.argmax(grow)), int(np.argmax(shrink))
        if self.total is not None:
            if grow[i] + shrink[j] <= 1e-12:
                return False
            curvature = max(self.Q[i, i] + self.Q[j, j] - 2 * self.Q[i, j], 1e-14)
            d = min((grow[i] + shrink[j]) / curvature, self.upper[i] - beta[i], beta[j] - self.lower[j])
            beta[i] += d
            beta[j] -= d
            g += d * (self.Q[i] - self.Q[j])
        else:
            i = i if grow[i] >= shrink[j] else j
            if max(grow[i], shrink[i]) <= 1e-12:
                return False
            new = min(max(beta[i] - g[i] / max(self.Q[i, i], 1e-14), self.lower[i]), self.upper[i])
            g += (new - beta[i]) * self.Q[i]
            beta[i] = new
        return True

    def _newton(self, beta: Vector) -> Vector | None:
        """The minimum over the free variables, as far as the box allows."""
        free = np.flatnonzero((beta > self.lower) & (beta < self.upper))
        if not len(free):
            return None
        n, border = len(free), int(self.total is not None)
        A = np.zeros((n + border, n + border))
        A[:n, :n] = self.Q[np.ix_(free, free)]
        A[:n, n:] = A[n:, :n] = 1.0
        step = np.linalg.lstsq(A, np.concatenate([-self.gradient(beta)[free], np.zeros(border)]), rcond=None)[0][:n]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, self.upper[free] - beta[free], self.lower[free] - beta[free]) / step
        length = min(1.0, float(np.min(room[step != 0], initial=1.0)))
        out = beta.copy()
        out[free] = np.clip(beta[free] + length * step, self.lower[free], self.upper[free])
        return out

    def optimum(self) -> float:
        """min D for some hundreds of variables, by peers: LIBSVM (with an equality) or L-BFGS-B (without)."""
        if self.total is None:
            bounds = list(zip(self.lower, self.upper, strict=True))
            out = minimize(
                lambda b: (self.objective(b), self.gradient(b)), np.zeros(len(self.t)), jac=True, bounds=bounds,
                method="L-BFGS-B",
                options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 50},
            )  # fmt: skip
            return float(out.fun)
        from sklearn.svm import SVC

        C = float((self.upper - self.lower)[0])
        peer = SVC(kernel="precomputed", C=C, tol=1e-9).fit(self.Q, self.t)
        beta = np.zeros(len(self.t))
        beta[peer.support_] = peer.dual_coef_[0]
        return self.objective(beta)


def feasible_point(rng: np.random.Generator, dual: Dual) -> Vector:
    """A random feasible β of a C-SVC, some of its variables at their bounds."""
    reach = np.where(np.isinf(dual.upper - dual.lower), 3.0, dual.upper - dual.lower)
    alpha = rng.uniform(0, 1, len(dual)) * rng.integers(0, 2, len(dual))
    alpha[rng.uniform(size=len(dual)) < 0.2] = 1.0
    alpha *= reach
    if dual.total is not None:
        up, down = alpha[dual.t > 0].sum(), alpha[dual.t < 0].sum()
        low = min(up, down)
        for side, total in ((dual.t > 0, up), (dual.t < 0, down)):
            if total > 0:
                alpha[side] *= low / total
    return np.clip(np.sign(dual.t) * alpha, dual.lower, dual.upper)
