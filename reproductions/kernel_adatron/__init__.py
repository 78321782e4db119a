"""Kernel-Adatron: the tables and figures of C. Campbell, N. Cristianini (1998).

The paper's Gaussian kernel exp(-|x - z|^2 / (2 sigma^2)) is gamma = 1 / (2 sigma^2) here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..held import Said, closed
from ..report import Section, Sheet
from . import digits, evolution, learning_times, rates, soft_margin, solvable, theory, widths

INTRODUCTION = (
    "The paper says that a perceptron's rule, in the feature space of a kernel, finds the machine of the largest "
    "margin, and that it is as simple as a perceptron and as good as a quadratic program. Here the rule converges at "
    "the rates of the theory, and it reaches the published accuracies on sonar, USPS, breast cancer, ionosphere and "
    "diabetes. A bias does change the errors on USPS, because a narrow kernel is 0 far from all samples; the printed "
    "k(x, x) of a polynomial kernel is a misprint; and the exponents of the learning time depend on widths and sizes "
    "that the paper does not name."
)

SAID = (
    Said("Rates in (0, 2) converge", "3, Figs. 1, 2", "rates in (0, 2) that", "both problems: {}"),
    Said("Rates outside do not", "3, Fig. 1", "rates that reach it", "both problems: {}"),
    Said("Rate 1 is best if few weights are 0", "3, Fig. 1", "fewest epochs for 0.7", "epochs: {} of the fewest"),
    Said("The best rate is below 1 if few are", "3, Fig. 2", "best rate, samples as", "best of three: {}"),
    Said("k(x, x) of a polynomial kernel", "3", "k(x, x) = (‖x‖ + 1)^d", "relative difference {}"),
    Said("L(α°) = 1/(2γ²)", "3.3", "L(α°)", "relative difference: {}"),
    Said("L grows at each update", "3.3", "smallest growth", "smallest growth of an epoch, relative: {}"),
    Said("Exponentially fast", "3.3", "exponentially fast", "R² of a line: {}"),
    Said("The margin is continuous in σ", "3.4", "largest change of the margin", "largest change in a step: {}"),
    Said("A step starts from the last solution", "3.4", "updates of pairs", "updates from the last, from zero: {}"),
    Said("σ too small or too large is worse", "3.4, Fig. 3", "error at sigma = 1 and 50", "errors at the ends: {}"),
    Said("n-parity in one epoch, n = 3 to 6", "4.1", "epochs to a solution", "epochs: {}"),
    Said("Two spirals are separated", "4.1", "sigma = 0.5: training", "training error {}"),
    Said("95.2 % on sonar without a bias", "4.2", "best performance without", "{} %"),
    Said("92.3 % on sonar with a bias", "4.2", "best performance with bias", "{} %"),
    Said("Better than networks on sonar", "4.2", "with bias - network", "{} points"),
    Said("Margin, error and bias settle", "4.2, Figs. 4-11", "bias of the solution", "biases: {}"),
    Said("98.5 % on breast cancer", "4.2", "best split, soft margin", "{} % on the best split"),
    Said("Better than CART", "4.2", "soft margin - CART", "{} points"),
    Said("Better than an RBF network", "4.2", "soft margin - RBF network", "{} points"),
    Said("Better than a linear discriminant", "4.2", "soft margin - linear", "{} points"),
    Said("As good as networks or better", "4.2, 4.3", "soft margin - back-prop", "cancer, ionosphere: {} points"),
    Said("179 errors on USPS", "4.2", "sum of errors", "{}"),
    Said("A bias makes no difference on USPS", "4.2", "fewer errors with a bias, each", "{} errors fewer"),
    Said("- at the same σ", "4.2", "fewer errors with a bias, the same", "{} errors fewer"),
    Said("96.0 % on ionosphere, soft margin", "4.3", "soft margin, best of the grid, %", "{} %"),
    Said("The soft margin is better", "4.3", "soft better than hard by, %", "{} points"),
    Said("Better than nearest neighbours", "4.3", "soft margin - k nearest", "{} points"),
    Said("Better than C4.5", "4.3", "soft margin - C4.5", "{} points"),
    Said("0.248 on diabetes", "4.3", "soft margin, best of the grid for each", "{}"),
    *(Said(f"Exponent of {name}", "4.4", f"exponent, {name}", "{}") for name in learning_times.PROBLEMS),
    *(Said(f"- as drawn, {name}", "4.4", f"samples as drawn, {name}", "{}") for name in learning_times.PROBLEMS),
    Said("Noise-free problems are sub-quadratic", "4.4", "sub-quadratic", "{}"),
    Said("Noisy ones are not", "4.4", "ionosphere: more than", "{}"),
    Said("SMO scales alike", "4.4", "SMO, ", "SMO's exponents: {}"),
    Said("General programs scale worse", "4.4", "dense program, ", "{}"),
    Said("Regression", "5", "regression, bias", "relative difference of the objective: {}"),
    Said("A bound of the error chooses the kernel", "2, 3.4", "", "577 R²/γ² exceeds m: vacuous"),
    Said("PCG's exponents", "4.4", "", "cited from Platt; SciPy's SLSQP is run in its place"),
)  # fmt: skip


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield the tables and figures in the paper's order; one of several sections comes with the first."""
    yield from closed("kernel_adatron", _shown(quick, sheet), SAID, quick)


def _shown(quick: bool, sheet: Sheet) -> Iterator[Section]:
    yield from rates.sections(quick, sheet)
    yield from theory.sections(quick, sheet)
    yield from widths.sections(quick, sheet)
    yield from solvable.sections(quick, sheet)
    yield from evolution.sections(quick, sheet)
    yield from digits.sections(quick, sheet)
    yield from soft_margin.sections(quick, sheet)
    yield from learning_times.sections(quick, sheet)
