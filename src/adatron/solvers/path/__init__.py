"""Homotopy: the exact solution on its way while the program changes, so that it need not be found anew."""

from .path import Homotopy
from .rows import compaction
from .state import Stalled

__all__ = ["Homotopy", "Stalled", "compaction"]
