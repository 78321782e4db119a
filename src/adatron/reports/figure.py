"""Pictures as inline SVG that is readable on light and dark pages.

Texts and axes are drawn in a colour that stands for the page's own, and no background is drawn. Texts stay texts, so a
reader can find them and the page's font shows them.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ..insight.subject import Vector
from ..plots.axes import off_screen, require
from .parts import Figure

INK = "#010203"  # becomes the colour of the page's text
IDS = re.compile(r'(\bid="|xlink:href="#|url\(#)([^")]+)')
SVG_HEAD = re.compile(r"^.*?<svg ", re.DOTALL)
SVG_SIZE = re.compile(r'\s(?:width|height)="[\d.]+pt"')
STYLE = re.compile(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", re.DOTALL)
TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
META = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "adatron",
    "font.size": 10,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # to measure by; the page has its own
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.framealpha": 0.0,
    "legend.frameon": False,
    "text.usetex": False,
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color", "ytick.color"), INK
    ),
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.labelcolor": INK,
    "patch.edgecolor": INK,
}


# Inches: of a picture, of one of two pictures in its place, of a bar's height.
PICTURE_WIDTH, HALF_WIDTH, BAR_HEIGHT = 5.2, 3.0, 0.26
GROUP, MOST_GROUPS = 5, 20  # Fewest samples of a group, and most groups.


class Gallery:
    """Draws the pictures of one page, whose ids all differ."""

    def __init__(self) -> None:
        require()
        self.count = 0

    def draw(
        self, plot: Callable[[Any], object], caption: str, width: float = PICTURE_WIDTH, height: float = 2.8
    ) -> Figure:
        """Return the picture that a function draws on the axes it is given."""
        import matplotlib as mpl

        self.count += 1
        with mpl.rc_context(rc=cast("Any", SETTINGS)), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from")  # the reader's fonts have it
            ax = off_screen(figsize=(width, height))
            plot(ax)
            stream = io.StringIO()
            ax.figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
        return Figure(_inline(stream.getvalue(), self.count), width, caption)


def _inline(text: str, number: int) -> str:
    """Return the SVG element of a file, for a page that holds several."""
    text = META.sub("", SVG_HEAD.sub("<svg ", text, count=1))
    head, found, rest = STYLE.sub("", text, count=1).partition(">")
    head = SVG_SIZE.sub("", head)

    def own(tag: re.Match[str]) -> str:
        if tag[0].startswith("<!--"):
            return ""
        return IDS.sub(lambda match: f"{match[1]}f{number}-{match[2]}", tag[0]).replace(INK, "currentColor")

    return TAG.sub(own, head + found + rest).strip()  # words between tags stay as they are


def grouped(values: Any, *more: Any) -> list[Vector]:
    """Return means over groups of samples with neighbouring values, for pictures that must not show single samples.

    They are the means of the values, and of more values of the same samples.
    """
    order = np.argsort(values, kind="stable")
    parts = np.array_split(order, max(1, min(MOST_GROUPS, len(order) // GROUP)))
    return [np.array([np.mean(one[part]) for part in parts]) for one in (values, *more)]
