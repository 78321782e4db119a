"""Models that learn and unlearn single samples, and stay the exact solution."""

from ...learning.c_path import CPath
from .classifier import IncrementalNuSVC, IncrementalSVC
from .forgetting import forget
from .novelty import IncrementalOneClassSVM, IncrementalSVDD
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
