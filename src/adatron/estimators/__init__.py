"""The scikit-learn faces."""

from .svc import SVC

__all__ = ["SVC"]
