"""Models with scikit-learn's steps, wrappers and searches, and what may happen when a crafted one predicts.

A file must be refused, or its model must predict or end in an exception: no crash, no loop without end, and no CSR
matrix whose indices are beyond its shape.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import adatron


@functools.cache
def models() -> dict[str, tuple[Any, Any]]:
    """Return fitted models, and rows that each of them takes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y, three = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])
    holes, whole = np.where(rng.random(X.shape) < 0.1, np.nan, X), np.round(2 * X)
    words = np.array(["red", "green", "blue", None], dtype=object)[rng.integers(4, size=(60, 2))]
    texts = [f"{a} is not {b}" for a, b in words]
    svc = adatron.SVC
    rare = OneHotEncoder(min_frequency=12, drop="first", handle_unknown="infrequent_if_exist")
    columns = ColumnTransformer(
        [
            ("one", make_pipeline(SimpleImputer(), OneHotEncoder(handle_unknown="ignore")), [0]),
            ("all", "passthrough", slice(1, 3)),
        ]
    )
    union = FeatureUnion([("pca", PCA(1)), ("bins", KBinsDiscretizer(3))])
    made = {
        "one-hot": (make_pipeline(OneHotEncoder(handle_unknown="ignore"), svc()), words, y),
        "one-hot of numbers": (make_pipeline(OneHotEncoder(handle_unknown="ignore"), svc()), whole, y),
        "one-hot of rare ones": (make_pipeline(rare, svc()), words, three),
        "ordinal": (make_pipeline(OrdinalEncoder(encoded_missing_value=-1), svc()), words, y),
        "words": (make_pipeline(CountVectorizer(), svc(kernel="linear")), texts, y),
        "tf-idf": (make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), svc()), texts, y),
        "columns": (make_pipeline(columns, svc()), whole, y),
        "union": (make_pipeline(union, SelectKBest(k=2), svc()), X, three),
        "imputer": (make_pipeline(KNNImputer(add_indicator=True), QuantileTransformer(n_quantiles=9), svc()), holes, y),
        "power": (make_pipeline(PowerTransformer(), RobustScaler(), RFE(svc(kernel="linear")), svc()), X, y),
        "calibrated": (CalibratedClassifierCV(svc(), cv=2, method="isotonic"), X, three),
        "rest": (OneVsRestClassifier(svc()), X, np.eye(3, dtype=int)[three]),
        "bagging": (BaggingClassifier(svc(), 2, max_features=2, random_state=0), X, three),
        "search": (GridSearchCV(make_pipeline(StandardScaler(), svc()), {"svc__C": [1, 2.0]}, cv=2), X, y),
        "target": (TransformedTargetRegressor(adatron.SVR(), transformer=StandardScaler()), X, X[:, 1]),
    }
    return {name: (model.fit(rows, target), rows) for name, (model, rows, target) in made.items()}


def used(model: Any, X: Any) -> str:
    """Transform and predict; each may end in an exception, and none may make a matrix that is not whole."""
    ends: list[str] = []
    steps = model[:-1] if isinstance(model, Pipeline) and len(model.steps) > 1 else None
    for owner, name in (
        (steps, "transform"),
        (model, "predict"),
        (model, "decision_function"),
        (model, "predict_proba"),
    ):
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
