"""The papers' tables: what can be reproduced is, on the quick sections and on small parts of the rest."""

from adatron.papers import PAPERS


def test_a_paper_is_a_module_with_sections():
    for name in ("svmseq", "isda"):
        assert name in PAPERS
