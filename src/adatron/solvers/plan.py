"""How a fit uses its memory.

The sizes follow from (n, d, parameters) only, so that bits never depend on the computer's load or number of cores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMALL = 1000  # Rows up to which the whole Gram matrix is one float64 block.
STORE_COST = 72.0  # Multiply-adds of a kernel value above which reading a stored value is faster than computing it.
LONG = 192.0  # Multiply-adds above which several problems also store rows; a large block's matrix costs too much then.
BLOCK, WIDE = 1024, 2048  # Variables of a block, for kernel values that cost at least LONG, and less.
WHOLE = 2304  # Largest problem, in variables, that is one block, whose rows need not be asked for one by one.
PARTED = 24  # Number of blocks of variables from which a program is solved in parts.
BESIDE_MATRIX = 1e5  # Multiply-adds that a small program takes beside its matrix.


@dataclass(frozen=True)
class Plan:
    """Sizes for one fit.

    block : most variables in a block, q
    whole : most variables of a problem that is solved as one block
    concurrent : most problems solved at the same time
    slots : rows that the row store holds (0: recompute always)
    factor : bytes for the factors of one problem's Newton steps, or for the rows that its solver stores itself
    """

    block: int
    whole: int
    concurrent: int
    slots: int
    factor: float


def plan(
    n: int,
    sizes: NDArray[np.int64],
    cost: float,
    itemsize: int,
    cache_bytes: float,
    blocks: bool = True,
    beside: int | None = None,
) -> Plan:
    """Return the sizes for a fit of n rows.

    Parameters
    ----------
    n : rows of the training set
    sizes : variables of each problem
    cost : multiply-adds of one kernel value (``Kernel.cost``)
    itemsize : bytes of a kernel value
    cache_bytes : total for kernel values; at most half of it goes to blocks, a quarter (half without a row store) to
        factors, and the row store gets what they leave
    blocks : False for a solver that goes through single rows, which it stores itself
    beside : most problems that wait for no other; by default all
    """
    largest, most = int(sizes.max()), beside or len(sizes)
    if not blocks:
        concurrent = min(most, max(1, int(cache_bytes / (itemsize * largest**2))))
        return Plan(1, 1, concurrent, 0, cache_bytes / concurrent)
    block, whole = (_fitting(size, itemsize, cache_bytes) for size in (WIDE if cost < LONG else BLOCK, WHOLE))
    if largest <= whole:
        used = _block_bytes(largest, itemsize)
    else:
        used = _block_bytes(max(min(largest, block), int(sizes[sizes <= whole].max(initial=0))), itemsize)
    concurrent = min(most, max(1, int(cache_bytes / (2 * used))))
    stored = cost >= LONG if len(sizes) > 1 else cost >= STORE_COST and largest > whole
    factors = cache_bytes / (4 if stored else 2)
    left = cache_bytes - factors - min(concurrent, 4) * used
    slots = int(max(0.0, left) // (itemsize * n)) if stored else 0
    if stored and slots < n:  # each of several stores at least a block's rows; one over most rows needs them all
        together = 1 if 2 * largest > n else slots * n // (block * largest)
        concurrent = min(concurrent, max(1, together))
    return Plan(block, whole, concurrent, min(slots, n), factors / concurrent)


def _fitting(block: int, itemsize: int, cache_bytes: float) -> int:
    """Return the size of a block, halved until four of them fit."""
    while block > 64 and 4 * _block_bytes(block, itemsize) > cache_bytes:
        block //= 2
    return block


def _block_bytes(block: int, itemsize: int) -> int:
    """Return the bytes of a block and of its copy for the active set, which is used where pairs crawl."""
    return 2 * block * block * itemsize
