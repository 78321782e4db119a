"""Solvers of small dense quadratic programs, which ``block`` and ``decomposition`` use for their blocks."""

from .active_set import ActiveSet
from .inner import COARSE, INNER, STEPS, Inner
from .layout import Layout, unpadded
from .pairs import pairs
from .singles import singles

__all__ = ["COARSE", "INNER", "STEPS", "ActiveSet", "Inner", "Layout", "pairs", "singles", "unpadded"]
