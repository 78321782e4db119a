"""Take a fitted classifier of scikit-learn's `svm` over, to compute with it what adatron can compute."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import svm
from sklearn.utils.validation import check_is_fitted

from ..svc import SVC
from .adopt import adopt


def is_theirs(model: Any) -> bool:
    """Return whether a model is an SVC or a NuSVC of scikit-learn."""
    return isinstance(model, (svm.SVC, svm.NuSVC))


def taken_over(model: Any) -> SVC:
    """Return an SVC with the decision function of a fitted SVC or NuSVC of scikit-learn.

    Raises
    ------
    NotFittedError
        The model is not fitted.
    TypeError
        Its kernel is a function, or its kernel values are given.
    """
    check_is_fitted(model)
    if callable(model.kernel) or model.kernel == "precomputed":
        raise TypeError(f"A kernel with a derivative is needed: linear, poly, rbf or sigmoid. Got {model.kernel!r}.")
    names = ("kernel", "degree", "coef0", "decision_function_shape", "break_ties")
    own = SVC(gamma=float(model._gamma), **{name: getattr(model, name) for name in names})
    dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    vectors = model.support_vectors_ if sparse.issparse(model.support_vectors_) else model.support_vectors_.copy()
    counts, support = model.n_support_.astype(np.int64), model.support_.astype(np.int64)
    found: Any = adopt(own, model.classes_, counts, vectors, np.array(dual), model.intercept_.copy(), support)
    if "feature_names_in_" in vars(model):
        found.feature_names_in_ = model.feature_names_in_  # pyright: ignore[reportAttributeAccessIssue]
    return found
