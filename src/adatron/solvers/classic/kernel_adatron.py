"""Kernel-Adatron: gradient ascent, one sample after the other.

Problem   any program of ``problems.dual``: classification and regression, hard and soft margin, all forms of the bias.
Update    for i = 1, ..., n:  alpha_i <- clip(alpha_i + eta_i (1 - y_i z_i - y_i b), 0, C),  z = K (alpha y)
          (eq. 2 and steps 4, 6). Here this is beta_i <- clip(beta_i - eta_i (g_i + b)). The best rate of a pattern is
          eta_i = 1 / K(x_i, x_i). A constant rate must lie in 0 < eta < 2 / max K(x_i, x_i) (eq. 5; for a polynomial
          kernel K(x, x) = (gamma |x|^2 + coef0)^degree). Over-relaxation has the rate omega / K(x_i, x_i). Without a
          bias b = 0. With one b follows the secant rule, once an epoch (steps 3, 7), or the first rule of
          section 3.1, b <- b + nu sum(beta) (the sign is the one that converges). An augmented bias is part of K.
Stop      violation <= tol. A classifier may also stop when the margin 1/2 (min z over y = 1 - max z over y = -1), of
          the samples with alpha_i < C, reaches ``margin``. A margin near 1 is necessary for a solution, but not
          sufficient. With the secant rule the sum may then be far from s; the model is taken after the sum is restored.
Source    C. Campbell, N. Cristianini, Simple learning algorithms for training support vector machines (1998);
          O. L. Mangasarian, D. R. Musicant, Successive overrelaxation for support vector machines, IEEE Trans. Neural
          Networks 10 (1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arrays import Vector
from ...certificates import intercept
from ...gram import View
from ...problems import Dual
from ...quoted import quoted
from ..base import Options, Solver, Watch
from ..results import Solution, Status
from ..tasks import State
from .secant import Constant, Secant
from .sweeps import Sweeps, visits

NOT_ZERO = 1e-300  # in place of a kernel that is zero everywhere


@dataclass(frozen=True)
class KernelAdatron(Solver):
    """Kernel-Adatron.

    Parameters
    ----------
    rate : float, default=None
        Constant learning rate, in (0, 2 / max K(x, x)); None is the best rate of each pattern, 1 / K(x, x).
    margin : float, default=None
        Stop when the margin has reached this (the paper: 0.99, 0.999); None stops by the KKT conditions.
    mu : float, default=0.1
        First value of the bias; the second one is -mu.
    nu : float, default=None
        Constant rate of the bias; None is the secant rule.
    omega : float, default=1.0
        Over-relaxation of the best rates, in (0, 2).
    order : 'content', 'given' or int, default='content'
        Order of the visits: that of the library, that of the rows of X (the papers), or a random one with this seed.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.solvers import KernelAdatron
    >>> SVC(solver=KernelAdatron()).fit([[0.0], [1.0]], [0, 1]).predict([[0.2]])
    array([0])
    """

    rate: float | None = None
    margin: float | None = None
    mu: float = 0.1
    nu: float | None = None
    omega: float = 1.0
    order: str | int = "content"
    unit: ClassVar[str] = "epochs"
    traced: ClassVar[tuple[str, ...]] = ("margin", "bias")

    def __post_init__(self) -> None:
        if self.nu is not None and not self.nu > 0.0:
            raise ValueError(
                f"The 'nu' parameter of KernelAdatron must be > 0, or None. Got {quoted(self.nu)} instead."
            )

    def accepts(self, dual: Dual) -> bool:
        return dual.one_sum or not dual.totals

    def most(self, n: int) -> int:
        return 200_000

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        return _KernelAdatron(self, view, dual, options, state, watch).solve()


class _KernelAdatron(Sweeps[KernelAdatron]):
    def __init__(
        self, how: KernelAdatron, view: View, dual: Dual, options: Options, state: State | None, watch: Watch
    ) -> None:
        if how.margin is not None and not (np.abs(dual.t) == 1).all():
            raise ValueError(
                f"The 'margin' parameter of KernelAdatron is for classifiers. Got {quoted(how.margin)} instead."
            )
        super().__init__(how, view, dual, options, state, watch)
        warm = bool(dual.totals) and bool(self.beta.any())
        first = intercept(dual, self.beta, self.g) if warm else how.mu
        if how.nu is not None:
            self.secant = Constant(first, how.nu)
        else:
            self.secant = Secant(first, how.mu) if warm else Secant(first, how.mu, -how.mu)

    def prepare(self) -> None:
        super().prepare()
        self.rate = legal_rate(self.how.rate, self.diagonal, self.how.omega)
        self.order = visits(self.how.order, self.view)

    def ascend(self, tol: float) -> Status:
        if self.dual.totals:
            return self._with_bias(tol)
        while True:
            status = self._pause(self.violation(), tol, 0.0)
            if status is not None:
                return status
            self.epoch(0.0)

    def _with_bias(self, tol: float) -> Status:
        secant = self.secant
        secant.restart()
        while True:
            self.epoch(secant.b)
            omega = float(self.beta.sum()) - self.dual.totals[0]
            violation = max(0.0, float(self.inward(secant.b).max()))
            rest = abs(omega) * self.view.magnitude
            error = 2.0 * max(violation, min(2.0 * rest, secant.width))
            status = self._pause(error, tol, secant.b)
            if status is not None:
                self.restore(secant.b, secant.blend(self.beta, 0.5 * tol))
                return status
            secant.watch(error)
            if not secant.careful or violation <= 0.25 * tol:
                secant.advance(omega, self.beta)

    def _pause(self, error: float, tol: float, b: float) -> Status | None:
        margin = self._margin()
        status = self.pause(error, tol, margin, b)
        reached = self.how.margin is not None and margin >= self.how.margin
        return Status.RULE if reached and status is None else status

    def _margin(self) -> float:
        z, below = self.g + self.dual.t, np.abs(self.beta) < np.maximum(self.dual.upper, -self.dual.lower)
        plus, minus = z[below & (self.dual.t > 0)], z[below & (self.dual.t < 0)]
        return 0.5 * float(plus.min() - minus.max()) if len(plus) and len(minus) else np.nan


def legal_rate(rate: float | None, diagonal: Vector, omega: float = 1.0) -> Vector:
    """Return the rate of every pattern: omega / K(x, x), or a constant; refuse one with which the dual might fall."""
    largest = max(float(diagonal.max()), NOT_ZERO)
    if not 0.0 < omega < 2.0:
        raise ValueError(
            f"The 'omega' parameter must lie in (0, 2), or the dual may fall. Got {quoted(omega)} instead."
        )
    if rate is None:
        return omega / np.maximum(diagonal, 1e-15 * largest + NOT_ZERO)
    if not 0.0 < rate < 2.0 / largest:
        raise ValueError(
            f"The learning rate must lie in (0, {2.0 / largest:.6g}), 2 / max K(x, x), or the dual objective may fall. "
            f"Got {quoted(rate)} instead; None takes the best rate of each pattern."
        )
    return np.full(len(diagonal), rate)
