"""scikit-learn's layout of the coefficients of several binary problems, and back; votes; weights of the features."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]


def to_dual_coef(coefficients: Any, support: Ids, codes: Ids, n_classes: int) -> Vector:
    """(n_problems, n) coefficients of the pairs i < j, CSR, to (n_classes - 1, m) of the support vectors.

    A support vector of class i takes part in n_classes - 1 pairs: row j holds its pair with class j < i, row j - 1
    that with class j > i. ``codes`` (n,) are the classes.
    """
    out, place = np.zeros((n_classes - 1, len(support))), np.zeros(len(codes), np.int64)
    place[support] = np.arange(len(support))
    i, j = (np.repeat(side, np.diff(coefficients.indptr)) for side in np.triu_indices(n_classes, 1))
    out[np.where(codes[coefficients.indices] == i, j - 1, i), place[coefficients.indices]] = coefficients.data
    return out


def from_dual_coef(dual_coef: Any, classes: Ids, n_classes: int) -> Vector:
    """The inverse of ``to_dual_coef``."""
    dense = dual_coef.toarray() if sparse.issparse(dual_coef) else dual_coef
    pairs = list(combinations(range(n_classes), 2))
    out, own = np.zeros((len(pairs), dense.shape[1])), _spans(classes, n_classes)
    for problem, (i, j) in enumerate(pairs):
        out[problem, own[i]] = dense[j - 1, own[i]]
        out[problem, own[j]] = dense[i, own[j]]
    return out


def _spans(classes: Ids, n_classes: int) -> list[slice]:
    """Where the support vectors of each class are; they come class by class."""
    ends = np.searchsorted(classes, np.arange(n_classes + 1)).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def votes(decision: Vector, n_classes: int) -> Ids:
    """The class with most votes of the pairs; of equals the first, as LIBSVM."""
    return np.argmax(_counted(decision > 0, decision <= 0, n_classes), axis=1)


def unbeaten(decision: Vector, sure: NDArray[np.bool_], n_classes: int) -> NDArray[np.bool_]:
    """Whether a class wins all of its pairs, counting only those that are sure: no other can have as many votes."""
    counts = _counted(sure & (decision > 0), sure & (decision <= 0), n_classes)
    return counts.max(axis=1) == n_classes - 1


def _counted(wins: NDArray[np.bool_], losses: NDArray[np.bool_], n_classes: int) -> NDArray[Any]:
    """Votes of each class, (rows, n_classes), from what the first and the second of each pair won, exactly."""
    first, second = np.triu_indices(n_classes, 1)
    names = np.eye(n_classes, dtype=np.float32)
    return wins.astype(np.float32) @ names[first] + losses.astype(np.float32) @ names[second]


def feature_weights(coefficients: Vector, vectors: Any) -> Any:
    """Weights of the features, (n_problems, n_features), stored as the vectors are.

    Not by BLAS: the last bits would depend on its threads.
    """
    if sparse.issparse(vectors):
        weights = sparse.csr_matrix(coefficients) @ vectors
        weights.sort_indices()
        weights.eliminate_zeros()
        return weights
    return np.einsum("pm,md->pd", coefficients, vectors)
