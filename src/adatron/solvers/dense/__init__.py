"""Solvers of small dense quadratic programs, which ``block`` and ``decomposition`` use for their blocks."""

from .active_set import ActiveSet
from .inner import BLOCK_STEPS, COARSE, INNER, Inner, Layout, overwrites, unpadded
from .pairs import pairs
from .singles import singles

__all__ = [
    "BLOCK_STEPS",
    "COARSE",
    "INNER",
    "ActiveSet",
    "Inner",
    "Layout",
    "overwrites",
    "pairs",
    "singles",
    "unpadded",
]
