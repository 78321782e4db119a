"""The time limit of a fit: two points in time, and the end of the making of kernel values after them.

At the deadline solvers stop. A user's function, whose calls nobody can interrupt, is no longer called. A proof of what
they reached may take a little longer, up to the limit. A thread that asks for kernel values after the limit gets
``OutOfTime`` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import Any, Self

from ..kernels import Function, Kernel

LEAST_LEFT = 1e-3  # Seconds that are left at least before the deadline.
PROOF_SHARE, PROOF_SECONDS = 0.06, 0.12  # Fraction of the time, and seconds, by which the limit is after the deadline.


class OutOfTime(Exception):
    """There is no time for more kernel values."""


@dataclass(frozen=True)
class Clock:
    """Values of ``time.monotonic()``; by default there is no limit.

    deadline : when solvers stop
    limit : when proofs also stop
    """

    deadline: float = inf
    limit: float = inf

    @classmethod
    def starting(cls, seconds: float | None) -> Self:
        """Start to count this many seconds now; None is no limit."""
        if seconds is None:
            return cls()
        now = monotonic()
        return cls(now + seconds, now + (1.0 + PROOF_SHARE) * seconds + PROOF_SECONDS)

    @property
    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline < inf and monotonic() >= self.deadline

    def left(self) -> float | None:
        """Return the seconds up to the deadline, None without one; raise OutOfTime after it."""
        self.check()
        return None if self.deadline == inf else max(LEAST_LEFT, self.deadline - monotonic())

    def part(self, fraction: float) -> Clock:
        """Return a clock that ends after this part of the time that is left."""
        seconds = self.deadline - monotonic()
        return Clock.starting(max(0.0, fraction * seconds) if seconds < inf else None)

    def check(self) -> None:
        """Raise OutOfTime after the deadline."""
        if self.late:
            raise OutOfTime

    def limited(self, kernel: Kernel) -> Kernel:
        """Return the kernel; its function, if it has one, is called only up to the deadline."""
        if not isinstance(kernel, Function) or self.deadline == inf:
            return kernel
        return replace(kernel, function=self._punctual(kernel.function))

    def _punctual(self, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def called(X: Any, Z: Any) -> Any:
            self.check()
            return function(X, Z)

        return called
