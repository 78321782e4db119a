"""What is the same for every problem: its program for any samples, how the program's solution is read, and its bias.

The forms of a bias. ``explicit``: an unpenalised b; it is the multiplier of sum(beta) = s. ``augmented``: a constant
feature lambda is added to every sample, so b = lambda^2 sum(beta) is penalised with w. SVMseq's augmenting factor,
ISDA's 1/k = lambda^2 and Mangasarian and Musicant's lambda = 1 are this one parameter. ``none``: b = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector
from .dual import Dual

Bias = Literal["explicit", "augmented", "none"]


def penalty(bias: Bias, augment: float) -> float:
    """Return lambda^2, which this form of the bias adds to the kernel."""
    return augment**2 if bias == "augmented" else 0.0


Diagonal = Callable[[], Vector]  # Returns k(x, x) of the samples, (n,).
NARROW_TARGETS = 0.875  # Smallest ratio of targets whose differences from their middle have some more digits.


class Problem:
    """A problem with its parameters: the quadratic program of any samples, and the meaning of its solution.

    A subclass is a frozen dataclass of the parameters. It defines ``dual``, and what differs from the values here.

    Attributes
    ----------
    bias : 'explicit', 'augmented' or 'none'
    sphere : whether targets are half of k(x, x), and decision values are R^2 - |phi(x) - a|^2
    copies : variables of each sample; the program has all first ones, then all second ones
    sized : whether targets, or the sums of coefficients, may be of any size, so each program is solved in its own unit
    even : whether equal samples share a coefficient by their weights, as errors cost their square; else some are filled
    in_units : whether nothing but weights bounds the coefficients, so the weights are divided to be about 1
    """

    bias: Bias = "explicit"
    sphere: ClassVar[bool] = False
    copies: ClassVar[int] = 1
    sized: ClassVar[bool] = True
    even: ClassVar[bool] = False
    in_units: ClassVar[bool] = False

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        """Return the program of some samples.

        y : (n,) targets; of a classifier labels 1 and -1
        weight : (n,)
        diagonal : returns their k(x, x), of which only a sphere makes use
        """
        raise NotImplementedError

    @property
    def separable(self) -> bool:
        """Whether groups of samples, with equal or other labels, can be solved side by side as one program."""
        return False

    @property
    def joinable(self) -> bool:
        """Whether ``together`` makes the programs of several problems. Samples without weight may stay in them."""
        return self.separable

    @property
    def movable(self) -> bool:
        """Whether a number may be subtracted from all targets, as the bias makes up for it."""
        return False

    def together(self, y: Vector, weight: Vector, first: Ids) -> Dual:
        """Return the programs of several classifiers as one; the samples of each begin at ``first``."""
        return self.dual(y, weight, no_diagonal)

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        """Return the sizes of the lowest and the largest coefficient of a sample of weight 1.

        y, weight : of all samples; a classifier does not use them
        """
        return 1.0, 1.0

    def check(self, classes: NDArray[Any], weights: Vector, unit: float) -> None:
        """Raise ValueError for weights without a solution.

        classes, weights : the labels and the weight of each class; of other machines the targets and weights of samples
        unit : what the weights have been divided by
        """

    def divisors(self, half_widths: Vector) -> Vector | None:
        """Return the divisor of each solution, given its half of a width (``Found``); None: nothing is divided."""
        return None

    def attributes(self, half_width: float) -> dict[str, float]:
        """Return further attributes of a model with one program."""
        return {}

    def doubt(self, half_widths: Vector) -> str:
        """Return a warning of solutions that are optimal and yet useless; "" if there is no reason for one."""
        return ""

    def middle(self, y: Vector) -> float:
        """Return what to subtract from targets and to add to the bias: their middle, or 0 unless that gains digits.

        All targets are then near the middle, so the differences are exact (P. H. Sterbenz, Floating-Point Computation,
        1974).
        """
        low, high = (float(y.min()), float(y.max())) if self.movable and len(y) else (0.0, 0.0)
        near, far = sorted((abs(low), abs(high)))
        return 0.5 * low + 0.5 * high if (low > 0.0 or high < 0.0) and NARROW_TARGETS * far <= near else 0.0


class WithTargets(Problem):
    """A regression: an explicit bias makes up for a number that is subtracted from all targets."""

    @property
    def movable(self) -> bool:
        return self.bias == "explicit"


def bounds(C: float, weight: Vector) -> Vector:
    """Return C times each weight; 0 for samples without weight, also with an infinite C."""
    return C * weight if np.isfinite(C) else np.where(weight > 0.0, np.inf, 0.0)


def no_diagonal() -> Vector:
    """Return no numbers, for problems without a sphere."""
    return np.zeros(0)
