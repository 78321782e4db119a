"""The interface of a solver: what goes in and what comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from ..gram import View
from ..problems import Dual
from .results import Solution, Status
from .tasks import State, Tasks
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


class Way(IntEnum):
    """How one problem is solved, see ``route``."""

    CLOSED = 0
    BUNDLE = 1
    AT_ONCE = 2
    BLOCK = 3
    BLOCKS = 4
    PARTS = 5
    SINGLE_ROWS = 6
    DEVICE = 7

    @property
    def said(self) -> str:
        """The way in words."""
        return WAY_WORDS[self]


WAY_WORDS = {
    Way.CLOSED: "with nothing to solve",
    Way.BUNDLE: "one block each, many in one go",
    Way.AT_ONCE: "one block in float64, solved and measured in one go",
    Way.BLOCK: "one block",
    Way.BLOCKS: "block after block",
    Way.PARTS: "block after block, the variables in play first as a program of their own",
    Way.SINGLE_ROWS: "by single rows",
    Way.DEVICE: "on the device, all side by side",
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
    traced : names of the quantities that the trace has besides the common ones
    blocks : whether the solver goes by blocks of variables; other solvers go through single rows, which they store
    """

    unit: ClassVar[str]
    traced: ClassVar[tuple[str, ...]] = ()
    blocks: ClassVar[bool] = False
    #: Whether compiled code may solve several small problems in the solver's place.
    bundles: ClassVar[bool] = True

    @abstractmethod
    def accepts(self, dual: Dual) -> bool:
        """Return whether the algorithm is made for this program."""

    @abstractmethod
    def most(self, n: int) -> int:
        """Return the limit of iterations for n samples unless the user gives one."""

    @abstractmethod
    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        """Solve a program over the rows of a view."""
