"""Which quadratic program: one problem a file, all of the form in ``dual``."""

from .bias import Bias, intercept
from .csvc import csvc
from .dual import Dual

__all__ = ["Bias", "Dual", "csvc", "intercept"]
