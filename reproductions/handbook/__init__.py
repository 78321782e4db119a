"""Section 15.5 of the Handbook of Computational Statistics: formulations, decomposition, SMO, incremental learning.

S. Mika, C. Schäfer, P. Laskov, D. Tax, K.-R. Müller, Support vector machines, chapter 15 of J. E. Gentle, W. Härdle,
Y. Mori (editors), Handbook of Computational Statistics (2004). The chapter has no experiments: the samples here are two
noisy half moons, drawn with fixed seeds.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..held import Said, closed
from ..report import Section, Sheet
from . import conditions, pairs, working_sets

INTRODUCTION = (
    "The chapter tells how a solution is recognised, how small working sets and pairs of variables find it, and how "
    "it stays exact while samples come and go; it has no experiments. Here all that can be run held, on samples that "
    "are drawn for it. One term is misprinted, the diagonal after (15.51), of which half is meant; a proof and the "
    "limits of its day's memory cannot be run."
)

SAID = (
    Said("The optima of both problems coincide", "15.5.1.1", "relative gap", "relative gap {} at most"),
    Said("All minima are global", "15.5.1.1", "objectives of the solvers", "five solvers differ by {} at most"),
    Said("The conditions hold at the solution", "15.5.1.3", "largest violation of the", "violated by {} at most"),
    Said("b follows from any free vector", "15.5.1.2", "b by each free vector", "largest difference to the mean: {}"),
    Said("The solution is sparse", "15.5.1.3", "samples outside the margin", "{} of those outside the margin weigh 0"),
    Said("Each working set improves the objective", "15.5.2.1", "smallest gain", "smallest gain of a set: {}"),
    Said(
        "Random working sets converge very slowly", "15.5.2.2", "random working sets", "{} (mean ± standard error) "
        "times as many sets as the feasible direction",
    ),
    Said(
        "Osuna's heuristic is one of the two main ways", "15.5.2.2", "Osuna's heuristic, sets",
        "runs; {} times as many sets as the feasible direction: no order is claimed",
    ),
    Said("Linear convergence has been observed", "15.5.2.2", "linear rate", "R² of log(D* - D) over the sets: {}"),
    Said(
        "Sorting solves the linear program approximately", "15.5.2.2 (15.41-45)", "linear program",
        "value of the sorted set / that of the program: {}",
    ),
    Said("An exact program each time is inefficient", "15.5.2.2", "processor time", "{} times that of sorting"),
    Said("Selection takes O(N) time", "15.5.2.2", "exponent of the selection", "exponent {}"),
    Said("A pair has a closed form (15.46-50)", "15.5.2.3", "closed form", "largest error {}"),
    Said(
        "The second choice approximates the largest step", "15.5.2.3", "gain of the second choice", "its step beside a "
        "random partner's, parts of the largest: {} more",
    ),
    Said("Incremental learning is exact", "15.5.3", "learned one by one", "largest difference of a weight: {}"),
    Said("Unlearning is exact", "15.5.3", "forgotten", "largest difference of a weight: {}"),
    Said("The others stay optimal on the way", "15.5.3 (15.52-53)", "largest violation after any step", "{}"),
    Said(
        "diag K makes the one-class machine a case of (15.51)", "15.5.3", "ball", "with half the diagonal: largest "
        "difference to the ball's dense program {}",
    ),
    Said("The convergence proof", "15.5.2.2", "", "a proof, of Lin; what is run above agrees with it"),
    Said("Standard tools fail above some size", "15.5.2", "", "the chapter's number is that of the memory of its time"),
)  # fmt: skip


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield what the chapter says in its own order."""
    yield from closed("handbook", _shown(5 if quick else 20, sheet), SAID, quick)


def _shown(draws: int, sheet: Sheet) -> Iterator[Section]:
    yield conditions.optimality()
    yield working_sets.rates(draws, sheet)
    yield working_sets.linear_program(draws)
    yield pairs.constraints(sheet)
    yield pairs.choices(draws)
    yield conditions.incremental()
    yield conditions.ball()
