"""A toy problem, as CONTRIBUTING says: one file. An error above the function costs another price than one below."""

from __future__ import annotations

from .dual import Dual, Vector


def asymmetric(y: Vector, C: Vector, above: float) -> Dual:
    """Return the program whose errors above the function cost so many times as much: t = y, -C <= beta <= above C."""
    return Dual(y, -C, above * C, 0.0, (0.0,))
