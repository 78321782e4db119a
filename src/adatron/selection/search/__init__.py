"""Searches over parameters whose fits share their kernel matrices."""

from .grid import GridSearchCV, RandomizedSearchCV

__all__ = ["GridSearchCV", "RandomizedSearchCV"]
