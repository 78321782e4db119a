"""How K is served: operands, tiles, the row store, the plan of a fit."""

from .between_classes import PairSums
from .gram import Gram
from .plan import SMALL, Plan, plan
from .points import Points
from .source import Source, take_rows
from .square import Square
from .sums import Sums
from .view import View

__all__ = [
    "SMALL",
    "Gram",
    "PairSums",
    "Plan",
    "Points",
    "Source",
    "Square",
    "Sums",
    "View",
    "plan",
    "take_rows",
]
