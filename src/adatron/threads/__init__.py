"""Threads of a fit or prediction, the clock that ends it, and the limit of BLAS to one thread meanwhile."""

from .clock import Clock, OutOfTime
from .cost import allowed_threads, threads_for, threads_worth
from .pool import Pool

__all__ = ["Clock", "OutOfTime", "Pool", "allowed_threads", "threads_for", "threads_worth"]
