"""A smaller model with the same decisions: equal support vectors are merged, and those without effect left out.

A merged vector may come from samples of several classes. So the vectors of a compact model have no class, and its
``dual_coef_`` is not in scikit-learn's layout: it has a row of coefficients for each problem.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...fitting.layout import feature_weights
from ...fitting.samples import canonical
from ...fitting.storage import opened, tidy
from ...kernels import Kernel, Linear

Ids = NDArray[np.int64]
Matrix = NDArray[np.float64]


class Compact(NamedTuple):
    """The compact form of a model.

    first : (m,) the first support vector that each vector is made of; empty if the vectors are weights
    vectors : (m, d); None if kernel values are given, and a support vector is known by its number only
    coefficients : (n_problems, m)
    """

    first: Ids
    vectors: Any
    coefficients: Matrix


def shrunk(kernel: Kernel, support: NDArray[np.int32] | None, vectors: Any, coefficients: Matrix) -> Compact:
    """Return the compact form of a model.

    Parameters
    ----------
    support : (m,) the numbers of the support vectors if kernel values are given, else None
    vectors : (m, d) support vectors
    coefficients : (n_problems, m)
    """
    rows, coefficients = _merge(vectors if support is None else support[:, None].astype(np.float64), coefficients)
    if support is not None:
        return Compact(rows, None, coefficients)
    vectors = vectors[rows]
    if kernel == Linear():
        weights = feature_weights(coefficients, vectors)
        if weights.size < vectors.size:  # for CSR the size counts stored numbers
            # f(x) = w·x + b: w is the one vector that a problem needs.
            return Compact(rows[:0], weights, np.eye(len(coefficients)))
    return Compact(rows, vectors, coefficients)


def _merge(rows: Any, coefficients: Matrix) -> tuple[Ids, Matrix]:
    """Return the first of each set of equal rows and its summed coefficients, without sets whose sums are all 0."""
    n = rows.shape[0]
    rows = tidy(rows) if sparse.issparse(rows) else opened(rows)
    equal = canonical(rows, np.zeros(n, np.int64), 1, np.ones(n), mergeable=True)
    sums = np.zeros((len(equal.rows), len(coefficients)))
    np.add.at(sums, equal.group, coefficients.T[equal.members])
    kept = np.flatnonzero(sums.any(axis=1))
    kept = kept[np.argsort(equal.rows[kept])]
    return equal.rows[kept], np.ascontiguousarray(sums[kept].T)
