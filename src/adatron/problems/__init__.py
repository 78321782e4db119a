"""Which quadratic program: one problem a file, all of the form in ``dual``."""

from .ball import ball
from .bias import Bias, intercept
from .csvc import csvc
from .dual import Dual
from .svr import svr

__all__ = ["Bias", "Dual", "ball", "csvc", "intercept", "svr"]
