"""Searches over parameters whose fits share their kernel matrices."""

from .grid import GridSearchCV, RandomizedSearchCV
from .halving import HalvingGridSearchCV

__all__ = ["GridSearchCV", "HalvingGridSearchCV", "RandomizedSearchCV"]
