"""How a fit uses its memory, and whether a device solves its problems.

All follows from (n, d, parameters) only, so that bits never depend on the load of a computer or its number of cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from ..devices import Device
from ..devices.rows import RESIDENT, room_for
from ..gram import Source
from ..problems import Dual
from .base import Solver

SMALL = 1000  # Rows up to which the whole Gram matrix is one float64 block.
STORE_COST = 72.0  # Multiply-adds of a kernel value above which reading a stored value is faster than computing it.
LONG = 192.0  # Multiply-adds above which several problems also store rows; a large block's matrix costs too much then.
BLOCK, WIDE = 1024, 2048  # Variables of a block, for kernel values that cost at least LONG, and less.
MAX_SINGLE_BLOCK = (
    2304  # Largest problem, in variables, that is one block, whose rows need not be asked for one by one.
)
PARTED = 24  # Number of blocks of variables from which a program is solved in parts.
BESIDE_MATRIX = 1e5  # Multiply-adds that a small program takes beside its matrix.


FEW = 4  # Samples for each feature from which a linear kernel has few features.
MANY_FEATURES = 160  # Features above which blocks come first: a step by features costs their square.
FEATURE_PARTS = 16  # Parts of a sum over the features of all samples, which are added in their order.


def feature_bytes(d: int) -> float:
    """Return the memory for sums of squares of d features."""
    return 8.0 * (FEATURE_PARTS + 2) * (d + 1) ** 2


class Plan(NamedTuple):
    """How a fit uses its memory, see ``Route``."""

    block: int
    whole: int
    concurrent: int
    slots: int
    memory: float


def plan(
    n: int,
    sizes: NDArray[np.int64],
    cost: float,
    itemsize: int,
    cache_bytes: float,
    blocks: bool = True,
    max_concurrent: int | None = None,
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
    max_concurrent : most problems that wait for no other; by default all
    """
    largest, most = int(sizes.max()), max_concurrent or len(sizes)
    if not blocks:
        concurrent = min(most, max(1, int(cache_bytes / (itemsize * largest**2))))
        return Plan(1, 1, concurrent, 0, cache_bytes / concurrent)
    block = _fitting(WIDE if cost < LONG else BLOCK, itemsize, cache_bytes)
    whole = _fitting(MAX_SINGLE_BLOCK, itemsize, cache_bytes)
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


VARIABLE_BYTES = 400.0  # Of its vectors, those that choose a block, and partial sums, some of them twice.
BLOCKS_SHARE, NEWTON_SHARE = 0.25, 0.4  # Fractions of the memory beside the samples: for blocks, and for Newton steps.
PLACED_WHY = {
    RESIDENT[0]: "asked for",
    RESIDENT[1]: "asked for; float64 rows do not fit there, and travel there in parts for each proof",
    RESIDENT[2]: "asked for; the rows do not fit there, and travel there in parts after each block",
}


def placed(
    source: Source, variables: Ids, duals: Sequence[Dual], device: Device, solver: Solver, single: bool
) -> tuple[Plan, int] | str:
    """Return the use of a device's memory, and ``Route.resident``, or the reason why the processor solves the problems.

    single : whether kernel values are float32

    ==========================================================  =============
    another solver than 'block'; infinite bounds; distances     the processor
    that must be summed from differences
    fewer multiply-adds in all matrices than ``Device.fit``     the processor
    vectors and a block of one problem do not fit               the processor
    else                                                        the device
    ==========================================================  =============

    Rows stay on the device in both precisions, or in float32 if that is the type of the kernel values, if they fit.
    Other rows travel there in parts.
    """
    cost, largest = source.kernel.cost(source.features), int(variables.max(initial=0))
    work = float(np.sum(variables.astype(np.float64) ** 2)) * cost
    if not solver.blocks:
        return "the solver works there only"
    if any(dual.unbounded for dual in duals):
        return "infinite bounds are for its solver only"
    if source.careful:
        return "distances are summed from differences, which is done there only"
    if work < device.fit:
        return "so few kernel values are faster there"
    block, memory = min(WIDE if cost < LONG else BLOCK, device.block), device.memory()
    for resident in RESIDENT if single else (RESIDENT[0], RESIDENT[2]):
        free = memory - room_for(source.X, len(source), resident)
        if free >= 8.0 * block**2 + VARIABLE_BYTES * (largest + block):
            each = (4.0 if single else 8.0) * block**2 + VARIABLE_BYTES * (largest + block)
            concurrent = max(1, min(len(variables), int(BLOCKS_SHARE * free / each)))
            return Plan(block, 0, concurrent, 0, NEWTON_SHARE * free), resident
    return f"one problem takes more than the {memory / 1e9:.1f} GB of the device"
