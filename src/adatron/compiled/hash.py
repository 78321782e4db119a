"""A hash of every row, equal for dense and CSR storage: it orders samples independently of their given order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cache.jit import jit

# The constants of SplitMix64.
_GOLDEN, _MIX1, _MIX2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
ENTRIES = 1 << 14  # Entries that are hashed together: they stay in the second-level cache.


@jit(inner=True)
def _mix(column: int, bits: Any) -> Any:
    """Return splitmix64 (S. Vigna) of a column and the bits of its value."""
    z = np.uint64(bits) ^ (np.uint64(column + 1) * _GOLDEN)
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


def hash_dense(bits: NDArray[Any], out: NDArray[np.uint64]) -> None:
    """Set out[i] to the sum over nonzero entries of row i; ``bits`` are the floats' bits.

    NumPy does it: the first fit compiles nothing for it.
    """
    n, d = bits.shape
    columns, some = np.arange(1, d + 1, dtype=np.uint64) * _GOLDEN, max(1, ENTRIES // max(1, d))
    for start in range(0, n, some):
        part = bits[start : start + some]
        z = part ^ columns
        for shift, factor in ((_S30, _MIX1), (_S27, _MIX2)):
            z ^= z >> shift
            z *= factor
        z ^= z >> _S31
        unsigned = part + part  # the sum loses the sign, so it is 0 for 0.0 and for -0.0
        if not unsigned.all():
            z[unsigned == 0] = 0
        np.add.reduce(z, axis=1, out=out[start : start + some])


@jit
def hash_sparse(bits: Any, sign: Any, indices: Any, indptr: Any, out: Any) -> None:
    """Hash CSR rows as ``hash_dense`` does; ``sign`` has the bits of -0.0."""
    for i in range(len(indptr) - 1):
        total = np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            if bits[e] != 0 and bits[e] != sign:
                total += _mix(indices[e], bits[e])
        out[i] = total
