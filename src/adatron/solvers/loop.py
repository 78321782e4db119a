"""Propose, prove, tighten: the loop by which every program is solved.

Steps propose a point whose tracked gradient meets a tolerance. A proof says what is true of the point. If the proof
falls short, the tolerance becomes smaller and the steps go on. Each ``Proposer`` says how it makes these three moves,
and when no smaller tolerance helps. Compiled code makes the same moves for batches of programs, see ``batch.loop``;
it compiles the plain functions of tolerances for itself.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import Any, Protocol

import numpy as np

from ..certificates import Certificate
from ..compiled.precision import SINGLE, UNIT
from ..problems import Dual
from .base import Options
from .results import Status

AIM = 0.5  # Fraction of the wanted gap to aim at.
TYPICAL = 1 / 16  # A gradient's error is at most this fraction of its proven error, as a rule.
LEAST_SHARE, LARGEST_SHARE = 1e-4, 0.3  # Smallest and largest fraction of the last tolerance.
LOOSEST = 0.1  # Largest fraction of the violation to which a block, or part, is solved; less while the violation falls:
OF_BLOCKS, OF_PARTS = (0.3, 2), (1.0, 4)  # a factor times a power of its ratio. A part leaves whole rows to be made.
CLOSEST = 0.75  # Fraction of the tolerance below which no block, or part, is solved.


def tolerance_for_gap(tol: float, gap: float, wanted: float) -> float:
    """Return the tolerance that should bring a relative gap to half of the wanted one: it falls at least in proportion.

    A relative gap is a part of the smaller bound of the optimum. The larger bound, which hardly moves, is the measure.
    """
    share = AIM * wanted * (1.0 + gap) / gap if gap < inf else LARGEST_SHARE
    return tol * max(LEAST_SHARE, min(LARGEST_SHARE, share))


def in_reach(gap: float) -> float:
    """Return the fraction of a gradient's proven error that its tolerance may be, after a proof of this relative gap.

    Below the proven error only luck brings the gap down; if the optimum may be 0, nothing does.
    """
    return TYPICAL if gap < 1.0 else 1.0


def how_closely(violation: float, before: float, tol: float, factor: float, power: int) -> float:
    """Return how closely to solve the next block, or part: the faster the violation falls, the more closely.

    before : the violation before the last one, 0 at the first one
    """
    ratio = violation / before if before else 1.0
    return max(min(LOOSEST, factor * min(ratio, 1.0) ** power) * violation, CLOSEST * tol)


def rounding_error(square: float, largest: float, itemsize: int) -> float:
    """Return the gradient's error from the rounding of kernel values, as a rule: errors add up as squares.

    Parameters
    ----------
    square : |beta|^2
    largest : largest kernel value
    itemsize : bytes of each
    """
    return (SINGLE if itemsize == 4 else UNIT) * largest * sqrt(square)


FIRST_TOLERANCE = 2.0**-40  # Fraction of the largest target below which no first tolerance goes.
NEXT_TOLERANCE = 0.9  # Fraction of the tolerance, less the proven errors, that the next tolerance is.


class Proposer(Protocol):
    """A solver at work on one program."""

    def propose(self, tol: float) -> tuple[Status, float]:
        """Go to a point whose tracked violation is at most tol.

        Returns
        -------
        status : CONVERGED, or what ended the steps
        tol : the tolerance they came to
        """
        ...

    def prove(self) -> Certificate:
        """Prove what can be proven about the point."""
        ...

    def tighten(self, tol: float, proof: Certificate) -> float | Status:
        """Return the tolerance to go on with after a proof that falls short, or the status that ends the loop."""
        ...


def until_proven(at_work: Proposer, tol: float, options: Options) -> tuple[Status, Certificate]:
    """Go on until a proof suffices, or the steps or the proposer end; return what ended the loop and the last proof."""
    while True:
        found = judged(at_work, *at_work.propose(tol), options)
        if isinstance(found, tuple):
            return found
        tol = found


def judged(at_work: Proposer, reached: Status, tol: float, options: Options) -> tuple[Status, Certificate] | float:
    """Prove the point that steps came to; return what ends the loop, and the proof, or the tolerance to go on with."""
    proof = at_work.prove()
    proven = ended(proof, options)
    if proven is Status.OVERFLOW or (proven is not None and reached in (Status.CONVERGED, Status.STUCK)):
        return proven, proof
    if reached is not Status.CONVERGED:
        return reached, proof
    following = at_work.tighten(tol, proof)
    return (following, proof) if isinstance(following, Status) else following


def ended(proof: Certificate, options: Options) -> Status | None:
    """Return how a fit has ended, judged by its last proof, or None if it goes on."""
    if not isfinite(proof.resolution):
        return Status.OVERFLOW
    if not enough(proof.kkt_violation, proof.relative_gap, proof.convex, options):
        return None
    return Status.CONVERGED if proof.convex else Status.NOT_CONVEX


def enough(violation: Any, relative_gap: Any, convex: Any, options: Options) -> Any:
    """Return whether a proof, or each of several, suffices; without a convex program a gap bounds nothing."""
    return (violation <= options.tol) & ((relative_gap <= options.widest_gap) | np.logical_not(convex))


def next_tolerance(tol: float, proof: Certificate, options: Options) -> float:
    """Return the tolerance to go on with after a proof that falls short; 0 if rounding lets no gradient meet one."""
    here = proof.kkt_violation - proof.resolution
    if not proof.kkt_violation <= options.tol:  # the violation includes the errors that the proof counts
        near = min(tol, max(NEXT_TOLERANCE * (options.tol - proof.resolution), TYPICAL * proof.resolution))
        return near if here > near else 0.0
    near = min(tol, tolerance_for_gap(max(here, 0.1 * tol), proof.relative_gap, options.widest_gap))
    return near if near >= in_reach(proof.relative_gap) * proof.resolution else 0.0


def first_tolerance(dual: Dual, options: Options) -> float:
    """Return the tolerance to begin with: one that rounding lets a gradient meet. A proof decides what was reached."""
    return max(options.tol, FIRST_TOLERANCE * max(1.0, float(np.abs(dual.t).max(initial=0.0))))
