"""The list of the papers."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from reproductions import DATA_SETS, PAPERS, introduction
from reproductions.claims import LEGEND
from reproductions.data import SETS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_is_a_module_with_sections(name):
    assert callable(import_module(f"reproductions.{name}").sections)
    assert set(DATA_SETS[name]) <= SETS.keys()


def test_every_paper_has_its_data():
    assert DATA_SETS.keys() == PAPERS.keys()


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_opens_with_three_sentences_and_the_legend(name):
    said, legend = introduction(name).rstrip().split("\n\n")
    assert len(re.findall(r"\.(?= |$)", said)) == 3
    assert legend == LEGEND
    assert "[Claims](#claims)" in legend


@pytest.mark.parametrize("arguments", [["akah"], ["akaho", "--quick", "isda"]], ids=" ".join)
def test_pages_of_no_paper_are_refused_at_once(arguments):
    command = [sys.executable, "-m", "reproductions.pages", *arguments]
    made = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=60)
    assert made.returncode == 2
    assert "reproductions.pages: error: " in made.stderr
