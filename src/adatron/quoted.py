"""Values in messages."""

from __future__ import annotations

from typing import Any

import numpy as np


def quoted(value: Any) -> str:
    """Return the representation of a value in which NumPy's numbers look like numbers, also within lists and dicts."""
    with np.printoptions(legacy="1.25"):  # np.int64(2) is 2
        return repr(value)
