"""The quadratic programs: one problem a file, all of the form in ``dual``."""

from .ball import ball
from .bias import Bias
from .csvc import csvc
from .dual import Dual
from .input_margin import with_targets
from .nusvc import feasible_nu, nusvc
from .nusvr import nusvr
from .oneclass import oneclass
from .quantile import quantile
from .svr import svr

__all__ = [
    "Bias",
    "Dual",
    "ball",
    "csvc",
    "feasible_nu",
    "nusvc",
    "nusvr",
    "oneclass",
    "quantile",
    "svr",
    "with_targets",
]
