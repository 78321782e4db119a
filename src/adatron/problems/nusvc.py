"""Nu-support vector classification: nu is an upper bound of the fraction of margin errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dual import Dual, Ids, Vector
from .problem import Bias, Diagonal, Problem, penalty

INFEASIBLE = "specified nu is infeasible"
NO_MARGIN = (
    "Two classes have no margin: nu = {:g} is less than the fraction of errors that this kernel cannot avoid, so any "
    "function is as good as any other. Raise nu, or use another kernel."
)
ALONE = np.zeros(1, np.int64)  # Where one problem begins.


def nusvc(y: Vector, w: Vector, nu: float, bias: Bias = "explicit", augment: float = 1.0, first: Ids = ALONE) -> Dual:
    """Return the program of a nu-SVC: t = 0, beta_i between 0 and y_i w_i.

    Let W = sum(w). The positive beta sum to nu W / 2, the negative ones to -nu W / 2; unless the bias is explicit, only
    sum |beta| = nu W holds. The classifier is (sum_i beta_i k(x_i, x) + b) / rho, where rho is half of the margin.
    Several problems are the parts of one program, each with equalities of its own.

    Parameters
    ----------
    y : (n,) labels, -1 or 1
    w : (n,) weights
    nu : in (0, 1]; if it asks more of a class than there is, all of the class counts, see ``feasible_nu``
    bias, augment : as in ``csvc``
    first : where each problem begins

    References
    ----------
    B. Schoelkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, New support vector algorithms, Neural Computation 12
    (2000).
    """
    zero, sides = np.zeros_like(y), _sides(y, w, first)
    half = np.minimum(0.5 * nu * sides.sum(axis=1), sides.min(axis=1))
    number = None if len(first) == 1 else np.repeat(np.arange(len(first)), np.diff(first, append=len(y)))
    lower, upper = np.minimum(y * w, zero), np.maximum(y * w, zero)
    if bias == "explicit":
        negative = (y < 0).astype(np.int64)
        totals, row = np.stack([half, -half], axis=1), negative if number is None else 2 * number + negative
        return Dual(zero, lower, upper, 0.0, tuple(totals.ravel().tolist()), row=row)
    return Dual(zero, lower, upper, penalty(bias, augment), tuple((2.0 * half).tolist()), row=number, sign=y)


def feasible_nu(nu: float, one: Any, other: Any) -> NDArray[np.bool_]:
    """Return whether two classes of these weights have what nu asks of them."""
    return 0.5 * nu * (one + other) <= np.minimum(one, other)


def _sides(y: Vector, w: Vector, first: Ids) -> Vector:
    """Return the weights of the positive and the negative samples of each problem, (n_problems, 2)."""
    begins = np.ones(len(y), bool)
    begins[1:] = y[1:] != y[:-1]
    begins[first] = True
    runs = np.flatnonzero(begins)
    side = 2 * (np.searchsorted(first, runs, side="right") - 1) + (y[runs] < 0)
    return np.asarray(np.bincount(side, np.add.reduceat(w, runs), 2 * len(first)), np.float64).reshape(-1, 2)


@dataclass(frozen=True)
class NuClassification(Problem):
    """A margin that leaves a given fraction of the samples within, see ``nusvc``.

    one_vs_rest : whether each class stands against all others, not each against each
    """

    nu: float
    bias: Bias = "explicit"
    augment: float = 1.0
    one_vs_rest: bool = False
    in_units = True

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        return nusvc(y, weight, self.nu, self.bias, self.augment)

    @property
    def joinable(self) -> bool:
        return True

    def together(self, y: Vector, weight: Vector, first: Ids) -> Dual:
        return nusvc(y, weight, self.nu, self.bias, self.augment, first)

    def check(self, classes: NDArray[Any], weights: Vector, unit: float) -> None:
        known = np.flatnonzero(weights)
        classes, weights = classes[known], weights[known]
        if self.one_vs_rest and len(classes) > 2:
            i, j = np.arange(len(classes)), None
            others = np.where(np.eye(len(classes)) > 0, 0.0, weights).sum(axis=1)
        else:
            i, j = np.triu_indices(len(classes), 1)
            others = weights[j]
        wrong = np.flatnonzero(~feasible_nu(self.nu, weights[i], others))
        if len(wrong):
            first = wrong[0]
            other = "all other classes" if j is None else f"class {classes[j[first]].tolist()!r}"
            own, left = unit * weights[i[first]], unit * others[first]
            got = f"weight {own:g} in class {classes[i[first]].tolist()!r} and {left:g} in {other}"
            raise ValueError(infeasible(self.nu, got))

    def divisors(self, half_widths: Vector) -> Vector:
        return np.where(half_widths < 0, -half_widths, 1.0)  # by 0 nothing can be divided: the function stays 0

    def doubt(self, half_widths: Vector) -> str:
        return "" if (half_widths < 0).all() else NO_MARGIN.format(self.nu)


def infeasible(nu: float, got: str) -> str:
    """Return the error of a nu that is too large for the weights of two classes."""
    return (
        f"{INFEASIBLE}: with nu = {nu:g} each of two classes needs at least {50 * nu:g} % of their weight. Got {got}."
    )
