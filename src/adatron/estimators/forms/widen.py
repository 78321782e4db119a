"""A fitted machine for samples with more features than its training samples had."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..base.machine import KernelMachine


def widened(model: KernelMachine, n_features: int) -> KernelMachine:
    """Return the machine as if its training samples had had more features, all of them 0; gamma stays.

    This is LIBSVM's rule: a feature that no support vector has counts in distances, and is nothing in products.
    """
    before = model.model_
    vectors: Any = before.vectors
    if sparse.issparse(vectors):
        parts = vectors.data.copy(), vectors.indices.copy(), vectors.indptr.copy()
        wide = sparse.csr_matrix(parts, (vectors.shape[0], n_features))
    else:
        wide = np.pad(vectors, ((0, 0), (0, n_features - vectors.shape[1])))
    tilts = before.tilts  # of derivatives at the support vectors
    if tilts is not None:
        tilts = np.pad(tilts, ((0, 0), (0, n_features - tilts.shape[1])))
    shape = before.shape[0], n_features
    return model.with_model(replace(before, vectors=wide, tilts=tilts, shape=shape, width=n_features))
