"""Coefficients of samples from those of the distinct ones among them."""

from __future__ import annotations

from typing import Any

from ._jit import jit


@jit
def share_out(
    samples: Any, values: Any, moved: Any, firsts: Any, bounds: Any, own_bounds: Any, members: Any,
    rows: Any, data: Any, counts: Any,
) -> None:  # fmt: skip
    """Fill the members of distinct samples up to their bounds, the last one first.

    moved : which of the ``values``, those of the distinct ``samples``, are not 0
    firsts : (m + 1,) the first member of each distinct sample
    bounds, own_bounds : of each distinct sample, and of each member
    members : as in ``Samples``
    rows, data : out, the members that get a part, and it
    counts : out, how many of each value
    """
    at = 0
    for j in moved:
        k, value = samples[j], values[j]
        bound, size, filled = bounds[k], abs(value), 0.0
        for i in range(firsts[k + 1] - 1, firsts[k] - 1, -1):
            own = own_bounds[i]
            part = own if size >= bound * (1.0 - 1e-12) else min(max(size - filled, 0.0), own)
            if part != 0.0:
                rows[at], data[at] = members[i], part if value > 0.0 else -part
                counts[j], at = counts[j] + 1, at + 1
            filled += own
