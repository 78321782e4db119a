"""The parts of a page: text, tables and figures. Only these make HTML, and they escape whatever they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from .figure import Picture

LONGEST = 200  # Characters of a cell.


@dataclass(frozen=True)
class Text:
    """A paragraph; ``kind`` is 'note', 'warning' or ''."""

    words: str
    kind: str = ""

    def html(self) -> str:
        style = f' class="{escape(self.kind)}"' if self.kind else ""
        return f"<p{style}>{escape(self.words)}</p>"


@dataclass(frozen=True)
class Verbatim:
    """Lines of text as they are."""

    words: str

    def html(self) -> str:
        return f"<pre>{escape(self.words)}</pre>"


@dataclass(frozen=True)
class Figure:
    """A picture with a caption."""

    picture: Picture
    caption: str

    def html(self) -> str:
        svg = self.picture.svg(escape(self.caption, quote=True))
        return f"<figure>{svg}<figcaption>{escape(self.caption)}</figcaption></figure>"


@dataclass(frozen=True)
class Table:
    """A sortable table. Cells are text or numbers; numbers are sorted by their values."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""

    def html(self) -> str:
        caption = f'<p class="note">{escape(self.caption)}</p>' if self.caption else ""
        head = "".join(f'<th scope="col"><button type="button">{escape(one)}</button></th>' for one in self.head)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f'{caption}<div class="scroll" tabindex="0">{table}</div>'


@dataclass(frozen=True)
class Folded:
    """A table that opens on a click."""

    name: str
    table: Table

    def html(self) -> str:
        return f"<details><summary>{escape(self.name)}</summary>{self.table.html()}</details>"


Content = Text | Verbatim | Figure | Table | Folded


@dataclass
class Panel:
    """A question, its answer in a sentence or two, and what the answer rests on."""

    question: str
    answer: str
    parts: list[Content] = field(default_factory=list[Content])


def _cell(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float, np.integer, np.floating)):
        number = float(value)
        shown = said(value)
        return f'<td class="number" data-value="{number!r}">{escape(shown)}</td>'
    text = str(value)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return f"<td>{escape(text)}</td>"


def said(value: Any) -> str:
    """Return a number in words of at most four digits."""
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    number = float(value)
    if np.isnan(number):
        return "–"
    return f"{number:.4g}"


def percent(value: float) -> str:
    """Return a fraction in percent."""
    return "–" if np.isnan(value) else f"{100.0 * value:.1f} %"
