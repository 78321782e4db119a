"""A fitted machine for samples with more features than its training samples had."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy import sparse

from ...fitting.storage import for_reading
from ..base.machine import Kept, KernelMachine


def widened(model: KernelMachine, n_features: int) -> KernelMachine:
    """Return the machine as if its training samples had had more features, all of them 0; gamma stays.

    This is LIBSVM's rule: a feature that no support vector has counts in distances, and is nothing in products.
    """
    found: Any = copy(model)
    vectors: Any = model.support_vectors_
    if sparse.issparse(vectors):
        parts = vectors.data.copy(), vectors.indices.copy(), vectors.indptr.copy()
        wide = sparse.csr_matrix(parts, (vectors.shape[0], n_features))
    else:
        wide = np.pad(vectors, ((0, 0), (0, n_features - vectors.shape[1])))
    found.support_vectors_ = for_reading(wide, own=True)
    if vars(model).get("tilts_") is not None:  # of derivatives at the support vectors
        found.tilts_ = np.pad(found.tilts_, ((0, 0), (0, n_features - found.tilts_.shape[1])))
    found.n_features_in_ = n_features
    found.shape_fit_ = (model.shape_fit_[0], n_features)  # pyright: ignore[reportAttributeAccessIssue]
    found._kept = Kept()
    vars(found).pop("feature_names_in_", None)
    return found
