"""The prose of each page in one file: search results show it around the words that were found, also without a server.

Sphinx fetches a page for its excerpt, which a browser refuses for files, and takes code for prose.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import desc_signature, toctree
from sphinx.application import Sphinx

FILE = "excerpts.js"
NO_PROSE = (
    nodes.literal_block,
    nodes.doctest_block,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
    toctree,
    desc_signature,
)
ANSWERING = """
const fetched = window.fetch;
window.fetch = (address, ...more) => {
  const page = String(address).replace(/^(\\.\\/)+/, "").replace(/\\.html$/, "");
  if (!(page in PROSE)) return fetched(address, ...more);
  return Promise.resolve({ text: () => `<div role="main">${PROSE[page]}</div>` });
};
"""


def prose(node: Any) -> str:
    """Return the words of a part of a page, its sections marked by their anchors."""
    if isinstance(node, (nodes.Text, *NO_PROSE)):
        return ""
    if any(name.startswith("sphx-glr") for name in node["classes"]):  # what the gallery adds
        return ""
    if isinstance(node, (nodes.paragraph, nodes.title, nodes.term)):
        return f"{escape(' '.join(node.astext().split()))} "
    inside = "".join(map(prose, node.children))
    return f'<section id="{node["ids"][0]}">{inside}</section>' if isinstance(node, nodes.section) else inside


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the file when the site is built."""
    if error is None and app.builder.format == "html":
        pages = {name: prose(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        text = f"const PROSE = {json.dumps(pages, ensure_ascii=False)};\n{ANSWERING}"
        (Path(app.outdir) / "_static" / FILE).write_text(text, encoding="utf-8")


def attach(app: Sphinx, page: str, *_: Any) -> None:
    """Let the page of search results load it."""
    if page == "search":
        app.add_js_file(FILE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the prose, and attach it."""
    app.connect("html-page-context", attach)
    app.connect("build-finished", write, priority=400)  # before the links are checked
    return {"parallel_read_safe": True, "parallel_write_safe": True}
