"""Devices beside the processor: which there are, and the few operations that a fit or a prediction asks of one.

Torch holds the arrays. Kernel values, their sums and dense blocks come from one CUDA source. Nothing here knows
programs or solvers.
"""

from .device import Device, enough_memory, resolved
from .program import unsuited

__all__ = ["Device", "enough_memory", "resolved", "unsuited"]
