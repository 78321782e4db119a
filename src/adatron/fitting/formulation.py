"""The programs that a machine asks for, and how their solutions are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector
from ..problems import Dual

if TYPE_CHECKING:
    from .fits import Fitted
    from .samples import Samples

NARROW_TARGETS = 0.875  # Smallest ratio of targets whose differences from their middle have some more digits.
ProgramMaker = Callable[..., Dual]  # takes targets (labels 1 and -1 of a classifier) and weights, see ``sphere``
#: Takes targets, weights, and what returns k(x, x) of the samples.
CompleteMaker = Callable[[Vector, Vector, Callable[[], Vector]], Dual]


@dataclass(frozen=True)
class Formulation:
    """The quadratic programs of a machine, for any samples, and how their solutions are read.

    program : makes the program of some samples
    bound : largest coefficient of a sample of weight 1
    below : size of its lowest coefficient, if that is another number
    bound_of : finds that bound from the targets and the weights; None: it is ``bound``
    sphere : whether the program also takes k(x, x), and decision values are R^2 - |phi(x) - a|^2
    copies : variables of each sample; the program has all first ones, then all second ones
    sized : whether targets, or the sums of coefficients, may be of any size, so each program is solved in its own unit
    separable : whether groups of samples, with equal or other labels, can be solved side by side as one program
    joined : makes the programs of several problems as one, given where the samples of each begin, if they are not
        separable; None: each program is made alone
    movable : whether a number may be subtracted from all targets, as the bias makes up for it
    in_units : whether nothing but weights bounds the coefficients, so the weights are divided to be about 1
    check : refuses weights for which there is no solution, given the classes, their weights, and the weights' divisor
    divisors : returns the divisor of each problem's solution, given its ``half_width``; None: nothing is divided
    attributes : returns further attributes of a model, given the solution of its only problem
    doubt : returns a warning about solutions that are optimal and yet useless, given each ``half_width``; "" for none
    further : formulations of further problems of the machine, over the same samples
    """

    program: ProgramMaker
    bound: float = 1.0
    below: float | None = None
    bound_of: Callable[[Vector, Vector], float] | None = None
    sphere: bool = False
    copies: int = 1
    sized: bool = True
    separable: bool = False
    joined: Callable[[Vector, Vector, Ids], Dual] | None = None
    movable: bool = False
    in_units: bool = False
    check: Callable[[NDArray[Any], Vector, float], None] | None = None
    divisors: Callable[[Vector], Vector] | None = None
    attributes: Callable[[Fitted], dict[str, Any]] | None = None
    doubt: Callable[[Vector], str] | None = None
    further: tuple[Formulation, ...] = ()

    @property
    def joinable(self) -> bool:
        """Whether the programs of problems may be made together; samples without weight may then stay in them."""
        return self.separable or self.joined is not None

    def made(self, y: Vector, weight: Vector, diagonal: Callable[[], Vector]) -> Dual:
        """Return the program of some samples; ``diagonal`` returns their k(x, x)."""
        if not self.sphere:
            return self.program(y, weight)
        own = diagonal()
        if not np.isfinite(own).all():
            raise ValueError("k(x, x) is too large for a float. Scale the features, or take a kernel that grows less.")
        return self.program(y, weight, own)

    def largest(self, y: Vector, weight: Vector) -> float:
        """Return the largest coefficient of a sample of weight 1."""
        return self.bound if self.bound_of is None else self.bound_of(y, weight)

    def together(self, y: Vector, weight: Vector, first: Ids) -> Dual:
        """Return the programs of several problems as one; the samples of each begin at ``first``."""
        return self.program(y, weight) if self.joined is None else self.joined(y, weight, first)

    def middle(self, y: Vector) -> float:
        """Return what to subtract from targets and to add to the bias: their middle, or 0 unless that gains digits.

        All targets are then near the middle, so the differences are exact (P. H. Sterbenz, Floating-Point Computation,
        1974).
        """
        low, high = (float(y.min()), float(y.max())) if self.movable and len(y) else (0.0, 0.0)
        near, far = sorted((abs(low), abs(high)))
        return 0.5 * low + 0.5 * high if (low > 0.0 or high < 0.0) and NARROW_TARGETS * far <= near else 0.0

    def units_of(self, samples: Samples) -> tuple[Samples, float]:
        """Return the samples with weights as the program takes them, and the divisor of these weights."""
        return samples.in_units() if self.in_units else (samples, 1.0)


def bounds(C: float, weight: Vector) -> Vector:
    """Return C times each weight; 0 for samples without weight, also with an infinite C."""
    return C * weight if np.isfinite(C) else np.where(weight > 0.0, np.inf, 0.0)
