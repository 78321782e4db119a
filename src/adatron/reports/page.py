"""One HTML file: styles, script and pictures are in it, and nothing is asked for from elsewhere.

Only its parts (text, tables, figures) make HTML, and they escape whatever they are given. Figures are inline SVG that
is readable on light and dark pages: texts and axes are drawn in a colour that stands for the page's own, and no
background is drawn. Texts stay texts, so a reader can find them and the page's font shows them.
"""

from __future__ import annotations

import base64
import io
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from importlib import resources
from typing import Any, NamedTuple, cast

import numpy as np

from ..files.atomic import atomic_write
from ..insight.subject import Vector
from ..plots.axes import off_screen, require

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


POWER = re.compile(r"\d[\d.]*e[-+]\d+")  # A number with a power of ten.
WIDER = 105.0  # Most pixels of the page for an inch of a drawing.
LONGEST_CELL = 200  # Characters of a cell.
PLAIN_LEAST, PLAIN_MOST = 1e-3, 1e6  # Sizes of numbers that are written without a power of ten.
SAMPLES_SHOWN = 20  # Rows of a table of samples.
OPEN = 4  # Most rows of a table that is open.
WIDE_PANEL = 7.0  # Inches of pictures side by side above which a panel has the width of the page.


@dataclass(frozen=True)
class Text:
    """A paragraph; ``kind`` is 'note', 'warning' or ''."""

    words: str
    kind: str = ""

    def html(self) -> str:
        style = f' class="{escape(self.kind)}"' if self.kind else ""
        return f"<p{style}>{written(self.words)}</p>"


@dataclass(frozen=True)
class Verbatim:
    """Lines of text as they are."""

    words: str

    def html(self) -> str:
        return f"<pre>{escape(self.words)}</pre>"


@dataclass(frozen=True)
class Figure:
    """A picture with a caption.

    svg : the element, whose ids begin with the number of the picture
    width : of the drawing, in inches
    """

    svg: str
    width: float
    caption: str

    def html(self) -> str:
        caption = escape(self.caption)
        head = f'<svg role="img" aria-label="{caption}" style="max-width: {WIDER * self.width:.0f}px" '
        return f"<figure>{self.svg.replace('<svg ', head, 1)}<figcaption>{caption}</figcaption></figure>"


