"""Sections of a report."""

from adatron.papers.report import Section


def test_a_failed_line_fails_its_section():
    section = Section("Title")
    section.add("quoted", 1, None)
    assert section.holds
    section.add("differs", 1, 2, False)
    assert not section.holds
