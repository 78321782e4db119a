"""Numbers that the pages quote are those of the measured tables."""

import re
from pathlib import Path

import pytest
from benchmarks.facts import RESULTS, facts, fits, page

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
