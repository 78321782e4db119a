"""Values in messages."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np


def plain_numbers() -> AbstractContextManager[Any]:
    """Let NumPy's numbers look like numbers in messages made inside: np.int64(2) is 2."""
    return np.printoptions(legacy="1.25")


def quoted(value: Any) -> str:
    """Return the representation of a value in which NumPy's numbers look like numbers, also within lists and dicts."""
    with plain_numbers():
        return repr(value)
