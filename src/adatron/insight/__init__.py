"""What a fitted model says about its samples, in numbers that are exact or certified. No pictures here."""

from .deletion import Influence, influence
from .labels import Issues, label_issues
from .leave_one_out import LeftOut, leave_one_out
from .plane import BoundaryPlane, boundary_plane
from .sensitivity import Sensitivity, sensitivity

__all__ = [
    "BoundaryPlane",
    "Influence",
    "Issues",
    "LeftOut",
    "Sensitivity",
    "boundary_plane",
    "influence",
    "label_issues",
    "leave_one_out",
    "sensitivity",
]
