"""The range of one parameter, which can be made wider."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

CLOSE = 1.01  # Ratio of two values up to which the second one is not worth a fit.
DIGITS = 3  # Significant digits of a value.


def rounded(value: float, digits: int = DIGITS) -> float:
    """Return a value with few digits."""
    return float(f"{value:.{digits}g}")


@dataclass(frozen=True)
class Axis:
    """Values of a parameter in ascending order.

    factor : ratio of the next value beyond an edge to the outermost one
    least, most : values beyond which nothing changes, or nothing is allowed
    """

    values: tuple[float, ...]
    factor: float
    least: float = 0.0
    most: float = inf

    def beyond(self, edge: str) -> float | None:
        """Return the next value beyond the 'smallest' or the 'largest' one; None if there is none."""
        if edge == "smallest":
            value = max(rounded(self.values[0] / self.factor), self.least)
            return value if 0.0 < value <= self.values[0] / CLOSE else None
        value = min(rounded(self.values[-1] * self.factor), self.most)
        return value if CLOSE * self.values[-1] <= value < inf else None

    def wider(self, edge: str) -> Axis:
        """Return the range with the next value beyond an edge."""
        value = self.beyond(edge)
        assert value is not None  # noqa: S101 (for the type checker)
        return replace(self, values=tuple(sorted((*self.values, value))))


def geometric(least: float, most: float, anchor: float, step: float, count: int) -> tuple[float, ...]:
    """Return values between two limits, or just beyond them, in steps from an anchor; the middle ones if too many."""
    values = [anchor]
    while values[0] > least:
        values.insert(0, values[0] / step)
    while values[-1] < most:
        values.append(values[-1] * step)
    surplus = max(0, len(values) - count)
    return tuple(rounded(value) for value in values[surplus // 2 : len(values) - (surplus - surplus // 2)])
