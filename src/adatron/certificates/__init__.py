"""Proofs of optimality. They need beta and its gradient only and know no solver."""

from .bias import half_width, intercept, multipliers
from .certify import (
    Certificate,
    Exact,
    bounded,
    certify,
    conclude,
    error_of_sums,
    loosely,
    prove,
    semidefinite,
    unproven,
)
from .gap import best_multipliers, duality_gap, kkt_violation, relative

__all__ = [
    "Certificate",
    "Exact",
    "best_multipliers",
    "bounded",
    "certify",
    "conclude",
    "duality_gap",
    "error_of_sums",
    "half_width",
    "intercept",
    "kkt_violation",
    "loosely",
    "multipliers",
    "prove",
    "relative",
    "semidefinite",
    "unproven",
]
