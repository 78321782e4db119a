"""One HTML file: styles, script and pictures are in it, and nothing is asked for from elsewhere."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib import resources

from ..files.atomic import atomic_write
from .parts import Figure, PagePart, Panel, written

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
