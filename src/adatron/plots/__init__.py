"""Pictures, in the manner of scikit-learn's displays. matplotlib is imported only to draw one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .gap import GapDisplay
    from .influence import InfluenceDisplay
    from .input_margin import InputMarginDisplay, MarginDisplay, MarginPathDisplay
    from .labels import LabelIssueDisplay
    from .leave_one_out import LeaveOneOutDisplay
    from .plane import BoundaryPlaneDisplay
    from .search import SearchDisplay
    from .sensitivity import SensitivityDisplay

__all__ = [
    "BoundaryPlaneDisplay",
    "GapDisplay",
    "InfluenceDisplay",
    "InputMarginDisplay",
    "LabelIssueDisplay",
    "LeaveOneOutDisplay",
    "MarginDisplay",
    "MarginPathDisplay",
    "SearchDisplay",
    "SensitivityDisplay",
]

# Imported when first used: a path of kernels that draws itself needs one file only.
_HOME = {
    **dict.fromkeys(("InputMarginDisplay", "MarginDisplay", "MarginPathDisplay"), "input_margin"),
    "BoundaryPlaneDisplay": "plane",
    "GapDisplay": "gap",
    "InfluenceDisplay": "influence",
    "LabelIssueDisplay": "labels",
    "LeaveOneOutDisplay": "leave_one_out",
    "SearchDisplay": "search",
    "SensitivityDisplay": "sensitivity",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOME[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
