"""Access to K: operands, tiles, the row store."""

from .gram import Gram
from .source import Points, Source, take_rows
from .square import Square
from .sums import PairSums, Sums
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
