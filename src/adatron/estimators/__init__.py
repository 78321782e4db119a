"""The scikit-learn faces."""

from .svc import SVC
from .svr import SVR

__all__ = ["SVC", "SVR"]
