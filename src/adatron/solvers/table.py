"""The one table of solvers. A new solver is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable

from ..gram import View
from ..problems import Dual
from .base import Options, Solution, State, Watch
from .block import block

Solver = Callable[[View, Dual, Options, State | None, Watch], Solution]

SOLVERS: dict[str, Solver] = {
    "block": block,
}


def choose(name: str) -> Solver:
    """The solver with this name; 'auto' is the block solver, which takes every problem."""
    return SOLVERS["block" if name == "auto" else name]
