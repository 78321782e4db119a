"""Kernel-Adatron: the tables and figures of C. Campbell, N. Cristianini (1998).

The paper's Gaussian kernel exp(-|x - z|^2 / (2 sigma^2)) is gamma = 1 / (2 sigma^2) here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..report import Section, Sheet
from . import digits, evolution, learning_times, rates, soft_margin, solvable, widths


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield the tables and figures in the paper's order; one of several sections comes with the first."""
    yield from rates.sections(quick, sheet)
    yield from widths.sections(quick, sheet)
    yield from solvable.sections(quick, sheet)
    yield from evolution.sections(quick, sheet)
    yield from digits.sections(quick, sheet)
    yield from soft_margin.sections(quick, sheet)
    yield from learning_times.sections(quick, sheet)
