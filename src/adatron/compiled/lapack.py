"""LAPACK without the interpreter's lock, which SciPy's own wrappers hold."""

from __future__ import annotations

import ctypes
import functools
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray


@functools.cache
def _dpotrf() -> Any:
    """Return the routine, by the address that SciPy gives to Cython."""
    capsule = vars(import_module("scipy.linalg.cython_lapack"))["__pyx_capi__"]["dpotrf"]
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    numbers = ctypes.POINTER(ctypes.c_int64)  # LAPACK may read only their lower half
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, numbers, ctypes.c_void_p, numbers, numbers)
    return kind(pointer(capsule, name(capsule)))


def has_factor(A: NDArray[np.float64]) -> bool:
    """Return whether a symmetric matrix, stored by rows, has a Cholesky factor; it replaces the upper half."""
    n, stride, failed = ctypes.c_int64(len(A)), ctypes.c_int64(max(1, len(A))), ctypes.c_int64(0)
    _dpotrf()(b"L", ctypes.byref(n), A.ctypes.data, ctypes.byref(stride), ctypes.byref(failed))
    return failed.value == 0
