"""Proofs of optimality. They need beta and its gradient only and know no solver."""

from .certify import Certificate, Exact, certify, prove
from .gap import best_multipliers, duality_gap
from .kkt import kkt_violation, violators

__all__ = ["Certificate", "Exact", "best_multipliers", "certify", "duality_gap", "kkt_violation", "prove", "violators"]
