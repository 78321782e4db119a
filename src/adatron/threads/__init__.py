"""Threads of a fit or prediction, the clock that ends it, and the limit of BLAS to one thread meanwhile."""

from .clock import Clock, OutOfTime
from .pool import Pool, allowed_threads

__all__ = ["Clock", "OutOfTime", "Pool", "allowed_threads"]
