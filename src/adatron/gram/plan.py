"""How a fit uses its memory.

Decided from (n, d, parameters) only, so that bits never depend on the machine's load or on its number of cores.
"""

from __future__ import annotations

from dataclasses import dataclass

SMALL = 1000  # rows up to which the whole Gram matrix is one float64 block
STORE_COST = 64.0  # multiply-adds from which reading a stored kernel value beats making it again
BLOCK = 1024  # where rows of K are stored
WIDE = 2048  # where they are made again whenever they are needed: larger blocks need them less often
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Plan:
    """Sizes for one fit.

    block : most variables in a block, q
    concurrent : most problems solved at the same time
    slots : rows that the row store holds (0: recompute always)
    factor : bytes for the factors of one problem's Newton steps, or for the rows that its solver stores itself
    """

    block: int
    concurrent: int
    slots: int
    factor: float


def plan(
    n: int, largest: int, problems: int, cost: float, itemsize: int, cache_bytes: float, blocks: bool = True
) -> Plan:
    """Sizes for a fit of n rows.

    Parameters
    ----------
    n : rows of the training set
    largest : variables of the largest problem
    problems : number of problems
    cost : multiply-adds of one kernel value (``Kernel.cost``)
    itemsize : bytes of a kernel value
    cache_bytes : total for kernel values; at most half of it goes to blocks, a quarter (half without a row store) to
        factors, and the row store gets what they leave
    blocks : False for a solver that goes through single rows, which it stores itself
    """
    if not blocks:
        concurrent = min(problems, max(1, int(cache_bytes / (itemsize * largest**2))))
        return Plan(1, concurrent, 0, cache_bytes / concurrent)
    block = WIDE if cost < STORE_COST else BLOCK
    while block > 64 and 4 * _block_bytes(block, itemsize) > cache_bytes:
        block //= 2
    block = min(block, largest)
    concurrent = max(1, int(cache_bytes / (2 * _block_bytes(block, itemsize))))
    concurrent = min(concurrent, problems)
    stored = cost >= STORE_COST and block < largest
    factors = cache_bytes / (4 if stored else 2)
    left = cache_bytes - factors - min(concurrent, 4) * _block_bytes(block, itemsize)
    slots = int(max(0.0, left) // (itemsize * n)) if stored else 0
    return Plan(block, concurrent, min(slots, n), factors / concurrent)


def _block_bytes(block: int, itemsize: int) -> int:
    """A block and its successor, which takes over what both share."""
    return 2 * block * block * itemsize
