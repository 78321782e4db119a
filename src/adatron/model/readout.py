"""What decision values mean: the order of pairs, votes, ties, shapes, labels that errors cannot change, probabilities.

A machine has a value for each of its problems. Its readout makes a number of them, a side, or a class. Votes and their
ties are LIBSVM's, and the decision function of classes is scikit-learn's.

Probabilities: with r_ij = P(class i | class i or j) = 1 / (1 + exp(-s f_ij)) for the value f_ij of the pair i < j and
the slope s, the probability of class i is 1 / (sum_j 1 / r_ij - (K - 2)), divided by the sum over i: exact where the
pairs agree with each other (D. Price et al., NIPS 7, 1995). Against the rest f_ij is the difference of the values of
two classes, and the result the softmax of s times the values. Votes and probabilities may differ where several classes
are close; then the nearest distribution (in the sense of Kullback and Leibler) is taken that gives no class more than
the predicted one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .layout import pairs

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.int64]
#: Whether a value of 0 counts for the first class of a pair, and what is made of votes and sums, (rows, k) each.
Counted = tuple[bool, Callable[[Values, Values], NDArray[Any]]]
VOTE_ROUNDING = 2.0**-50  # of a vote and the part that refines it


class Readout:
    """The rule that reads the values of the problems, (n, n_problems).

    diagonal : multiple of k(x, x) that is part of each value at x
    columns : how many numbers or labels there are if they are a row; None: there is one, and no row
    """

    diagonal: ClassVar[float] = 0.0
    columns: int | None = None

    def predictions(self, values: Values) -> NDArray[Any]:
        """Return what the values predict, (n,)."""
        raise NotImplementedError

    def within(self, values: Values, below: Values, above: Values) -> Mask:
        """Return the rows whose label is the same for all values from ``values - below`` to ``values + above``."""
        raise NotImplementedError

    def decided(self, values: Values, errors: Values) -> Mask:
        """Return the rows whose label is the same whatever the values are within their errors."""
        return self.within(values, errors, errors)

    def shaped(self, values: Values) -> Values:
        """Return the decision function."""
        return values[:, 0]

    @property
    def width(self) -> int | None:
        """Columns of the decision function; None if it is one number for each row."""
        return None

    @property
    def n_problems(self) -> int:
        """Number of the problems."""
        return 1

    @property
    def groups(self) -> int:
        """Number of the classes by which support vectors are arranged."""
        return 1

    def refuse_several(self) -> None:
        """Fail if a row has several numbers or labels."""
        if self.columns is not None:
            raise ValueError(f"The model must predict one number or class. This one predicts {self.columns}.")


@dataclass(frozen=True)
class Target(Readout):
    """A number, the value of the only problem, or several: one for each problem.

    order : the problems from that of the lowest value to that of the highest, to which the values are sorted; None:
        they stay as they are
    """

    columns: int | None = None
    order: tuple[int, ...] | None = None

    @property
    def n_problems(self) -> int:
        return self.columns or 1

    @property
    def width(self) -> int | None:
        return self.columns

    def shaped(self, values: Values) -> Values:
        return values[:, 0] if self.columns is None else values

    def predictions(self, values: Values) -> Values:
        values = self.shaped(values)
        return values if self.order is None else np.sort(values, axis=1)[:, np.argsort(self.order)]

    def within(self, values: Values, below: Values, above: Values) -> Mask:
        return np.asarray(((below == 0.0) & (above == 0.0)).all(axis=1))


@dataclass(frozen=True)
class Inlier(Readout):
    """1 inside, where the value is not negative, and -1 outside."""

    def predictions(self, values: Values) -> NDArray[np.intp]:
        return np.where(values[:, 0] >= 0, 1, -1).astype(np.intp)

    def within(self, values: Values, below: Values, above: Values) -> Mask:
        return _surely(values, below, above)[:, 0]


@dataclass(frozen=True)
class Sphere(Inlier):
    """1 inside a ball, where R^2 - |phi(x) - a|^2 is not negative, and -1 outside."""

    diagonal: ClassVar[float] = -1.0


@dataclass(frozen=True)
class Classes(Readout):
    """A class, by one problem for two of them, by the votes of all pairs, or by one problem for each against the rest.

    labels : (k,) classes in their order
    in_pairs : whether there is a problem for each pair of more than two classes
    shape : parameter ``decision_function_shape``
    break_ties : whether decision values break ties of votes
    slope : of the sigmoid that makes probabilities of decision values; None without probabilities
    columns : how many labels of the same two classes a row has; each has a problem
    """

    labels: NDArray[Any]
    in_pairs: bool
    shape: str = "ovr"
    break_ties: bool = False
    slope: float | None = None
    columns: int | None = None

    @property
    def each(self) -> bool:
        """Whether each of more than two classes has a problem of its own, against the rest."""
        return len(self.labels) > 2 and not self.in_pairs

    def check(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.break_ties and self.shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")

    @property
    def problems(self) -> list[tuple[int, int]]:
        """The two classes of each problem, the positive one first; -1 stands for all other classes."""
        k = len(self.labels)
        if k == 2:
            return [(1, 0)] * self.n_problems
        return list(zip(*pairs(k).tolist(), strict=True)) if self.in_pairs else [(c, -1) for c in range(k)]

    @property
    def n_problems(self) -> int:
        k = len(self.labels)
        return self.columns or (1 if k == 2 else k * (k - 1) // 2 if self.in_pairs else k)

    @property
    def width(self) -> int | None:
        k = len(self.labels)
        return self.columns if k == 2 else self.n_problems if self.shape == "ovo" else k

    @property
    def groups(self) -> int:
        return 1 if self.columns else len(self.labels)

    @property
    def refines(self) -> bool:
        """Whether the decision function is made of votes and sums."""
        return self.in_pairs and self.shape == "ovr"

    def shaped(self, values: Values) -> Values:
        if len(self.labels) == 2:
            return values if self.columns else values[:, 0]
        if not self.refines:
            return values
        signs = _sides(len(self.labels))[2]
        return refined(_counted(values >= 0, len(self.labels)).T, (signs @ values.T).T)

    def codes(self, values: Values) -> Codes:
        """Return the number of the class for each row; of classes with equal votes or values the first one."""
        if len(self.labels) == 2:
            return (self.shaped(values) >= 0).astype(np.int64)
        if self.in_pairs and not self.break_ties:
            return np.argmax(_counted(values > 0, len(self.labels)), axis=0)
        return np.argmax(self.shaped(values), axis=1)

    def predictions(self, values: Values) -> NDArray[Any]:
        return self.labels[self.codes(values)]

    def within(self, values: Values, below: Values, above: Values) -> Mask:
        k, sure = len(self.labels), _surely(values, below, above)
        if k == 2:
            return np.asarray(sure.all(axis=1))
        if self.each:
            return beyond(values, np.maximum(below, above))
        every = np.asarray(sure.all(axis=1))
        if self.break_ties:
            errors = np.maximum(below, above).sum(axis=1, keepdims=True) + k * VOTE_ROUNDING
            return every & beyond(self.shaped(values), errors)
        every[~every] = unbeaten(values[~every], sure[~every], k)
        return every

    def counted(self, labels: bool) -> Counted | None:
        """Return the function of the votes of many classes that gives the result without the values of the pairs."""
        if not labels:
            return (True, refined) if self.refines else None
        if self.break_ties:
            return True, lambda votes, sums: self.labels[np.argmax(refined(votes, sums), axis=1)]
        return False, lambda votes, _: self.labels[np.argmax(votes, axis=1)]

    def between(self, values: Values) -> Values:
        """Return values of the pairs i < j, (n, n_pairs), positive for class i."""
        if len(self.labels) == 2:
            return -values  # the second class is the positive one
        if self.in_pairs:
            return values
        first, second = pairs(len(self.labels))
        return values[:, first] - values[:, second]

    def preference(self, values: Values, own: Codes, other: Codes) -> Values:
        """Return by how much each row prefers one class to another, (n,); 0 if they are the same."""
        k, rows = len(self.labels), np.arange(len(values))
        if self.each:
            return values[rows, own] - values[rows, other]
        low, high = np.minimum(own, other), np.maximum(own, other)
        pair = np.where(low == high, 0, low * (2 * k - low - 1) // 2 + high - low - 1)
        sign = np.sign(other - own) if k > 2 else np.sign(own - other)  # of two classes, the second is the positive one
        return sign * values[rows, pair]

    def margins(self, values: Values, codes: Codes) -> Values:
        """Return by how much each row prefers its class to each other one, (n, k - 1)."""
        k = len(self.labels)
        others = np.arange(k - 1) + (np.arange(k - 1) >= codes[:, None])
        return np.stack([self.preference(values, codes, others[:, j]) for j in range(k - 1)], axis=1)

    def probabilities(self, values: Values) -> Values:
        """Return the probabilities of the classes, (n, k); the predicted class has the largest one."""
        odds = (self.slope or 0.0) * self.between(values)
        return agreeing(coupled(odds, len(self.labels)), self.codes(values))


def _surely(values: Values, below: Values, above: Values) -> Mask:
    """Return whether the sign of each value is sure."""
    return (values > below) | (values < -above)


def unbeaten(values: Values, sure: Mask, n_classes: int) -> Mask:
    """Return whether a class surely wins all of its pairs: no other class can then have as many votes."""
    return _counted(values > 0, n_classes, sure).max(axis=0) == n_classes - 1


def beyond(values: Values, errors: Values) -> Mask:
    """Return whether the largest value of a row stays the largest, whatever the values are within their errors."""
    rows, first = np.arange(len(values)), np.argmax(values, axis=1)
    others = values + errors
    others[rows, first] = -np.inf
    return (values - errors)[rows, first] > others.max(axis=1)


def refined(votes: NDArray[Any], sums: Values) -> Values:
    """Return scikit-learn's decision function of classes: votes, and between them the sums of a class's values."""
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def coupled(logits: Values, n_classes: int) -> Values:
    """Return probabilities, (n, n_classes), from the logarithms of the odds of each pair, (n, n_pairs)."""
    from scipy.special import softmax

    inverse = np.zeros((len(logits), n_classes))  # log(sum_j 1 / r_ij - (K - 2)), as 1 / r_ij = 1 + exp(-logit)
    for pair, (i, j) in enumerate(pairs(n_classes).T):
        inverse[:, i] = np.logaddexp(inverse[:, i], -logits[:, pair])
        inverse[:, j] = np.logaddexp(inverse[:, j], logits[:, pair])
    return softmax(-inverse, axis=1)


def agreeing(probabilities: Values, codes: Codes) -> Values:
    """Return the nearest probabilities of which the classes ``codes`` have the largest.

    That is isotonic regression: the predicted class and those above it share their mean, the largest over all ways to
    choose the latter.
    """
    wrong = np.flatnonzero(np.argmax(probabilities, axis=1) != codes)
    rows, own = np.arange(len(wrong)), codes[wrong]
    p = probabilities[wrong]
    mine = p[rows, own]
    p[rows, own] = 0.0
    sums = mine[:, None] + np.cumsum(-np.sort(-p, axis=1), axis=1)
    level = np.maximum(mine, (sums / np.arange(2, p.shape[1] + 2)).max(axis=1))
    p = np.minimum(p, level[:, None])
    p[rows, own] = np.nextafter(level, 2.0)  # argmax must not see a tie
    out = probabilities.copy()
    out[wrong] = p
    return out


def _counted(wins: Mask, n_classes: int, sure: Mask | None = None) -> NDArray[np.float32]:
    """Return votes of each class, (n_classes, rows), from the pairs that their first class wins; only the sure ones."""
    losses = ~wins
    if sure is not None:
        wins, losses = wins & sure, losses & sure
    first, second, _ = _sides(n_classes)
    return first @ wins.T.astype(np.float32) + second @ losses.T.astype(np.float32)


@lru_cache(maxsize=8)
def _sides(n_classes: int) -> tuple[Any, Any, Any]:
    """Return the first and the second class of each pair, as masks (n_classes, n_pairs), and their difference."""
    both = pairs(n_classes)
    number = np.arange(both.shape[1])
    ones, shape = np.ones(len(number), np.float32), (n_classes, len(number))
    first, second = (sparse.csr_matrix((ones, (side, number)), shape) for side in both)
    return first, second, (first - second).astype(np.float64)
