"""Sections of a report."""

from reproductions.report import Section


def test_a_failed_line_fails_its_section():
    section = Section("Title")
    section.add("quoted", 1, None)
    assert not section.failures
    section.add("differs", 1, 2, False)
    assert [line.what for line in section.failures] == ["differs"]


def test_a_difference_that_is_explained_is_no_failure():
    section = Section("Title")
    section.add("differs", 1, 2, False, why_not="other data")
    assert not section.failures
    assert "✗ other data" in section.markdown()
    section.add("holds", 1, 1, True, why_not="other data")
    assert section.lines[1].why_not == ""


def test_a_bar_is_no_border_of_a_cell():
    section = Section("Title")
    section.add("|c/λ|", "< 1", 0.5, True)
    assert "| \\|c/λ\\| | < 1 | 0.5 | ✓ |" in section.markdown()
