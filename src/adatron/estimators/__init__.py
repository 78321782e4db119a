"""The scikit-learn faces."""

from ..margins import InputMargins
from .forms.diagnostics import Balance, ModifiedMargin, angle, balance, modified_margin
from .input_space.measure import input_margin
from .input_space.svc import InputMarginSVC
from .nusvc import NuSVC
from .nusvr import NuSVR
from .oneclass import OneClassSVM
from .quantile import QuantileSVR
from .svc import SVC
from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "Balance",
    "InputMarginSVC",
    "InputMargins",
    "ModifiedMargin",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "QuantileSVR",
    "angle",
    "balance",
    "input_margin",
    "modified_margin",
]
