"""Data to predict, as LIBSVM text, that use more features than a model has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..status import InputError


def with_surplus(model: Any, table: Any, file: Any, most: int | None) -> tuple[Any, Any]:
    """Return a model and data with the same features: the model as if its training samples had 0 in the others.

    svm-predict does the same: a Gaussian kernel counts such features in distances, products leave them out. A scaling
    leaves these features as they are, as it does with features that are always 0.
    """
    import numpy as np
    from scipy import sparse
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    from ...estimators.forms.way import way_to
    from ...estimators.forms.widen import widened
    from ...files.table import check_size
    from ...files.tables.memory import room
    from ..parts import machine_of

    X: Any = table.X
    last = machine_of(model)
    n = getattr(model, "n_features_in_", X.shape[1])
    if X.shape[1] <= n:
        return model, table
    if not sparse.issparse(last.support_vectors_):
        size = 8 * len(last.support_vectors_) * X.shape[1]
        check_size(file, f"support vectors with {X.shape[1]} features", size, most or room())
    if model is not last:
        way = way_to(model)
        others = [step for _, step in way.steps if not isinstance(step, (StandardScaler, MinMaxScaler, MaxAbsScaler))]
        if others:
            raise InputError(
                f"the data have {X.shape[1]} features and the model has {n}: train it with --features {X.shape[1]}, as "
                "these data use features that the training data lack"
            )
        head, rest = way.taken(X[:, :n]), X[:, n:]
        X = sparse.csr_matrix(sparse.hstack([head, rest])) if sparse.issparse(X) else np.hstack([head, rest])
    return widened(last, table.shape[1]), replace(table, X=X)
