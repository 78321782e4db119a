"""Choice of kernels and parameters: searches that share kernel matrices."""

from .search.grid import GridSearchCV, RandomizedSearchCV

__all__ = ["GridSearchCV", "RandomizedSearchCV"]
