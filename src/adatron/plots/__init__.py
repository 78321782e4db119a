"""Pictures, in the manner of scikit-learn's displays. matplotlib is imported only to draw one."""

from .gap import GapDisplay
from .input_margin import InputMarginDisplay, MarginDisplay, MarginPathDisplay
from .insight import InfluenceDisplay, LabelIssueDisplay, LeaveOneOutDisplay, SensitivityDisplay
from .plane import BoundaryPlaneDisplay
from .search import SearchDisplay

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
