"""Models that learn and unlearn single samples, and stay the exact solution."""

from .c_path import CPath
from .forgetting import forget
from .nusvc import IncrementalNuSVC
from .oneclass import IncrementalOneClassSVM
from .svc import IncrementalSVC
from .svdd import IncrementalSVDD
from .svr import IncrementalSVR

__all__ = [
    "CPath",
    "IncrementalNuSVC",
    "IncrementalOneClassSVM",
    "IncrementalSVC",
    "IncrementalSVDD",
    "IncrementalSVR",
    "forget",
]
