"""The scikit-learn faces."""

from .forms.diagnostics import Balance, angle, balance
from .input_space.measure import input_margin
from .input_space.svc import InputMarginSVC
from .nusvc import NuSVC
from .nusvr import NuSVR
from .oneclass import OneClassSVM
from .svc import SVC
from .svdd import SVDD
from .svr import SVR

__all__ = [
    "SVC",
    "SVDD",
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
