"""Models built from coefficients that were found elsewhere, such as those of scikit-learn's `svm`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_outlier_detector

from ..kernels import resolve
from ..model.model import Model, Proofs
from ..model.readout import Classes, Inlier, Readout, Target
from ..solvers.results import Traces


def adopt(
    model: Any,
    labels: NDArray[Any],
    counts: NDArray[np.int64],
    vectors: Any,
    coefficients: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    support: NDArray[np.int64],
) -> Any:
    """Return a fitted classifier with the given support vectors; its certificate is nan: nothing is proven.

    Parameters
    ----------
    model : SVC or NuSVC
        An unfitted model with a number for gamma.
    labels : ndarray of shape (n_classes,)
        Classes. Their order stays, even if it is not the sorted one: a tie of votes goes to the first.
    counts : ndarray of shape (n_classes,)
        Support vectors of each class, which come one class after the other.
    vectors : csr_matrix of shape (n_support, n_features)
        Support vectors; for kernel='precomputed' an array of shape (0, 0).
    coefficients : ndarray of shape (n_classes - 1, n_support)
        In the layout of ``dual_coef_``.
    intercepts : ndarray of shape (n_pairs,)
    support : ndarray of shape (n_support,)
        Numbers of the support vectors in their training set.
    """
    found = _adopted(model, Classes(labels, len(labels) > 2), counts, vectors, coefficients, intercepts, support)
    found.class_weight_ = np.ones(len(labels))
    return found


def adopt_one(
    model: Any,
    vectors: Any,
    coefficients: NDArray[np.float64],
    intercept: float,
    support: NDArray[np.int64],
) -> Any:
    """Return a fitted regressor or novelty detector; parameters as of ``adopt``, coefficients (n_support,)."""
    counts, readout = np.array([len(coefficients)]), Inlier() if is_outlier_detector(model) else Target()
    return _adopted(model, readout, counts, vectors, coefficients[None], np.array([intercept]), support)


def _adopted(
    model: Any, readout: Readout, counts: Any, vectors: Any, coefficients: Any, intercepts: Any, support: Any
) -> Any:
    """Return the machine with a model of these parts."""
    gamma, values, problems = float(model.gamma), model.kernel == "precomputed", len(intercepts)
    unknown, trace = (np.nan, {}) if problems == 1 else (np.full(problems, np.nan), Traces.nothing(problems))
    n_iter = np.zeros(problems, np.int32) if isinstance(readout, Classes) else 0
    return model.with_model(
        Model(
            kernel=resolve(model.kernel, gamma, model.degree, model.coef0),
            gamma=gamma,
            vectors=vectors,
            dual=sparse.csr_matrix(coefficients) if sparse.issparse(vectors) else coefficients,
            intercepts=intercepts,
            support=support.astype(np.int32),
            counts=counts.astype(np.int32),
            readout=readout,
            proofs=Proofs(unknown, unknown, unknown, unknown, n_iter, 0, trace),
            shape=vectors.shape,
            width=None if values else vectors.shape[1],
        )
    )


def widened(model: Any, n_features: int) -> Any:
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
