"""Axes to draw on; matplotlib is not touched before they are needed."""

from __future__ import annotations

from typing import Any

from ..extras import how_to_get


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
        raise ImportError(f"Pictures need matplotlib: {how_to_get('plot')}") from error
    return Figure(layout="constrained").add_subplot()
