"""Sections of a report."""

from adatron.papers.report import Section


def test_a_failed_line_fails_its_section():
    section = Section("Title")
    section.add("quoted", 1, None)
    assert section.holds
    section.add("differs", 1, 2, False)
    assert not section.holds


def test_a_difference_that_is_explained_is_no_failure():
    section = Section("Title")
    section.add("differs", 1, 2, False, why_not="other data")
    assert section.holds
    assert "✗ other data" in section.markdown()
    section.add("holds", 1, 1, True, why_not="other data")
    assert section.lines[1].why_not == ""
