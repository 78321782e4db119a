"""A smaller model with the same decisions: equal support vectors are merged, and those without effect left out.

A merged vector may come from samples of several classes. So the vectors of a compact model have no class, and its
``dual_coef_`` is not in scikit-learn's layout: it has a row of coefficients for each problem.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ...arrays import Ids, Matrix, canonical_csr, writable
from ...fitting.samples import canonical
from ...kernels import Linear
from ...model.layout import feature_weights
from ...model.model import Model


def shrunk(model: Model) -> Model:
    """Return the compact form of a model.

    Raises
    ------
    ValueError
        No two terms are alike, or its samples are no rows of numbers.
    """
    if model.tilts is not None:
        raise ValueError("A model of algorithm='full' cannot be made smaller: no two of its bases are equal.")
    if model.samples is not None:
        raise ValueError("compact() needs samples that are rows of numbers; this model's kernel function takes others.")
    numbers, vectors, width = model.support[:, None].astype(np.float64), model.vectors, model.width
    first, coefficients = _merge(numbers if model.values else vectors, model.coefficients())
    if model.values:
        width = len(first)  # from now on X has the columns of the support vectors only
    else:
        vectors = vectors[first]
        weights = feature_weights(coefficients, vectors) if model.kernel == Linear() else None
        if weights is not None and weights.size < vectors.size:  # for CSR the size counts stored numbers
            # f(x) = w·x + b: w is the one vector that a problem needs; of a ball the centre, whose coefficient is 2.
            size = 2.0 if model.head.diagonal else 1.0
            first, vectors, coefficients = first[:0], weights / size, size * np.eye(len(coefficients))
    as_sparse, counts = sparse.issparse(vectors), np.array([coefficients.shape[1]], np.int32)
    dual = sparse.csr_matrix(coefficients) if as_sparse else coefficients
    parts = {"vectors": vectors, "dual": dual, "support": model.support[first], "counts": counts, "width": width}
    return replace(model, compact=True, **parts)


def _merge(rows: Any, coefficients: Matrix) -> tuple[Ids, Matrix]:
    """Return the first of each set of equal rows and its summed coefficients, without sets whose sums are all 0."""
    n = rows.shape[0]
    rows = canonical_csr(rows) if sparse.issparse(rows) else writable(rows)
    equal = canonical(rows, np.zeros(n, np.int64), 1, np.ones(n), mergeable=True)
    sums = np.zeros((len(equal.rows), len(coefficients)))
    np.add.at(sums, equal.group, coefficients.T[equal.members])
    kept = np.flatnonzero(sums.any(axis=1))
    kept = kept[np.argsort(equal.rows[kept])]
    return equal.rows[kept], np.ascontiguousarray(sums[kept].T)
