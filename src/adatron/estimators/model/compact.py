"""A smaller model with the same decisions: equal support vectors merged, those that count nowhere left out.

A merged vector may come from samples of several classes. So the vectors of a compact model have no class, and its
``dual_coef_`` is not in scikit-learn's layout: it has a row of coefficients for each problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...fitting.layout import feature_weights
from ...fitting.samples import canonical
from ...gram.storage import opened, tidy
from ...kernels import Linear
from ..checks import inputs

if TYPE_CHECKING:
    from ..base.machine import KernelMachine

Ids = NDArray[np.int64]
Matrix = NDArray[np.float64]


def shrink(model: KernelMachine, coefficients: Matrix) -> None:
    """Make an ordinary model compact, in place.

    Parameters
    ----------
    coefficients : ndarray of shape (n_problems, n_support)
        Those of the model, for each problem.
    """
    if model.objects_ is not None:
        raise ValueError("compact() needs samples that are rows of numbers; this model's kernel function takes others.")
    given, vectors = inputs.given(model.kernel), model.support_vectors_
    # Where kernel values are given, a support vector is known by its number only.
    rows, coefficients = _merge(model.support_[:, None].astype(np.float64) if given else vectors, coefficients)
    support = model.support_[rows]
    if given:
        _narrow(model, support)
    else:
        vectors = vectors[rows]
    if model.kernel_ == Linear():
        weights = feature_weights(coefficients, vectors)
        if weights.size < vectors.size:  # of CSR: the numbers it stores
            # f(x) = w·x + b: w is the one vector that a problem needs.
            support, vectors, coefficients = support[:0], weights, np.eye(len(coefficients))
    model.compact_ = True
    model.support_, model.support_vectors_ = support, vectors
    model.dual_coef_ = sparse.csr_matrix(coefficients) if sparse.issparse(vectors) else coefficients
    model._n_support = np.array([coefficients.shape[1]], np.int32)  # pyright: ignore[reportPrivateUsage]


def _merge(rows: Any, coefficients: Matrix) -> tuple[Ids, Matrix]:
    """The first of each set of equal rows and the sums of their coefficients, but for those whose sums are all zero."""
    n = rows.shape[0]
    rows = tidy(rows) if sparse.issparse(rows) else opened(rows)
    equal = canonical(rows, np.zeros(n, np.int64), 1, np.ones(n), mergeable=True)
    sums = np.zeros((len(equal.rows), len(coefficients)))
    np.add.at(sums, equal.group, coefficients.T[equal.members])
    kept = np.flatnonzero(sums.any(axis=1))
    kept = kept[np.argsort(equal.rows[kept])]
    return equal.rows[kept], np.ascontiguousarray(sums[kept].T)


def _narrow(model: KernelMachine, support: Any) -> None:
    """From now on X has the columns of the support vectors only."""
    fitted = vars(model)
    fitted["n_features_in_"] = len(support)
    if "feature_names_in_" in fitted:
        fitted["feature_names_in_"] = fitted["feature_names_in_"][support]
