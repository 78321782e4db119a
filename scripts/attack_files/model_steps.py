"""Models with the steps of scikit-learn that a file may hold, and what may happen when a crafted one predicts.

A file must be refused, or its model must predict or end in an exception: no crash, no loop without end, and no CSR
matrix whose indices are beyond its shape.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import adatron


@functools.cache
def models() -> dict[str, tuple[Any, Any]]:
    """Return fitted models, and rows that each of them takes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y, three = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])
    holes, whole = np.where(rng.random(X.shape) < 0.1, np.nan, X), np.round(2 * X)
    words = np.array(["red", "green", "blue", None], dtype=object)[rng.integers(4, size=(60, 2))]
    svc = adatron.SVC
    columns = ColumnTransformer(
        [
            ("one", make_pipeline(SimpleImputer(), OneHotEncoder(handle_unknown="ignore")), [0]),
            ("all", "passthrough", slice(1, 3)),
        ]
    )
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    both = ColumnTransformer([("numbers", numbers, [0, 2])], remainder=MinMaxScaler(), sparse_threshold=1.0)
    made = {
        "one-hot": (make_pipeline(OneHotEncoder(handle_unknown="ignore"), svc()), words, y),
        "one-hot of numbers": (make_pipeline(OneHotEncoder(handle_unknown="ignore"), svc()), whole, y),
        "one-hot without one": (make_pipeline(OneHotEncoder(drop="first"), svc()), words, three),
        "columns": (make_pipeline(columns, svc()), whole, y),
        "both": (make_pipeline(both, adatron.SVR()), X, X[:, 1]),
        "imputer": (make_pipeline(SimpleImputer(), svc()), holes, y),
        "learning": (make_pipeline(SimpleImputer(), adatron.IncrementalSVC()), holes, three),
    }
    return {name: (model.fit(rows, target), rows) for name, (model, rows, target) in made.items()}


def used(model: Any, X: Any) -> str:
    """Transform and predict; each may end in an exception, and none may make a matrix that is not whole."""
    ends: list[str] = []
    steps = model[:-1] if isinstance(model, Pipeline) and len(model.steps) > 1 else None
    for owner, name in ((steps, "transform"), (model, "predict"), (model, "decision_function")):
        if isinstance(owner, BaseEstimator):
            ends.append(_tried(owner, name, X))
    return "error" if "error" in ends else "differs"


def _tried(owner: Any, name: str, X: Any) -> str:
    try:
        with np.errstate(all="ignore"):
            found = getattr(owner, name)(X)
    except Exception:  # any exception is an end that is allowed
        return "error"
    if sparse.issparse(found):
        found.tocsr().check_format(full_check=True)
    return "differs"
