"""Searches over parameters whose fits share their kernel matrices."""

from .grid import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV

__all__ = ["GridSearchCV", "HalvingGridSearchCV", "RandomizedSearchCV"]
