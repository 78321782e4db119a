"""Pictures. matplotlib is imported only to draw one."""

from .search import SearchDisplay

__all__ = ["SearchDisplay"]
