"""How K is served: operands, tiles, the row store, the plan of a fit, and its threads."""

from .block import Square
from .factor import Factor
from .gram import Gram, Points, View
from .pairs import PairSums
from .plan import SMALL, Plan, plan
from .pool import Pool, allowed_threads
from .source import Source, take_rows
from .sums import Sums

__all__ = [
    "SMALL",
    "Factor",
    "Gram",
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
