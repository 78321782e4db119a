"""The scikit-learn faces."""

from .diagnostics import Balance, angle, balance
from .svc import SVC
from .svr import SVR

__all__ = ["SVC", "SVR", "Balance", "angle", "balance"]
