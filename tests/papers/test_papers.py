"""The list of the papers."""

import re
from importlib import import_module

import pytest

from adatron.papers import DATA, PAPERS, introduction
from adatron.papers.claims import LEGEND
from adatron.papers.data import SETS


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_is_a_module_with_sections(name):
    assert callable(import_module(f"adatron.papers.{name}").sections)
    assert set(DATA[name]) <= SETS.keys()


def test_every_paper_has_its_data():
    assert DATA.keys() == PAPERS.keys()


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_opens_with_three_sentences_and_the_legend(name):
    said, legend = introduction(name).rstrip().split("\n\n")
    assert len(re.findall(r"\.(?= |$)", said)) == 3
    assert legend == LEGEND
    assert "[Claims](#claims)" in legend
