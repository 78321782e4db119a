"""Choice of kernels and parameters: searches that share kernel matrices, and paths of solutions."""

from ..certificates.radius_margin import vc_bound
from .kernel_path import KernelPath, kernel_path
from .search import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV

__all__ = ["GridSearchCV", "HalvingGridSearchCV", "KernelPath", "RandomizedSearchCV", "kernel_path", "vc_bound"]
