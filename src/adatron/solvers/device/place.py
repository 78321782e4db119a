"""Whether a device solves the problems of a fit, and how it divides its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Ids
from ...devices import Device
from ...devices.rows import RESIDENT, room_for
from ...gram import Source
from ...problems import Dual
from ..base import Solver
from ..plan import BLOCK, LONG, WIDE

PADDED = 400.0  # Bytes of a variable: its vectors, those that choose a block, and partial sums, some of them twice.
BLOCKS_SHARE, NEWTON_SHARE = 0.25, 0.4  # Fractions of the memory beside the samples: for blocks, and for Newton steps.
PLACED_WHY = {
    RESIDENT[0]: "asked for",
    RESIDENT[1]: "asked for; float64 rows do not fit there, and travel there in parts for each proof",
    RESIDENT[2]: "asked for; the rows do not fit there, and travel there in parts after each block",
}


@dataclass(frozen=True)
class Placement:
    """The device, or the processor, that solves the problems, and the use of its memory.

    label : the device; "" for the processor
    reason : why there; "" if no device was asked for
    block : variables of a block
    memory : bytes for blocks and vectors of problems side by side
    factor : bytes for Newton steps
    variables : of the largest problem
    resident : bytes on the device for each number of X, see ``devices.rows.RESIDENT``
    """

    label: str
    reason: str
    block: int = 1
    memory: float = 0.0
    factor: float = 0.0
    variables: int = 0
    resident: int = 0

    @property
    def used(self) -> bool:
        """Whether it is a device."""
        return self.label != ""

    def side_by_side(self, problems: int, single: bool) -> int:
        """Return how many problems may be solved side by side."""
        each = (4.0 if single else 8.0) * self.block**2 + PADDED * (self.variables + self.block)
        return max(1, min(problems, int(self.memory / each)))


def placed(
    source: Source, variables: Ids, duals: Sequence[Dual], device: Device, solver: Solver, single: bool
) -> Placement:
    """Choose where the problems of a fit are solved; ``single``: whether their kernel values are float32.

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
        return Placement("", "the solver works there only")
    if any(dual.unbounded for dual in duals):
        return Placement("", "infinite bounds are for its solver only")
    if source.careful:
        return Placement("", "distances are summed from differences, which is done there only")
    if work < device.fit:
        return Placement("", "so few kernel values are faster there")
    block, memory = min(WIDE if cost < LONG else BLOCK, device.block), device.memory()
    for resident in RESIDENT if single else (RESIDENT[0], RESIDENT[2]):
        free = memory - room_for(source.X, len(source), resident)
        if free >= 8.0 * block**2 + PADDED * (largest + block):
            shares = BLOCKS_SHARE * free, NEWTON_SHARE * free
            return Placement(device.label, PLACED_WHY[resident], block, *shares, largest, resident)
    return Placement("", f"one problem takes more than the {memory / 1e9:.1f} GB of the device")
