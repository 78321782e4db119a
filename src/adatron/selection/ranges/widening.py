"""A grid whose ranges follow from the data, and become wider while the best candidate is at an edge."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from ...outcome import edges
from .auto import Axis, decides, ranges

WIDENINGS = 6  # Most times that the ranges are made wider.
AUTO = "auto"  # In the place of values: a range that follows from the data.
AT_EDGE = (
    "The best candidate of the search is at the edge of its range, after {} steps beyond the first range: {}. Better "
    "ones may lie beyond it: give further values."
)

CvResults = dict[str, Any]


class Ranges:
    """A grid of lists and of ranges."""

    def __init__(self, lists: dict[str, Any], axes: dict[str, Axis]) -> None:
        self.lists, self.axes = lists, axes

    def grid(self) -> dict[str, Any]:
        """Return the grid with the present values."""
        return self.lists | {name: list(axis.values) for name, axis in self.axes.items()}

    def open_edges(self, at: dict[str, str]) -> dict[str, str]:
        """Return the edges among these that have values beyond them."""
        return {
            name: word
            for name, word in at.items()
            if name in self.axes and self.axes[name].beyond(word) is not None
        }  # fmt: skip

    def widen(self, at: dict[str, str]) -> list[dict[str, Any]]:
        """Go beyond some edges; return the new candidates."""
        before = list(ParameterGrid(self.grid()))
        for name, word in at.items():
            self.axes[name] = self.axes[name].wider(word)
        old = {tuple(candidate[name] for name in self.axes) for candidate in before}
        return [one for one in ParameterGrid(self.grid()) if tuple(one[name] for name in self.axes) not in old]


def asks(param_grid: Any) -> bool:
    """Return whether a grid asks for a range that follows from the data."""
    if isinstance(param_grid, str):
        return param_grid == AUTO
    grids: list[Any] = param_grid if isinstance(param_grid, list) else [param_grid]
    return any(isinstance(grid, dict) and any(_auto(value) for value in grid.values()) for grid in grids)


def _auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO


def found_ranges(estimator: Any, param_grid: Any, X: Any, y: Any) -> list[Ranges]:
    """Return the grids of ``param_grid`` with the ranges that follow from the data."""
    if isinstance(param_grid, str):
        return [Ranges({}, ranges(estimator, X, y, None))]
    out: list[Ranges] = []
    for grid in param_grid if isinstance(param_grid, list) else [param_grid]:
        lists = {name: values for name, values in grid.items() if not _auto(values)}
        ParameterGrid(lists)  # says what is wrong with a list
        names = [name for name in grid if name not in lists]
        out += _with_ranges(estimator, lists, names, X, y) if names else [Ranges(lists, {})]
    return out


def _with_ranges(estimator: Any, lists: dict[str, Any], names: list[str], X: Any, y: Any) -> list[Ranges]:
    """Return the grid of some lists and ranges, or a grid for each kernel and preparation if their ranges differ.

    A kernel without a parameter goes without its range, unless no kernel has the parameter.
    """
    settings = list(ParameterGrid({name: values for name, values in lists.items() if decides(estimator, name)}))
    known = [ranges(_with(estimator, one), X, y, None) for one in settings]
    for name in names:
        if not any(name in axes for axes in known):
            ranges(_with(estimator, settings[0]), X, y, [name])  # says what is wrong
    found = [{name: axes[name] for name in names if name in axes} for axes in known]
    if all(axes == found[0] for axes in found):
        return [Ranges(lists, found[0])]
    alone = ({name: [value] for name, value in one.items()} for one in settings)
    return [Ranges(lists | one, axes) for one, axes in zip(alone, found, strict=True)]


def _with(estimator: Any, params: dict[str, Any]) -> Any:
    """Return a copy of an estimator with copies of other parameters: estimators among these are not changed."""
    copied: Any = clone
    return copied(estimator).set_params(**{name: copied(value, safe=False) for name, value in params.items()})


def search_ranges(
    grids: list[Ranges], evaluated: Callable[[Iterable[dict[str, Any]]], CvResults],
    best: Callable[[CvResults], NDArray[np.int64]], over: Callable[[], bool],
) -> None:  # fmt: skip
    """Evaluate the candidates of grids, and further ones while the best one is at an edge.

    best : returns the best candidates of some results
    over : returns whether no further candidate may begin
    """
    new = [(number, one) for number, grid in enumerate(grids) for one in ParameterGrid(grid.grid())]
    owners: list[int] = []
    for step in range(WIDENINGS + 1):
        results = evaluated([one for _, one in new])
        owners += [number for number, _ in new]
        chosen = best(results)
        there = _open_edges(grids, owners, results, chosen)
        if not there or (step < WIDENINGS and over()):
            return
        if step == WIDENINGS:
            ends = [(name, word) for at in there.values() for name, word in at.items()]
            printed = [f"the {word} {name}, {results['params'][chosen[0]][name]:g}" for name, word in ends]
            warnings.warn(AT_EDGE.format(WIDENINGS, " and ".join(printed)), UserWarning, stacklevel=2)
            return
        new = [(number, one) for number, at in there.items() for one in grids[number].widen(at)]


def _open_edges(
    grids: list[Ranges], owners: list[int], results: CvResults, chosen: NDArray[np.int64]
) -> dict[int, dict[str, str]]:
    """Return, for each grid, the edges that all best candidates are at and that have values beyond them."""
    own = np.array(owners)
    out: dict[int, dict[str, str]] = {}
    for number in np.unique(own[chosen]).tolist():
        some = np.flatnonzero(own == number)
        part = {
            name: column[some] for name, column in results.items() if name.startswith("param_")
        } | {"params": [results["params"][k] for k in some.tolist()]}  # fmt: skip
        at = edges(part, np.flatnonzero(np.isin(some, chosen)))
        out[number] = grids[number].open_edges(at)
    # A tie with a candidate inside another grid's range is no edge.
    return out if out and all(out.values()) else {}
