"""A hash of every row, equal for dense and CSR storage: it orders samples independently of their given order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit

_GOLDEN, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


@jit
def _mix(column: int, bits: Any) -> Any:
    """Return splitmix64 (S. Vigna) of a column and the bits of its value."""
    z = np.uint64(bits) ^ (np.uint64(column + 1) * _GOLDEN)
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@jit
def hash_dense(bits: Any, sign: Any, out: Any) -> None:
    """Set out[i] to the sum over nonzero entries of row i; ``bits`` are the floats' bits, ``sign`` those of -0.0."""
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for k in range(bits.shape[1]):
            if bits[i, k] != 0 and bits[i, k] != sign:
                total += _mix(k, bits[i, k])
        out[i] = total


@jit
def hash_sparse(bits: Any, sign: Any, indices: Any, indptr: Any, out: Any) -> None:
    """Hash CSR rows as ``hash_dense`` does."""
    for i in range(len(indptr) - 1):
        total = np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            if bits[e] != 0 and bits[e] != sign:
                total += _mix(indices[e], bits[e])
        out[i] = total
