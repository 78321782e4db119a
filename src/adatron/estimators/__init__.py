"""The scikit-learn faces."""

from .diagnostics import Balance, angle, balance
from .nusvc import NuSVC
from .nusvr import NuSVR
from .oneclass import OneClassSVM
from .svc import SVC
from .svr import SVR

__all__ = ["SVC", "SVR", "Balance", "NuSVC", "NuSVR", "OneClassSVM", "angle", "balance"]
