"""Exact kernel support vector machines with a proof of optimality on every batch fit.

Only what the reference of the manual lists is public; all other modules and names may change without notice.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import SVC, SVDD, SVR, InputMarginSVC, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
    from .estimators.incremental import (
        IncrementalNuSVC,
        IncrementalOneClassSVM,
        IncrementalSVC,
        IncrementalSVDD,
        IncrementalSVR,
        forget,
    )
    from .files import load, save
    from .files.models.contents import skops_types
    from .files.onnx import to_onnx
    from .insight.distance import input_margin
    from .reports import report
    from .warm import warmup

__version__: str
__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "IncrementalNuSVC",
    "IncrementalOneClassSVM",
    "IncrementalSVC",
    "IncrementalSVDD",
    "IncrementalSVR",
    "InputMarginSVC",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "QuantileSVR",
    "forget",
    "input_margin",
    "load",
    "report",
    "save",
    "skops_types",
    "to_onnx",
    "warmup",
]

# Imported when first used: importing the package costs nothing, and the command line can hear Ctrl-C from the start.
_HOME = {
    **dict.fromkeys(("SVC", "SVDD", "SVR", "InputMarginSVC", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR"), "estimators"),
    **dict.fromkeys(("OneClassSVM", "QuantileSVR"), "estimators"),
    "input_margin": "insight.distance",
    **dict.fromkeys((name for name in __all__ if name.startswith("Incremental")), "estimators.incremental"),
    "forget": "estimators.incremental",
    "load": "files",
    "report": "reports",
    "save": "files",
    "skops_types": "files.models.contents",
    "to_onnx": "files.onnx",
    "warmup": "warm",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = import_module("importlib.metadata").version("adatron")
    elif name in _HOME:
        from .compiled.cache.uninterrupted import uninterrupted

        with uninterrupted():
            value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
