"""Axes to draw on; matplotlib is not touched before they are needed."""

from __future__ import annotations

from typing import Any


def axes(ax: Any = None) -> Any:
    """Return the given axes, or those of a new figure.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'adatron[plot]'") from error
    return Figure(layout="constrained").add_subplot()
