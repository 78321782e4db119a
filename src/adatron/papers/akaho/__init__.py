"""The margin in the input space: the figures of S. Akaho, Maximizing the margin in the input space (2002).

The paper's Gaussian kernel with σ² = 1 is read as exp(-|x - z|² / (2σ²)), gamma = 1/2. Its 20 training samples are
read as 10 of each class. Every class has three centres of its own, drawn from [0, 1)².
"""

from __future__ import annotations

from collections.abc import Iterator

from ..report import Section, Sheet
from . import draws, stability


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield Figures 1 to 5."""
    yield stability.section(sheet)
    yield draws.example(sheet)
    yield from draws.sections(10 if quick else 100, sheet)
