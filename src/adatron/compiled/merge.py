"""Samples in an order by a hash of their rows, equal ones next to each other, merged.

The hash is equal for dense and CSR rows, so that the order does not depend on that in which the rows are given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cache.jit import jit
from .sums import two_sum

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


def alike(order: NDArray[np.int64], keys: NDArray[np.uint64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return places in the order whose sample has the class and hash of the one before: they may be equal."""
    keys, codes = keys[order], codes[order]
    return 1 + np.flatnonzero((keys[1:] == keys[:-1]) & (codes[1:] == codes[:-1]))


def merge(
    order: NDArray[np.int64], first: NDArray[np.bool_], codes: NDArray[np.int64], n_classes: int, weight: Any
) -> Any:
    """Return ``rows``, ``sizes``, ``weight``, ``group`` and ``own`` of ``Samples``.

    order, first : the members, and whether each is not equal to the one before it
    codes, weight : those of all samples, members or not
    """
    if not first.all():
        return _merged(order, first, codes, n_classes, weight)
    own = weight[order]  # no samples are equal: nothing has to be compiled
    return order.copy(), np.bincount(codes[order], minlength=n_classes), own.copy(), np.arange(len(order)), own


@jit
def _merged(order: Any, first: Any, codes: Any, n_classes: int, weight: Any) -> Any:
    n, sizes, count = len(order), np.zeros(n_classes, np.int64), 0
    rows, total, group, own = np.empty(n, np.int64), np.zeros(n), np.empty(n, np.int64), np.empty(n)
    low = 0.0  # roundings of the additions so far, so that a thousand members weigh the sum of their weights
    for i in range(n):
        row = order[i]
        if first[i]:
            if count:
                total[count - 1] += low
            low = 0.0
            rows[count] = row
            sizes[codes[row]] += 1
            count += 1
        group[i], own[i] = count - 1, weight[row]
        total[count - 1], rounding = two_sum(total[count - 1], weight[row])
        low += rounding
    if count:
        total[count - 1] += low
    return rows[:count], sizes, total[:count], group, own
