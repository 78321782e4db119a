"""Arrays that begin with a line of the cache.

NumPy's arrays begin anywhere, large ones 16 bytes after a line. Every vector as long as a line is then read from two
lines, and written to two.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # Bytes of a line.


def empty(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array as NumPy's ``empty`` does."""
    return _on_a_line(np.empty(prod(shape) + _more(dtype), dtype), shape)


def zeros(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array as NumPy's ``zeros`` does: the system gives pages of a large one when they are first written."""
    return _on_a_line(np.zeros(prod(shape) + _more(dtype), dtype), shape)


def _more(dtype: Any) -> int:
    return LINE // np.dtype(dtype).itemsize


def _on_a_line(room: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    first = -room.__array_interface__["data"][0] % LINE // room.itemsize
    return room[first : first + prod(shape)].reshape(shape)
