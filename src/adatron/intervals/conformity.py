"""How strange a class or a number looks to a model, and which of them are not too strange.

Scores of a class are small where the model agrees with it:

margin    by how much the best other class is ahead of it; for two classes -y f(x).
adaptive  the share, by the softmax of the decision values, of the classes that are ahead of it: 0 for the first one.
Source    R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani, Annals of Statistics 49 (2021) 486-507 (numbers);
          Y. Romano, M. Sesia, E. J. Candès, NIPS 33 (2020) (classes; adaptive scores, here without their random part).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ..arrays import Vector
from ..kernels.rounding import growth

SCORES = {"margin", "adaptive"}  # Names of the two scores.


def scores_of(kind: str, decision: Vector, n_classes: int) -> Vector:
    """Return the score of each class, (..., n_classes), by decision values, (...) of two classes or (..., n_classes).

    kind : one of SCORES
    """
    values = np.stack([-0.5 * decision, 0.5 * decision], axis=-1) if n_classes == 2 else decision
    if kind == "margin":
        best = np.partition(values, -2, axis=-1)[..., -2:]
        first = values == best[..., 1:]
        return np.where(first, best[..., :1], best[..., 1:]) - values
    share = softmax(values, axis=-1)
    return (share[..., None, :] * (values[..., None, :] > values[..., :, None])).sum(axis=-1)


def rounding(terms: int, largest: float, coefficients: Vector, intercept: float) -> float:
    """Return a bound of what rounding adds to a decision value of a model, given its sum in any order.

    terms : the number of coefficients that are not 0
    largest : bound of the kernel values, by Cauchy and Schwarz that of k(x, x)
    """
    return growth(terms + 3, 2.0**-53) * (largest * float(np.abs(coefficients).sum()) + abs(intercept))


def tie(error: float, n_classes: int) -> float:
    """Return how far apart equal scores may be, by a bound of the errors of decision values.

    A value for a class adds up those of at most n_classes - 1 pairs, a score has two of them, and two are compared.
    """
    return 4.0 * n_classes * error


def allowed(alpha: float, n: int) -> int:
    """Return how many of n + 1 equally likely places are too strange: the largest k with k / (n + 1) <= alpha.

    The division rounds like alpha itself, so 0.3 is three of ten, and 1 / 3 is one of three. For decimals of m digits
    with (n + 1) 10^m < 2^53 the comparison is exact.
    """
    k = int(Fraction(float(alpha)) * (n + 1))
    return k + ((k + 1) / (n + 1) <= float(alpha))


def fewest(alpha: float) -> int:
    """Return the number of samples from which on ``allowed`` is not 0."""
    n = int(1 / Fraction(float(alpha)))
    return n - (allowed(alpha, n - 1) > 0)


def interval(left_out: Vector, residuals: Vector, alpha: float) -> Vector:
    """Return the ends of the intervals of some rows, (n_rows, 2), by equations 1.2 and 1.3 of Barber et al.

    For alpha > 1/2 the ends may cross; then no number is inside, and both ends are the middle.

    left_out : (n_rows, n) predictions of the rows by the models without each sample
    residuals : (n,) absolute errors of these models at their own sample
    """
    n = len(residuals)
    k = allowed(alpha, n)
    if k == 0:
        return np.tile([-np.inf, np.inf], (len(left_out), 1))
    low = np.partition(left_out - residuals, k - 1, axis=1)[:, k - 1]
    high = np.partition(left_out + residuals, n - k, axis=1)[:, n - k]
    ends = np.stack([low, high], axis=1)
    ends[low > high] = (0.5 * low + 0.5 * high)[low > high, None]
    return ends


def members(left_out: Vector, scores: Vector, alpha: float, equal: float) -> NDArray[np.bool_]:
    """Return which classes are in the sets of some rows, (n_rows, n_classes): those too few samples agree better with.

    left_out : (n_rows, n, n_classes) scores by the models without each sample
    scores : (n,) scores of the samples' own classes by these models
    equal : scores that differ by no more are equal
    """
    n = len(scores)
    better = np.count_nonzero(scores[:, None] < left_out - equal, axis=1)
    return better < n + 1 - allowed(alpha, n)


def p_value(scores: Vector, own: float, equal: float) -> float:
    """Return the fraction of n samples and a candidate that are at least as strange as the candidate.

    equal : scores that differ by no more are equal
    """
    return float(1 + np.count_nonzero(scores >= own - equal)) / (len(scores) + 1)
