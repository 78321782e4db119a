"""Homotopy: the exact solution on its way while the program changes, so that it need not be found anew."""

from .path import Homotopy
from .state import Stalled, compaction

__all__ = ["Homotopy", "Stalled", "compaction"]
