"""The site's own checks: links within it lead somewhere, and nothing is fetched from another site."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx")
nodes = pytest.importorskip("docutils.nodes")
EXTENSIONS = Path(__file__).parents[2] / "docs" / "_ext"


@pytest.fixture(scope="module")
def wrong():
    return runpy.run_path(str(EXTENSIONS / "checked_links.py"))["wrong"]


def site(folder, body, style=""):
    (folder / "index.html").write_text(f"<html><body>{body}</body></html>")
    (folder / "page.html").write_text('<html><body><h1 id="part">A part</h1></body></html>')
    (folder / "site.css").write_text(style)
    return folder


@pytest.mark.parametrize(
    "body",
    [
        '<a href="page.html">page</a>',
        '<a href="page.html#part">part</a>',
        '<a id="here"></a><a href="#here">here</a>',
        '<a href="https://example.org/">another site, to click</a>',
        '<a href="mailto:somebody@example.org">mail</a>',
        '<link rel="stylesheet" href="site.css">',
        '<link rel="canonical" href="https://example.org/">',
    ],
)
def test_a_good_site(wrong, tmp_path, body):
    assert wrong(site(tmp_path, body, "body { background: url(data:image/png;base64,AA==) }")) == []


@pytest.mark.parametrize(
    ("body", "style"),
    [
        ('<a href="gone.html">gone</a>', ""),
        ('<a href="page.html#gone">gone</a>', ""),
        ('<a href="#gone">gone</a>', ""),
        ('<img src="gone.png">', ""),
        ('<img src="https://example.org/badge.svg">', ""),
        ('<script src="//example.org/math.js"></script>', ""),
        ('<link rel="stylesheet" href="https://example.org/font.css">', ""),
        ('<p style="background: url(https://example.org/p.png)">text</p>', ""),
        ("", '@import "https://example.org/font.css";'),
        ("", "@font-face { src: url('https://example.org/font.woff2') }"),
    ],
)
def test_a_wrong_site(wrong, tmp_path, body, style):
    (line,) = wrong(site(tmp_path, body, style))
    assert "gone" in line or "example.org" in line


def test_formulas_are_mathml():
    names = runpy.run_path(str(EXTENSIONS / "mathml.py"))

    translator = SimpleNamespace(body=[])
    for write in (names["inline"], names["displayed"]):
        with pytest.raises(nodes.SkipNode):
            write(translator, nodes.math("", r"\tfrac{1}{2}\, \beta^\top K \beta"))
    assert all("<math" in text and "β" in text and "\\" not in text for text in translator.body)
