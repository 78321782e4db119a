"""Pages say what is there: the numbers of the measured tables, the names of both libraries, the oldest versions."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from benchmarks.facts import RESULTS, facts, fits, page
from sklearn import svm

import adatron
from adatron.estimators.base.attributes import Attribute

ROOT = Path(__file__).parents[2]
TEXTS = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_page_of_facts_is_that_of_the_tables():
    assert (RESULTS / "facts.md").read_text() == page()


@pytest.mark.parametrize("fact", facts(), ids=lambda fact: fact.words)
def test_pages_quote_a_fact_with_its_numbers(fact):
    found = {path.name: fact.pattern.findall(path.read_text()) for path in TEXTS}
    quoted = [(name, (one,) if isinstance(one, str) else one) for name, several in found.items() for one in several]
    assert quoted
    assert [(name, numbers) for name, numbers in quoted if numbers != fact.numbers] == []


def tables_of(text):
    """The rows of each table, with its headings as keys."""
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        headings, _, *rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines())
        yield [dict(zip(headings, row, strict=False)) for row in rows]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_rows_of_data_sets_are_those_of_the_facts(path):
    known = fits()
    rows = [row for table in tables_of(path.read_text()) for row in table if row.get("data") in known and "s" in row]
    for row in rows:
        entries = known[row["data"]]
        assert {heading: row[heading] for heading in entries if heading in row} == {
            heading: cell for heading, cell in entries.items() if heading in row
        }, row["data"]


PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
NAMES = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"]


def attributes(estimator):
    """Public attributes of a fitted estimator: what fit sets, and properties."""
    kinds = (property, Attribute)
    names = [*vars(estimator), *(n for n in dir(type(estimator)) if isinstance(getattr(type(estimator), n), kinds))]
    return {name for name in names if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_and_attribute_is_named(name):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    for library in (svm, adatron):
        estimator = getattr(library, name)().fit(X, y)
        named = attributes(estimator) | set(estimator.get_params())
        assert {"kernel", "dual_coef_", "coef_"} <= named
        assert [n for n in sorted(named) if f"`{n}`" not in PAGE] == []


def test_every_class_is_named():
    public = {n for n in svm.__all__ if n != "l1_min_c"} | set(NAMES)
    assert [n for n in sorted(public) if f"`{n}`" not in PAGE] == []


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("plot", "bench", "cli", "onnx", "mlflow", "dask", "gpu")  # those for users


def test_the_oldest_versions_are_the_lower_bounds():
    extras = [one for extra in EXTRAS for one in PROJECT["optional-dependencies"][extra]]
    bounds = [re.fullmatch(r"([\w-]+)>=([\d.]+)(,.*)?", one) for one in [*PROJECT["dependencies"], *extras]]
    pinned = [line for line in (ROOT / "constraints/oldest.txt").read_text().splitlines() if line[0] != "#"]
    assert sorted({f"{bound[1]}=={bound[2]}" for bound in bounds if bound}) == sorted(pinned)
    assert [one for one, bound in zip([*PROJECT["dependencies"], *extras], bounds, strict=True) if not bound] == [
        "adatron[plot]"
    ]


def test_the_manual_names_the_lower_bounds():
    bounds = [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
    page = (ROOT / "docs/installing.md").read_text()
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| (?:\w+ \d{4} )?\|$", page, re.MULTILINE)
    assert {name.lower() for name, _ in rows} == {re.split("[>=]", one)[0] for one in bounds}
    for name, limit in re.findall(r"^(\w+)>=.*,<([\d.]+)$", "\n".join(bounds), re.MULTILINE):
        assert f"{name.capitalize()} must also be older than {limit}:" in page
    for name, version in rows:
        assert [one for one in bounds if re.fullmatch(rf"{name.lower()}>={re.escape(version)}(,.*)?", one)], name
