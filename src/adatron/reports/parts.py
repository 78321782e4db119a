"""The parts of a page: text, tables and figures. Only these make HTML, and they escape whatever they are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np

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
    """What opens on a click."""

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
        number, shown = value if isinstance(value, Worded) else (float(value), said(value))
        return f'<td class="number" data-value="{number!r}">{escape(shown)}</td>'
    text = str(value)
    text = text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
    return f"<td>{escape(text)}</td>"


def written(words: str) -> str:
    """Return words as HTML; a line does not end within a number."""
    return POWER.sub(r'<span class="number">\g<0></span>', escape(words))


def said(value: Any) -> str:
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
