"""The scikit-learn faces, each imported when it is first used: scripts that need one do not wait for the others."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..insight.diagnostics import Balance, ModifiedMargin, angle, balance, modified_margin
    from ..insight.distance import input_margin
    from ..margins import InputMargins
    from .input_space import InputMarginSVC
    from .linear import LinearSVC, LinearSVR
    from .nusvc import NuSVC
    from .nusvr import NuSVR
    from .oneclass import OneClassSVM
    from .quantile import QuantileSVR
    from .svc import SVC
    from .svdd import SVDD
    from .svr import SVR

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "Balance",
    "InputMarginSVC",
    "InputMargins",
    "LinearSVC",
    "LinearSVR",
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

_HOME = {
    **{name: f".{name.lower()}" for name in ("SVC", "SVDD", "SVR", "NuSVC", "NuSVR")},
    **dict.fromkeys(("LinearSVC", "LinearSVR"), ".linear"),
    "OneClassSVM": ".oneclass",
    "QuantileSVR": ".quantile",
    "InputMarginSVC": ".input_space",
    "input_margin": "..insight.distance",
    "InputMargins": "..margins",
    **dict.fromkeys(("Balance", "ModifiedMargin", "angle", "balance", "modified_margin"), "..insight.diagnostics"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOME[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
