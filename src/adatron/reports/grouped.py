"""Means of groups of samples, for pictures that must not show single ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..insight.subject import Vector

LEAST, MOST = 5, 20  # Samples of a group, and groups.


def grouped(values: Any, *more: Any) -> list[Vector]:
    """Return the means of the values, and of more values of the same samples, over groups of neighbouring values."""
    order = np.argsort(values, kind="stable")
    parts = np.array_split(order, max(1, min(MOST, len(order) // LEAST)))
    return [np.array([np.mean(one[part]) for part in parts]) for one in (values, *more)]
