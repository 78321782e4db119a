"""How K is served: operands, tiles, the row store, the plan of a fit, and its threads."""

from .block import Square
from .clock import Clock, OutOfTime
from .factor import Factor
from .gram import Gram, View
from .pairs import PairSums
from .plan import SMALL, Plan, plan
from .points import Points
from .pool import Pool, allowed_threads
from .source import Source, take_rows
from .sums import Sums

__all__ = [
    "SMALL",
    "Clock",
    "Factor",
    "Gram",
    "OutOfTime",
    "PairSums",
    "Plan",
    "Points",
    "Pool",
    "Source",
    "Square",
    "Sums",
    "View",
    "allowed_threads",
    "plan",
    "take_rows",
]
