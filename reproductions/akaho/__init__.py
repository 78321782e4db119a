"""The margin in the input space: the figures of S. Akaho, Maximizing the margin in the input space (2002).

The paper's Gaussian kernel with σ² = 1 is read as exp(-|x - z|² / (2σ²)), gamma = 1/2. Its 20 training samples are
read as 10 of each class. Every class has three centres of its own, drawn from [0, 1)². ``readings`` has other readings.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..claims import Claim, closing
from ..report import Section, Sheet
from . import costs, draws, future, metrics, readings, real, stability

INTRODUCTION = (
    "The paper moves the decision boundary of a machine with a hard margin away from the training samples, measured "
    "where the samples live and not in the feature space, and expects fewer errors of it. Here the margins grow in "
    "nearly all draws, within a few steps and with few more support vectors, also by the simplified algorithm. A "
    "larger margin is no promise of fewer errors: they fell a little on the paper's mixtures, by the default "
    "algorithm, and not on real data; and the code of an ordinary machine with k / (ĝ ĝ) solves another program, whose "
    "constraint differs."
)


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield Figures 1 to 5, the other sections in the paper's order, and the table of its claims."""
    few, some = (10, 3) if quick else (100, 20)
    curved, claims = stability.section(sheet)
    yield curved
    metric, natural = metrics.section(some)
    yield metric
    cost, cheap = costs.section(quick)
    yield cost
    yield draws.example(sheet)
    found = draws.measured(few)
    yield from draws.sections(found, sheet)
    read, printed = readings.section(few)
    yield read
    ahead, tried = future.section(few)
    yield ahead
    data, useful = real.section(some)
    yield data
    all_claims: list[Claim] = [*natural, *claims, *cheap, *draws.claims(found), printed, *tried, *useful]
    yield closing("akaho", all_claims, quick)
