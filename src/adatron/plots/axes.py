"""Axes to draw on, and what all displays share; matplotlib is not touched before it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..extras import needed

#: Colours that people with any kind of colour blindness tell apart (M. Petroff, arXiv:2107.02270).
COLORS = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
MARKERS = "ox^v<>sdP*"
LONGEST = 28  # Characters of a name in a picture.


class Display:
    """Base of the displays.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where the display was drawn.
    figure_ : matplotlib figure
        The figure of these axes.
    """

    ax_: Any = None
    figure_: Any = None

    def _on(self, ax: Any) -> Any:
        """Return the axes to draw on, which the display keeps."""
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        return self.ax_


def axes(ax: Any = None) -> Any:
    """Return the given axes, or those of a new figure of ``matplotlib.pyplot``, which a notebook shows.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    require()
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def off_screen(**figure: Any) -> Any:
    """Return the axes of a new figure for a file, of which ``matplotlib.pyplot`` does not know.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    require()
    from matplotlib.figure import Figure

    return Figure(layout="constrained", **figure).add_subplot()


def require() -> None:
    """Fail if matplotlib is not installed; the message says how to get it."""
    needed("matplotlib", "plot", "Pictures need")


def literal(name: Any) -> str:
    """Return a name that matplotlib draws as it is: no formula, no hidden legend entry, not too long."""
    text = " ".join(str(name).split())
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    text = text.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text  # a zero-width space


def color(number: int) -> str:
    """Return the colour of a class."""
    return COLORS[number % len(COLORS)]


def marker(number: int) -> str:
    """Return the marker of a class."""
    return MARKERS[number % len(MARKERS)]


def bars(ax: Any, labels: list[str], lengths: Any, colors: Any) -> None:
    """Draw horizontal bars, the first at the top."""
    at = np.arange(len(labels))
    ax.barh(at, lengths, color=colors, height=0.7)
    ax.set_yticks(at, [literal(label) for label in labels])
    ax.invert_yaxis()
    ax.set_ylim(len(labels) - 0.4, -0.6)
