"""Claims take their marks from the lines of a page."""

import pytest
from reproductions.held import Said, closed, held
from reproductions.report import Section


def page():
    section = Section("Title")
    section.add("error, first", 1, 0.5, True)
    section.add("error, second", 1, 2.0, False)
    section.add("time", 1, 3)
    return section


def test_a_claim_holds_if_all_of_its_lines_do():
    said = [
        Said("first", "1", "error, first", "{}"),
        Said("both", "1", "error", "{}"),
        Said("time", "2", "time", "{} s"),
    ]
    one, both, time = held([page()], said)
    assert (one.held, one.by) == (True, "0.5")
    assert (both.held, both.by) == (False, "0.5, 2")
    assert (time.held, time.by) == (None, "3 s")


def test_a_claim_without_lines_has_its_reason():
    (claim,) = held([page()], [Said("proven", "1", "", "a proof")])
    assert (claim.held, claim.by) == (None, "a proof")


def test_a_claim_that_no_line_shows_is_an_error():
    with pytest.raises(KeyError, match="nothing"):
        list(held([page()], [Said("lost", "1", "nothing", "{}")]))


def test_the_claims_come_last():
    first, last = closed("isda", [page()], [Said("time", "2", "time", "{} s")], quick=True)
    assert first.title == "Title"
    assert "| time | 2 | – | 3 s |" in last.markdown()
    assert "python -m reproductions isda --quick" in last.markdown()
