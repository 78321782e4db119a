"""The secant rule: an explicit bias for solvers that move single samples.

A solver of this kind keeps the bias b fixed for an epoch, so that sum(beta) = s does not hold. omega(b) =
sum(beta) - s at the end of an epoch falls as b grows. The bias is its zero (b is the multiplier of the equality):

    b_t = b_{t-1} - omega_{t-1} (b_{t-1} - b_{t-2}) / (omega_{t-1} - omega_{t-2}),       b_0 = mu, b_1 = -mu.

omega after one epoch is not quite a function of b, so the rule need not converge. While it does not, the solver settles
at each b before it asks for the next one. A settled omega is monotone, and the zero stays between two values of b. If
omega jumps over 0, the point with omega = 0 between the solutions on both sides is optimal, by convexity.

Source    C. Campbell, N. Cristianini, Simple learning algorithms for training support vector machines (1998), section
          3.1 (with the trap for a small denominator that it asks for); T.-M. Huang, V. Kecman (2004), eq. 14.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Vector

PATIENT_EPOCHS = 100  # Epochs in which the error must fall by a tenth; otherwise the rule is followed with care.
WIDEN = 4.0  # Factor by which a step grows while the bias that is looked for has a bound on one side only.


class _Settled(NamedTuple):
    """A bias, and the solution for it."""

    b: float
    omega: float
    beta: Vector


class Secant:
    """The bias, epoch by epoch.

    Without a ``second`` value one ``step`` follows the first. ``careful`` says that omega is wanted at the optimum for
    b, not after one epoch.
    """

    def __init__(self, first: float, step: float, second: float | None = None, careful: bool = False) -> None:
        self.b, self.careful, self._second = first, careful, second
        self._last: tuple[float, float] | None = None  # the b before this one, and its omega
        self._low: _Settled | None = None  # largest b with omega > 0
        self._high: _Settled | None = None  # smallest b with omega < 0
        self._best, self._wait, self._step = np.inf, PATIENT_EPOCHS, abs(step)

    def watch(self, error: float) -> None:
        """Note how far from a solution an epoch has ended."""
        if error <= 0.9 * self._best:
            self._best, self._wait = error, PATIENT_EPOCHS
        self._wait -= 1
        if self._wait == 0:
            self.careful, self._last = True, None

    @property
    def width(self) -> float:
        """The width of the interval that is known to hold the bias."""
        return np.inf if self._low is None or self._high is None else self._high.b - self._low.b

    @property
    def closed(self) -> bool:
        """Whether there is no number left between the ends of the interval."""
        return self.width <= 4.0 * np.spacing(abs(self.b))

    def restart(self) -> None:
        """Forget the interval: it was found with a larger tolerance."""
        if np.isfinite(self.width):
            self._step = max(self.width, 1e-12 * abs(self.b))
        self._low = self._high = self._last = None

    def blend(self, beta: Vector, width: float) -> Vector:
        """Return the point with omega = 0 if the interval is at most so wide, else ``beta``."""
        if self._low is None or self._high is None or not (self.width <= width or self.closed):
            return beta
        (_, above, low), (_, below, high) = self._low, self._high
        return (above * high - below * low) / (above - below)

    def advance(self, omega: float, beta: Vector) -> None:
        """Take the next b, given what the last one has led to."""
        here = (self.b, omega)
        self.b = self._between(_Settled(*here, beta.copy())) if self.careful else self._along(here)
        self._last = here

    def _along(self, here: tuple[float, float]) -> float:
        """Return the step as printed; if the denominator is small or has the wrong sign, a step like the last one."""
        if self._last is None:
            given, self._second = self._second, None
            return here[0] + float(np.copysign(self._step, here[1])) if given is None else given
        run, rise = here[0] - self._last[0], here[1] - self._last[1]
        if run * rise < 0 and abs(here[1] * run) <= WIDEN * WIDEN * self._step * abs(rise):
            step = -here[1] * run / rise
        else:
            step = np.copysign(self._step, here[1])
        self._step = max(abs(step), 1e-15)
        return here[0] + step

    def _between(self, here: _Settled) -> float:
        """Return regula falsi in the interval, every other time its middle; without an interval, go outwards."""
        side = here.omega > 0
        if side:
            self._low = here
        else:
            self._high = here
        if self._low is None or self._high is None:
            self._step *= WIDEN
            return here.b + (self._step if side else -self._step)
        (low, above, _), (high, below, _) = self._low, self._high
        again = self._last is not None and (self._last[1] > 0) == side
        return 0.5 * (low + high) if again else low + (high - low) * above / (above - below)


class Constant(Secant):
    """The bias by a step of constant rate, b <- b + nu omega (the first rule of section 3.1, with the sign mended)."""

    def __init__(self, first: float, nu: float) -> None:
        super().__init__(first, nu)
        self.nu = nu

    def advance(self, omega: float, beta: Vector) -> None:
        self.b += self.nu * omega
