"""SVMseq's tables and figures.

S. Vijayakumar, S. Wu, Sequential support vector classifiers and regression (1999). The paper names no stopping
threshold, no C for the digits and no scale of the polynomial kernel's inputs; each table names our values.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..report import Section, Sheet
from . import angles, digits, regression, sonar


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield Tables 1 to 4, Figures 2 and 3 (Figure 1 is a drawing), and the regression of section 6."""
    yield from angles.sections(quick)
    yield from sonar.sections(sheet)
    yield from digits.sections(quick, sheet)
    yield from regression.sections(sheet)