@dataclass(frozen=True)
class SortableTable:
    """A sortable table. Cells are text or numbers; numbers are sorted by their values.

    A column without any value is left out. A long table opens on a click.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""

    def html(self) -> str:
        kept = [k for k in range(len(self.head)) if not all(_missing(row[k]) for row in self.rows)]
        names = [self.head[k] for k in kept]
        head = "".join(f'<th scope="col"><button type="button">{escape(one)}</button></th>' for one in names)
        body = "".join(f"<tr>{''.join(_cell(row[k]) for k in kept)}</tr>" for row in self.rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        table = f'<div class="scroll" tabindex="0">{table}</div>'
        if len(self.rows) > OPEN and self.caption:
            return f"<details><summary>{escape(self.caption)}</summary>{table}</details>"
        return (f'<p class="note">{escape(self.caption)}</p>' if self.caption else "") + table


@dataclass(frozen=True)
class Folded:
    """A part of the page that opens on a click."""

    name: str
    content: Text | Verbatim | SortableTable

    def html(self) -> str:
        return f"<details><summary>{escape(self.name)}</summary>{self.content.html()}</details>"


PagePart = Text | Verbatim | Figure | SortableTable | Folded


@dataclass
class Panel:
    """A question, its answer in a sentence or two, and what the answer rests on."""

    question: str
    answer: str
    parts: list[PagePart] = field(default_factory=list[PagePart])

    def note(self, words: str) -> None:
        """Add a paragraph in small letters."""
        self.parts.append(Text(words, "note"))

    @property
    def wide(self) -> bool:
        """Whether pictures that stand side by side need the width of the page."""
        width = 0.0
        for part in self.parts:
            width = width + part.width if isinstance(part, Figure) else 0.0
            if width > WIDE_PANEL:
                return True
        return False


class Worded(NamedTuple):
    """A number in a table that has words of its own."""

    number: float
    words: str


def _missing(value: Any) -> bool:
    value = value.number if isinstance(value, Worded) else value
    return value == "–" or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))


def _cell(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float, np.integer, np.floating, Worded)):
        number, shown = value if isinstance(value, Worded) else (float(value), digits(value))
        return f'<td class="number" data-value="{number!r}">{escape(shown)}</td>'
    text = str(value)
    text = text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
    return f"<td>{escape(text)}</td>"


def written(words: str) -> str:
    """Return words as HTML; a line does not end within a number."""
    return POWER.sub(r'<span class="number">\g<0></span>', escape(words))


def digits(value: Any) -> str:
    """Return a number in words: three digits, or two and a power of ten, as certificates have them."""
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    number = float(value)
    if np.isnan(number):
        return "–"
    size = abs(number)
    if number and not PLAIN_LEAST <= size < PLAIN_MOST:
        return f"{number:.1e}"
    return f"{number:,.0f}" if size >= 100.0 else f"{number:.3g}"


def percent(value: float) -> str:
    """Return a fraction in percent."""
    return "–" if np.isnan(value) else f"{100.0 * value:.1f} %"


HEIGHT = 800  # Pixels of a report in a notebook.

# A browser then refuses whatever is not in the file, even if text of a user got past the escapes.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'; base-uri 'none'; "
    "form-action 'none'"
)


class Report:
    """The report of a fitted model: eight questions with their answers. ``print`` shows the answers.

    Attributes
    ----------
    title : str
        The title of the page.
    panels : list of Panel
        Each has a ``question`` and an ``answer``.
    html : str
        The page.

    Examples
    --------
    >>> import adatron
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> made = adatron.report(adatron.SVC(C=10).fit(X, y), X, y)
    >>> made.panels[0].question
    'Is it optimal?'
    >>> made.html.startswith("<!DOCTYPE html>")
    True
    """

    def __init__(self, title: str, about: list[PagePart], panels: list[Panel]) -> None:
        self.title, self.panels = title, panels
        self.html = page(title, about, panels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all: to a temporary name first, then renamed."""
        with atomic_write(path) as stream:
            stream.write(self.html.encode())

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, which a notebook shows."""
        return (
            f'<iframe sandbox="allow-scripts" style="border:0;width:100%;height:{HEIGHT}px" '
            f'title="{escape(self.title)}" srcdoc="{escape(self.html, quote=True)}"></iframe>'
        )

    def __str__(self) -> str:
        lines = (f"{number}. {panel.question} {panel.answer}" for number, panel in enumerate(self.panels, 1))
        return "\n".join((self.title, *lines))


def page(title: str, about: Sequence[PagePart], panels: Sequence[Panel]) -> str:
    """Return the page with its title, the parts that stand above the panels, and the questions with their answers."""
    style, script = (
        resources.files("adatron.reports").joinpath(name).read_text("utf-8") for name in ("page.css", "page.js")
    )
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    answers = "".join(
        f'<li><a href="#panel-{number}">{number}. {escape(panel.question)}</a>{written(panel.answer)}</li>'
        for number, panel in enumerate(panels, 1)
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(digest=digest)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body><header><h1>{escape(title)}</h1>"
        f'{_flow(about)}</header><ol class="answers">{answers}</ol>\n'
        f"<main>{''.join(_section(panel, number) for number, panel in enumerate(panels, 1))}</main>"
        f"<script>{script}</script></body></html>\n"
    )


def _section(panel: Panel, number: int) -> str:
    kind = ' class="wide"' if panel.wide else ""
    parts = _flow(panel.parts) or f"<p>{written(panel.answer)}</p>"  # the cards have the answers
    return f'<section id="panel-{number}"{kind}><h2>{number}. {escape(panel.question)}</h2>{parts}</section>\n'


def _flow(parts: Sequence[PagePart]) -> str:
    """Return parts one after the other; figures in a row stand side by side where there is room."""
    out: list[str] = []
    beside = False
    for part in parts:
        if isinstance(part, Figure) != beside:
            beside = not beside
            out.append('<div class="figures">' if beside else "</div>")
        out.append(part.html())
    return "".join([*out, "</div>" if beside else ""])
