"""Axes to draw on; matplotlib is not touched before they are needed."""

from __future__ import annotations

from typing import Any

from ..extras import needed


def axes(ax: Any = None) -> Any:
    """Return the given axes, or those of a new figure.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    return needed("matplotlib.figure", "plot", "Pictures need").Figure(layout="constrained").add_subplot()
