"""Options whose values are the names in a table of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click


class NameIn(click.ParamType[str]):
    """One of the names in a table, which is looked up only when a value is given: the help needs nothing heavy.

    Parameters
    ----------
    name : str
        What is named, for the help.
    names : callable
        Returns the allowed names.
    """

    def __init__(self, name: str, names: Callable[[], Iterable[str]]) -> None:
        self.name, self._names = name, names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is one of the names."""
        allowed = sorted(self._names())
        if value not in allowed:
            self.fail(f"{value!r} is not one of {', '.join(allowed)}", param, ctx)
        return value


def kernel_names() -> Iterable[str]:
    """Return the names of the kernels."""
    from ..kernels.table import LEAVES

    return iter(LEAVES)


def solver_names() -> Iterable[str]:
    """Return the names of the solvers, and the one that leaves the choice to the library."""
    from ..solvers.table import SOLVERS

    return (*SOLVERS, "auto")
