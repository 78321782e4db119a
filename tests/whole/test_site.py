"""What the site is made of: links of texts lead somewhere, and the reference is whole."""

import inspect
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("sphinx")
nodes = pytest.importorskip("docutils.nodes")
ROOT = Path(__file__).parents[2]
EXTENSIONS = ROOT / "docs" / "_ext"
FOLDERS = (".", "docs", "benchmarks", "benchmarks/*", "constraints", "scripts")
TEXTS = sorted({path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.md")})


def test_formulas_are_mathml():
    names = runpy.run_path(str(EXTENSIONS / "mathml.py"))

    translator = SimpleNamespace(body=[])
    for write in (names["inline"], names["displayed"]):
        with pytest.raises(nodes.SkipNode):
            write(translator, nodes.math("", r"\tfrac{1}{2}\, \beta^\top K \beta"))
    assert all("<math" in text and "β" in text and "\\" not in text for text in translator.body)


def anchors(text):
    headings = (re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in re.findall(r"(?m)^#+ (.*)$", text))
    return {"", *headings, *re.findall(r'(?:id|name)="([^"]+)"', text)}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_texts_lead_somewhere(path):
    """The repository's pages show these texts, too, where no site is built."""
    for address in re.findall(r'(?:\]\(|(?:href|src)=")([^)\s"]+)', path.read_text("utf-8")):
        parts = urlsplit(address)
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if parts.scheme or target.relative_to(ROOT).parts[:2] == (
            "docs",
            "api",
        ):  # made with the site, and checked there
            continue
        assert target.exists(), address
        if target.suffix == ".md":
            assert unquote(parts.fragment) in anchors(target.read_text("utf-8")), address


GROUPS = {path.stem: path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("api-*.md"))}
REFERENCE = [name for text in GROUPS.values() for name in re.findall(r"^   ~(adatron[.\w]+)$", text, re.MULTILINE)]


def documented():
    """Yield the name and the docstring of what has a page in the reference, and of its own methods, each text once."""
    seen = set()
    for name in REFERENCE:
        home, _, own = name.rpartition(".")
        one = getattr(pytest.importorskip(home), own)
        methods = [key for key in dir(one) if not key.startswith("_")] if inspect.isclass(one) else []
        parts = {name: one} | {f"{name}.{key}": getattr(one, key) for key in methods}
        for part, value in parts.items():
            ours = callable(value) and "adatron" in str(getattr(value, "__module__", ""))
            text = inspect.getdoc(value) if ours else None
            if text and text not in seen:
                seen.add(text)
                yield part, text


def test_every_parameter_of_the_reference_has_a_description():
    scrape = pytest.importorskip("numpydoc.docscrape")
    for name, text in documented():
        found = scrape.NumpyDocString(text)
        for section in ("Parameters", "Attributes"):
            for one in found[section]:
                words = " ".join(one.desc).strip() or (" " in one.type and not re.search("shape|default", one.type))
                assert words or one.type == "int", f"{name}: {one.name}"


def test_every_page_of_the_reference_has_an_example():
    assert [name for name, text in documented() if name in REFERENCE and ">>>" not in text] == []


def extension(name):
    return runpy.run_path(str(EXTENSIONS / f"{name}.py"))


def test_each_example_has_its_place_in_the_gallery():
    lessons = extension("lessons")
    there = {path.parent.name: set() for path in ROOT.glob("examples/*/*.py")}
    for path in ROOT.glob("examples/*/*.py"):
        there[path.parent.name].add(path.stem)
    assert there == {folder: set(names) for folder, names in lessons["LESSONS"].items()}
    key = lessons["LessonKey"]("../examples/begin")
    assert sorted(["search.py", "first_fit.py"], key=key) == ["first_fit.py", "search.py"]
