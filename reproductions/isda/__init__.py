"""ISDA: the tables and the figure of T.-M. Huang, V. Kecman, Bias term b in SVMs again, ESANN (2004), and its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..held import Said, closed
from ..report import Section, Sheet
from . import penalty, tables

INTRODUCTION = (
    "The paper says that without an explicit bias, or with a penalty in its place, sequential steps are simpler, "
    "faster than LIBSVM, and as accurate. Here the test errors agree, a small penalty leads to the standard bias at "
    "the price of more updates, and a machine without a bias has more support vectors. Seconds and counts are not the "
    "paper's, because its features are not public and the digits here are pixels; and the check of the conditions "
    "takes little of a fit, because the gradient is kept up to date."
)

SAID = (
    Said("A constant added to K changes nothing with a bias", "1, (1)", "a constant in K", "largest difference {}"),
    Said("SMO, Kernel-Adatron without a bias: Gauss-Seidel", "1", "one pass of", "largest differences: {}"),
    Said("(11) and (13) give the same b", "2", "largest difference, k = 10", "largest difference {}"),
    Said("k -> 0 tends to the equality", "2", "size of Σαy at the", "{} times that of the largest k"),
    Said("k -> 0: the standard bias", "2", "distance of b at the", "{} of that of k = 1"),
    Said("The condition number grows with 1/k", "2", "condition number", "k = 0.01 / k = 100: {} times"),
    Said("The secant rule imposes the equality", "2 (14)", "secant: objective", "relative difference {}"),
    Said("- in regression", "2 (14)", "regression by the secant", "relative difference {}"),
    Said("An update of b after each datum is unstable", "2", "b after each datum: draws", "{} draws fail"),
    Said("Over-relaxation is the same procedure", "abstract", "ω = 1.5: objective", "relative difference {}"),
    Said("ISDA with k = 10 is faster than LIBSVM", "3, Table 1", "LIBSVM / k = 10", "LIBSVM takes {} times as long"),
    Said("Slower for k < 10", "3", "updates, k = 1 / k = 10", "{} times the updates"),
    Said("- far below", "3", "updates, k = 0.01 / k = 10", "{} times the updates"),
    Said("Slower without a bias", "3", "updates, k = ∞ / k = 10", "{} times the updates"),
    Said("More support vectors without a bias", "3, Table 2", "more without a bias", "{} times"),
    Said("Equal test errors", "3, Fig. 1", "all alike", "largest difference of averages {} %"),
    Said("More than half of the time is the check of the conditions", "3", "time after the last update", "{} of a fit"),
    Said("LIBSVM modified: 10.3 % slower than k = 10", "3, Table 1", "", "the changed program is not public"),
    Said("Vogt's and Poggio's results", "1", "", "cited from other papers; their consequence is run above"),
)  # fmt: skip


def sections(
    quick: bool, sheet: Sheet, images: int | None = None, digits: Sequence[int] = range(10)
) -> Iterator[Section]:
    """Yield Tables 1 and 2, Figure 1, and what the text says.

    Parameters
    ----------
    images : training images, the first of MNIST; default 4,000 if quick, else all 60,000
    digits : the digits to separate from the rest
    """
    yield from closed("isda", _shown(quick, sheet, images, digits), SAID, quick)


def _shown(quick: bool, sheet: Sheet, images: int | None, digits: Sequence[int]) -> Iterator[Section]:
    yield from tables.sections(quick, sheet, images, digits)
    yield from penalty.sections(quick, sheet)
