"""Axes to draw on, and what all displays share; matplotlib is not touched before it is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from ..docstrings import documented
from ..extras import needed

Shown = TypeVar("Shown", bound=type)

#: Colours that people with any kind of colour blindness tell apart (M. Petroff, arXiv:2107.02270).
COLORS = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
MARKERS = "oX^v<>sdP*"  # One a class, and again from the first.
FAINT = 0.25  # Opacity of the regions of classes.
ROOMY = 0.04  # Fraction of the picture above which a region has room for its name.
SMOOTHED_POINTS = 5  # Points of a border whose mean is drawn.
LONGEST_NAME = 28  # Characters of a name in a picture.


@dataclass_transform()
def display(kind: Shown) -> Shown:
    """Make the dataclass of a display, whose docstring has the attributes of every display, too; a decorator."""
    return documented(dataclass(repr=False)(kind))


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

    def __repr__(self) -> str:
        """Return one line: a notebook writes it above the picture."""
        return f"<{type(self).__name__}, {'not drawn' if self.ax_ is None else 'drawn'}>"

    def _on(self, ax: Any) -> Any:
        """Return the axes to draw on, which the display keeps."""
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        return self.ax_


def axes(ax: Any = None) -> Any:
    """Return the given axes, or those of a new figure, which a notebook shows; see ``require``."""
    if ax is not None:
        return ax
    require()
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def off_screen(**figure: Any) -> Any:
    """Return the axes of a new figure for a file, of which ``matplotlib.pyplot`` does not know; see ``require``."""
    require()
    from matplotlib.figure import Figure

    return Figure(layout="constrained", **figure).add_subplot()


def require() -> None:
    """Raise an ImportError if matplotlib is not installed; the message says how to get it."""
    needed("matplotlib", "plot", "Pictures need")


def literal(name: Any) -> str:
    """Return a name that matplotlib draws as it is: no formula, no hidden legend entry, not too long."""
    text = " ".join(str(name).split())
    text = text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"
    text = text.replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text  # a zero-width space


def color(number: int) -> str:
    """Return the colour of a class."""
    return COLORS[number % len(COLORS)]


def marker(number: int) -> str:
    """Return the marker of a class; classes of one colour have different ones."""
    return MARKERS[(number + number // len(COLORS)) % len(MARKERS)]


def regions(ax: Any, grid: tuple[Any, Any], codes: Any, names: Any, curve: Any = None) -> None:
    """Draw the regions of classes as one image, and the borders between them as curves.

    grid : evenly spaced coordinates of the points, to the right and upwards
    codes : (n, n) number of the class at each point
    names : of all classes; they are written into the regions if there are more classes than colours
    curve : coordinates to the right and upwards, and a function of them that is 0 at the border of two classes
    """
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(color(code)) for code in range(len(names))])
    steps = [0.5 * (line[1] - line[0]) for line in grid]
    extent = [end for line, step in zip(grid, steps, strict=True) for end in (line[0] - step, line[-1] + step)]
    ax.imshow(palette[codes], extent=extent, origin="lower", interpolation="nearest", alpha=FAINT, zorder=0)
    if curve is not None:
        ax.contour(*curve, [0.0], colors="0.5", linewidths=2)
        return
    for code in np.unique(codes).tolist():
        here = codes == code
        _border(ax, grid, here)
        if len(names) > len(COLORS):
            _name_region(ax, grid, here, names[code])


def _border(ax: Any, grid: tuple[Any, Any], here: Any) -> None:
    """Draw the border of a region, rounded off by less than two steps of the grid."""
    from contourpy import contour_generator
    from scipy.ndimage import uniform_filter1d

    for line in contour_generator(*grid, here.astype(float)).lines(0.5):
        closed = bool((line[0] == line[-1]).all())
        smooth = uniform_filter1d(
            line[:-1] if closed else line, SMOOTHED_POINTS, axis=0, mode="wrap" if closed else "nearest"
        )
        ax.plot(*(np.vstack([smooth, smooth[:1]]) if closed else smooth).T, color="0.5", linewidth=1, zorder=1)


def _name_region(ax: Any, grid: tuple[Any, Any], here: Any, name: Any) -> None:
    """Write the name of a region at its widest place, if there is room."""
    from scipy.ndimage import distance_transform_edt

    padded: Any = distance_transform_edt(np.pad(here, 1))
    depth = padded[1:-1, 1:-1]
    row, column = np.unravel_index(int(np.argmax(depth)), depth.shape)
    if depth[row, column] > ROOMY * len(depth):
        style: Any = {"ha": "center", "va": "center", "fontsize": "small", "alpha": 0.8}
        ax.text(grid[0][column], grid[1][row], literal(name), **style)


def bars(ax: Any, labels: list[str], lengths: Any, bound: Any = None) -> None:
    """Draw horizontal bars, the first at the top; ``bound`` says for each whether its sample is at the bound."""
    at = np.arange(len(labels))
    groups = [(np.ones(len(at), bool), COLORS[0], None)]
    if bound is not None:
        groups = [(~bound, COLORS[0], "free"), (bound, COLORS[2], "at the bound")]
    for some, colour, name in groups:
        if some.any():
            ax.barh(at[some], np.asarray(lengths)[some], color=colour, height=0.7, label=name)
    ax.set_yticks(at, [literal(label) for label in labels])
    ax.invert_yaxis()
    ax.locator_params(axis="x", nbins=5)  # small numbers have long names
    named = bound is not None and len(at) > 0
    ax.set_ylim(len(labels) + (0.7 if named else -0.4), -0.6)
    if named:  # below the last bar, where it hides nothing
        ax.legend(fontsize="small", loc="lower right", ncols=2, frameon=False)
