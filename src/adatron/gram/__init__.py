"""Access to K: operands, tiles, the row store."""

from .between_classes import PairSums
from .gram import Gram
from .points import Points
from .source import Source, take_rows
from .square import Square
from .sums import Sums
from .view import View

__all__ = [
    "Gram",
    "PairSums",
    "Points",
    "Source",
    "Square",
    "Sums",
    "View",
    "take_rows",
]
