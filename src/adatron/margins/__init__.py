"""Margins in the input space: the distance of a point from the surface f(x) = 0, its proven bound, and its growth."""

from .algorithm import Recipe, Stage, TwoClasses, climb, first_stage, measured, needed_bytes, step_cost, unmeasured
from .field import Field
from .metric import Metric
from .nearest import InputMargins, certified, nearest, variation
from .projection import parts
from .worth import Worth, estimated

__all__ = [
    "Field",
    "InputMargins",
    "Metric",
    "Recipe",
    "Stage",
    "TwoClasses",
    "Worth",
    "certified",
    "climb",
    "estimated",
    "first_stage",
    "measured",
    "nearest",
    "needed_bytes",
    "parts",
    "step_cost",
    "unmeasured",
    "variation",
]
