"""How strange a class or a number looks to a model, and which of them are not too strange.

Scores of a class are small where the model agrees with it:

margin    by how much the best other class is ahead of it; for two classes -y f(x).
adaptive  the share, by the softmax of the decision values, of the classes that are ahead of it: 0 for the first one.
Source    R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani, Annals of Statistics 49 (2021) 486-507 (numbers);
          Y. Romano, M. Sesia, E. J. Candès, NIPS 33 (2020) (classes; adaptive scores, here without their random part).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ..arrays import Vector

SCORES = {"margin", "adaptive"}  # Names of the two scores.
EQUAL = 1e-8  # Scores that differ by less are equal: many samples are on the margin, up to rounding.


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


def allowed(alpha: float, n: int) -> int:
    """Return how many of n + 1 equally likely places are too strange: at most this fraction of them."""
    return int(np.floor(round(alpha * (n + 1), 9)))


def fewest(alpha: float) -> int:
    """Return the number of samples from which on ``allowed`` is not 0."""
    return int(np.ceil(round(1.0 / alpha - 1.0, 9)))


def interval(left_out: Vector, residuals: Vector, alpha: float) -> Vector:
    """Return the ends of the intervals of some rows, (n_rows, 2), by equations 1.2 and 1.3 of Barber et al.

    left_out : (n_rows, n) predictions of the rows by the models without each sample
    residuals : (n,) absolute errors of these models at their own sample
    """
    n = len(residuals)
    k = allowed(alpha, n)
    if k == 0:
        return np.tile([-np.inf, np.inf], (len(left_out), 1))
    low = np.partition(left_out - residuals, k - 1, axis=1)[:, k - 1]
    high = np.partition(left_out + residuals, n - k, axis=1)[:, n - k]
    return np.stack([low, high], axis=1)


def members(left_out: Vector, scores: Vector, alpha: float) -> NDArray[np.bool_]:
    """Return which classes are in the sets of some rows, (n_rows, n_classes): those too few samples agree better with.

    left_out : (n_rows, n, n_classes) scores by the models without each sample
    scores : (n,) scores of the samples' own classes by these models
    """
    n = len(scores)
    better = np.count_nonzero(scores[:, None] < left_out - EQUAL, axis=1)
    return better < n + 1 - allowed(alpha, n)


def p_value(scores: Vector, own: float) -> float:
    """Return the fraction of n samples and a candidate that are at least as strange as the candidate."""
    return float(1 + np.count_nonzero(scores >= own - EQUAL)) / (len(scores) + 1)
