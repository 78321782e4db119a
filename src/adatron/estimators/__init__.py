"""The scikit-learn faces."""

from typing import TYPE_CHECKING, Any

from .forms.diagnostics import Balance, ModifiedMargin, angle, balance, modified_margin
from .input_space.measure import input_margin
from .input_space.svc import InputMarginSVC
from .nusvc import NuSVC
from .nusvr import NuSVR
from .oneclass import OneClassSVM
from .quantile import QuantileSVR
from .svc import SVC
from .svdd import SVDD
from .svr import SVR

if TYPE_CHECKING:
    from ..margins import InputMargins

__all__ = [
    "SVC",
    "SVDD",
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


def __getattr__(name: str) -> Any:
    """Import what needs compiled code when it is asked for."""
    if name != "InputMargins":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ..margins import InputMargins

    return InputMargins
