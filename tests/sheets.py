"""What the tests of the papers look at."""

from adatron.papers.report import Sheet

NO_FIGURES = Sheet(None)


def assert_holds(section):
    failed = [line for line in section.lines if line.holds is False and not line.why_not]
    assert not failed, failed
    assert section.holds
    assert section.title in section.markdown()
