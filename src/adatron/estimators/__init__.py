"""The scikit-learn faces."""

from .diagnostics import Balance, angle, balance
from .input_margin import input_margin
from .input_margin_svc import InputMarginSVC
from .nusvc import NuSVC
from .nusvr import NuSVR
from .oneclass import OneClassSVM
from .svc import SVC
from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "Balance",
    "InputMarginSVC",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "angle",
    "balance",
    "input_margin",
]
