"""Arrays that begin with a line of the cache.

NumPy's begin anywhere, large ones 16 bytes after a line: then every vector as long as a line is read from two of them,
and written to two.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes


def empty(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """As NumPy's."""
    return _on_a_line(np.empty(prod(shape) + _more(dtype), dtype), shape)


def zeros(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """As NumPy's: pages of a large array are taken from the system when they are first written."""
    return _on_a_line(np.zeros(prod(shape) + _more(dtype), dtype), shape)


def _more(dtype: Any) -> int:
    return LINE // np.dtype(dtype).itemsize


def _on_a_line(room: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    first = -room.__array_interface__["data"][0] % LINE // room.itemsize
    return room[first : first + prod(shape)].reshape(shape)
