"""Checks of the built site: each link within it leads somewhere, and nothing is fetched from another site.

A link that was written wrongly is text on the page: ``[words][no such label]``, or Markdown in a docstring. The checks
find such text, too, and code between backquotes that became no code.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.util import logging

#: Attributes whose address a browser fetches to show a page. A link to click is another thing.
FETCHED = {("link", "href"), ("object", "data"), ("video", "poster"), ("image", "href"), ("image", "xlink:href")} | {
    (tag, "src") for tag in ("audio", "embed", "iframe", "img", "input", "script", "source", "track", "video")
}
CLICKED = {("a", "href"), ("a", "xlink:href"), ("area", "href"), ("form", "action")}
#: Elements whose text may look like a link.
LITERAL = {"code", "pre", "script", "style", "textarea", "kbd", "annotation"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
#: Marks of Markdown or reStructuredText that became text: code, a link with a label or an address, a reference, a role.
NO_LINK = re.compile(
    r"``[^`\n]*(?:``)?|!?\[[^\[\]\n]+\]\[[^\[\]\n]*\]|\[[^\[\]\n]+\]\([^()\s]+\)|`[^`\n]+`_|:[a-z]+:`[^`\n]+`"
)
FETCHING_RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "modulepreload", "manifest"}
FETCHED_BY_STYLE = re.compile(r"""(?:@import\s+|url\()\s*["']?((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """The addresses of a page: those that a browser fetches, those to click, and its own anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: set[str] = set()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "top"}
        self.no_links: set[str] = set()
        self.inside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag names."""
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        self.fetched.update(FETCHED_BY_STYLE.findall(values.get("style", "")))
        if tag not in VOID:
            self.inside.append(tag)
        for one in values.get("srcset", "").split(", "):
            self.fetched.update(one.split()[:1])
        relations = set(values.get("rel", "").split())
        for name, value in values.items():
            if (tag, name) in FETCHED and (tag != "link" or relations & FETCHING_RELATIONS):
                self.fetched.add(value)
            elif (tag, name) in CLICKED:
                self.links.add(value)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, and those in it that do not say where they end."""
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        """Collect text that was meant to be a link."""
        if not LITERAL & set(self.inside):
            self.no_links.update(NO_LINK.findall(data))


def is_elsewhere(address: str) -> bool:
    """Return whether an address is on another site."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in {"http", "https"}


def wrong(folder: Path) -> list[str]:
    """Return a line for each link that leads nowhere, and for each address that is fetched from another site."""
    static = folder / "_static"  # templates of the theme are there, too
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html")) if static not in path.parents}
    lines = []
    for path, page in pages.items():
        where = path.relative_to(folder.resolve())
        lines += [f"{where} fetches {address}" for address in sorted(page.fetched) if is_elsewhere(address)]
        lines += [f"{where} has text that was meant as a link: {text}" for text in sorted(page.no_links)]
        for address in sorted(page.links | page.fetched):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            there = target.is_file() and (
                target not in pages or not parts.fragment or unquote(parts.fragment) in pages[target].anchors
            )
            if not there:
                lines.append(f"{where} has a link that leads nowhere: {address}")
    for path in sorted(folder.rglob("*.css")):
        found = FETCHED_BY_STYLE.findall(path.read_text(encoding="utf-8"))
        lines += [f"{path.relative_to(folder)} fetches {address}" for address in found]
    return lines


def check(app: Sphinx, error: Exception | None) -> None:
    """Warn about each wrong line; ``make docs`` fails then."""
    if error is None and app.builder.format == "html":
        for line in wrong(Path(app.outdir)):
            logging.getLogger(__name__).warning("%s", line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Check when the site is built."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
