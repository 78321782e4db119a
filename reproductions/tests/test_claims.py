"""The table of a paper's claims."""

import pytest
from reproductions.claims import Claim, beyond, closing, table


def test_a_tick_needs_more_than_one_standard_error():
    assert beyond(2.0, 1.9)
    assert beyond(-2.0, 1.9) is False
    assert beyond(1.9, 1.9) is None
    assert beyond(-0.5, 1.0) is None


def test_a_claim_without_a_number_or_a_reason_is_refused():
    with pytest.raises(ValueError, match="needs a number or a reason"):
        Claim("faster", "3", None, "")


def test_a_table_has_a_row_for_each_claim():
    claims = [Claim("|Σ y α| falls", "2", True, "3 times"), Claim("faster", "3", None, "no such machine")]
    lines = table(claims).split("\n")
    assert len(lines) == 4
    assert "✓" in lines[2]
    assert lines[2].count("|") - lines[2].count("\\|") == 5
    assert lines[3].startswith("| faster | 3 | – |")


def test_the_closing_section_names_its_command():
    section = closing("akaho", [Claim("a", "1", False, "b")], quick=True)
    assert not section.failures
    assert "`python -m reproductions akaho --quick`" in section.markdown()
