"""The parts of sums that several loops share; the compiler puts them into the loops."""

from __future__ import annotations

from typing import Any

from .cache.jit import jit


@jit(inner=True)
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b and the rounding of this addition (D. E. Knuth's TwoSum)."""
    total = a + b
    taken = total - a
    return total, (a - (total - taken)) + (b - taken)


@jit(inner=True)
def four(w0: float, k0: Any, w1: float, k1: Any, w2: float, k2: Any, w3: float, k3: Any) -> float:
    """Return the sum of four products: with four rows at a time, the sums of rows are read and written less often."""
    return ((w0 * k0 + w1 * k1) + w2 * k2) + w3 * k3
