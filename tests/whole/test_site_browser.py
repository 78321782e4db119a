"""The site's look in a real browser: nothing is wider than a telephone, code scrolls, search results have excerpts."""

import shutil
from pathlib import Path

import pytest

from browser import MISSING, Browser, found

pytest.importorskip("pydata_sphinx_theme")
pytest.importorskip("myst_parser")
pytestmark = pytest.mark.skipif(found() is None, reason=MISSING)
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BUILT = DOCS / "_build" / "html"
LONG = "adatron.estimators.incremental.some_module.a_function_with_a_long_name"
PAGE = f"""# Source code for {LONG}

Words about a quokka, and the code `{LONG}(first_argument, second_argument)`.

```python
model = make_pipeline(StandardScaler(), SVC(C=10, gamma="scale")).fit(X, y)  # eighty
```

## More

```text
{"a quokka " * 40}
```

| {LONG} | b |
|---|---|
| 1 | 2 |
"""
CONF = f"""
import sys
sys.path.insert(0, {str(DOCS / "_ext")!r})
extensions = ["myst_parser", "excerpts"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
project, author = "site", "nobody"
"""
# What reaches beyond the window and cannot be scrolled by itself, and what the article cuts off.
WIDE = """(() => {
  const own = element => element.closest("pre, .math, .pst-scrollable-table-container");
  const article = document.querySelector(".bd-article-container");
  if (!article) return [];
  const right = article.getBoundingClientRect().right;
  const found = [...article.querySelectorAll("*")].filter(one => !own(one) && one.getBoundingClientRect().width);
  return found.filter(one => one.getBoundingClientRect().right > right + 1).map(one => one.outerHTML.slice(0, 80));
})()"""
SCROLLING = "[...document.querySelectorAll('pre')].filter(one => one.scrollWidth > one.clientWidth).length"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    from sphinx.cmd.build import build_main

    source = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS / "_static", source / "_static")
    (source / "conf.py").write_text(CONF)
    (source / "index.md").write_text(f"{PAGE}\n```{{toctree}}\nother\n```\n")
    (source / "other.md").write_text(f"# A page whose name is {LONG}\n\nWords.\n")
    assert build_main(["-q", "-E", str(source), str(source / "html")]) == 0
    return source / "html"


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_cut_off(site, browser, width):
    for name in ("index.html", "other.html"):
        browser.open(site / name, width)
        assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
        assert browser.run(WIDE) == []


def test_long_code_scrolls_and_is_not_broken(site, browser):
    browser.open(site / "index.html", 400)
    assert browser.run(SCROLLING) == 2
    browser.open(site / "index.html", 1280)
    assert browser.run(SCROLLING) == 1


def test_the_link_of_a_heading_takes_no_line(site, browser):
    browser.open(site / "index.html", 1280)
    alone, linked = browser.run("""(() => {
      const heading = document.querySelector("h2"), link = heading.querySelector(".headerlink");
      link.remove();
      heading.style.width = "fit-content";
      heading.style.width = getComputedStyle(heading).width;
      const alone = heading.clientHeight;
      heading.append(link);
      return [alone, heading.clientHeight];
    })()""")
    assert alone == linked


def test_code_of_84_characters_takes_one_line(site, browser):
    browser.open(site / "index.html", 1280)
    one = "document.querySelector('.highlight-python pre')"
    assert browser.run(f"{one}.clientHeight < 4 * parseFloat(getComputedStyle({one}).fontSize)")
    assert browser.run(f"parseFloat(getComputedStyle({one}).fontSize)") == 14


def test_search_results_have_excerpts_without_a_server(site, browser):
    browser.open(site / "search.html")
    browser.ask("Page.navigate", url=(site / "search.html").as_uri() + "?q=quokka")
    waiting = "new Promise(done => { const look = () => document.querySelector('#search-results p.context')"
    waiting += " ? done(true) : setTimeout(look, 50); look(); })"
    assert browser.run(waiting)
    assert "Words about a quokka" in browser.run("document.querySelector('#search-results p.context').textContent")


@pytest.mark.skipif(not (BUILT / "index.html").exists(), reason="make docs has not built the site")
def test_nothing_is_cut_off_on_any_page_of_the_built_site(browser):
    wrong = {}
    for path in sorted(BUILT.rglob("*.html")):
        if not {BUILT / "_static", BUILT / "_modules"} & set(path.parents):
            browser.open(path, 400)
            if faults := browser.run(WIDE):
                wrong[str(path.relative_to(BUILT))] = faults
    assert wrong == {}
