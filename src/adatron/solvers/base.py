"""The interface of a solver: what goes in and what comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from typing import ClassVar

import numpy as np

from ..certificates import Certificate
from ..gram import View
from ..problems import Dual
from .solution import Solution
from .status import Status
from .tasks import State, Tasks
from .tolerance import closer
from .watch import Progress, Watch

__all__ = [  # all that a solver of one's own needs
    "Options",
    "Progress",
    "Solution",
    "Solver",
    "State",
    "Status",
    "Tasks",
    "Watch",
    "Way",
]

TYPICAL = 1 / 16  # A gradient's error is at most this fraction of its proven error, as a rule.
BEGUN = 2.0**-40  # Fraction of the largest target below which no first tolerance goes.
WITHIN = 0.9  # Fraction of the tolerance, less the proven errors, that the next tolerance is.


class Way(IntEnum):
    """How one problem is solved, see ``route``."""

    CLOSED = 0
    BUNDLE = 1
    AT_ONCE = 2
    BLOCK = 3
    BLOCKS = 4
    PARTS = 5
    SINGLE_ROWS = 6

    @property
    def said(self) -> str:
        """The way in words."""
        return SAID[self]


SAID = {
    Way.CLOSED: "with nothing to solve",
    Way.BUNDLE: "one block each, many in one go",
    Way.AT_ONCE: "one block in float64, solved and proven in one go",
    Way.BLOCK: "one block",
    Way.BLOCKS: "block after block",
    Way.PARTS: "block after block, the variables in play first as a program of their own",
    Way.SINGLE_ROWS: "by single rows",
}


@dataclass(frozen=True)
class Options:
    """When to stop.

    tol : largest KKT violation
    gap_tol : largest relative duality gap, or None
    max_iter : most iterations, in the solver's own unit
    chosen : whether the user chose that limit; reaching the default says more about the problem
    deadline : value of ``time.monotonic()`` at which to stop
    way : how the problem is solved
    block : most variables in a block of the block solver
    whole : most variables of a part of a problem that is solved as one block
    memory : bytes for the factor of a Newton step, or for stored rows of K
    sized : whether each program is solved in a unit of its own, see ``units``
    """

    tol: float = 1e-3
    gap_tol: float | None = None
    max_iter: int = 10**8
    chosen: bool = False
    deadline: float = np.inf
    way: Way = Way.BLOCKS
    block: int = 1024
    whole: int = 0
    memory: float = 2.5e8
    sized: bool = False

    @property
    def widest_gap(self) -> float:
        """``gap_tol``, or infinity."""
        return np.inf if self.gap_tol is None else self.gap_tol


class Solver(ABC):
    """A way to solve the program: an algorithm with its parameters.

    Attributes
    ----------
    unit : what ``n_iter`` and ``max_iter`` count
    traced : names of what the trace has besides the common quantities
    blocks : whether the solver goes by blocks of variables; other solvers go through single rows, which they store
    """

    unit: ClassVar[str]
    traced: ClassVar[tuple[str, ...]] = ()
    blocks: ClassVar[bool] = False

    @property
    def sharded(self) -> bool:
        """Whether the problem is split into parts that are far from each other."""
        return False

    @property
    def bundles(self) -> bool:
        """Whether compiled code may solve several small problems in the solver's place."""
        return not self.sharded

    @abstractmethod
    def accepts(self, dual: Dual) -> bool:
        """Return whether the algorithm is made for this program."""

    @abstractmethod
    def most(self, n: int) -> int:
        """Return the limit of iterations for n samples unless the user gives one."""

    @abstractmethod
    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        """Solve a program over the rows of a view."""


def ended(proof: Certificate, options: Options) -> Status | None:
    """Return how a fit has ended, judged by its last proof, or None if it goes on."""
    if not isfinite(proof.resolution):
        return Status.OVERFLOW
    if not proof.kkt_violation <= options.tol:
        return None
    if not proof.convex:
        return Status.NOT_CONVEX
    return Status.CONVERGED if proof.relative_gap <= options.widest_gap else None


def nearer(tol: float, proof: Certificate, options: Options) -> float:
    """Return the tolerance to go on with after a proof that falls short; 0 if rounding lets no gradient meet one."""
    here = proof.kkt_violation - proof.resolution
    if not proof.kkt_violation <= options.tol:  # the violation includes the errors that the proof counts
        near = min(tol, max(WITHIN * (options.tol - proof.resolution), TYPICAL * proof.resolution))
        return near if here > near else 0.0
    near = min(tol, closer(max(here, 0.1 * tol), proof.relative_gap, options.widest_gap))
    return near if near >= TYPICAL * proof.resolution else 0.0


def first_tolerance(dual: Dual, options: Options) -> float:
    """Return the tolerance to begin with: one that rounding lets a gradient meet. A proof decides what was reached."""
    return max(options.tol, BEGUN * max(1.0, float(np.abs(dual.t).max(initial=0.0))))
