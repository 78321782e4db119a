"""Models built from coefficients that were found elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...fitting.storage import for_reading
from ...kernels import resolve
from ...model.prepared import Kept
from ...solvers.found import Traces
from ..base.classifier import Classifier
from ..base.machine import KernelMachine


def adopt(
    model: Classifier,
    labels: NDArray[Any],
    counts: NDArray[np.int64],
    vectors: Any,
    coefficients: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    support: NDArray[np.int64],
) -> Classifier:
    """Make ``model`` a fitted classifier with the given support vectors; its certificate is nan: nothing is proven.

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
    model.classes_, model.class_weight_ = labels, np.ones(len(labels))
    model._fitted_multi_class = "ovo"  # pyright: ignore[reportPrivateUsage]
    _adopt(model, counts, vectors, coefficients, intercepts, support, alone=len(labels) == 2)
    return model


def adopt_one(
    model: KernelMachine,
    vectors: Any,
    coefficients: NDArray[np.float64],
    intercept: float,
    support: NDArray[np.int64],
) -> KernelMachine:
    """Make ``model`` a fitted regressor or novelty detector; parameters as of ``adopt``, coefficients (n_support,)."""
    counts = np.array([len(coefficients)])
    _adopt(model, counts, vectors, coefficients[None], np.array([intercept]), support, alone=True)
    model.n_iter_ = 0
    return model


def _adopt(
    model: KernelMachine, counts: Any, vectors: Any, coefficients: Any, intercepts: Any, support: Any, alone: bool
) -> None:
    """Set the attributes that all machines have; ``alone``: there is one problem."""
    model.kernel_ = resolve(model.kernel, float(model.gamma), model.degree, model.coef0)
    model._gamma = float(model.gamma)  # pyright: ignore[reportPrivateUsage]
    model.support_, model.support_vectors_ = support.astype(np.int32), for_reading(vectors)
    if model.kernel != "precomputed":
        model.n_features_in_ = vectors.shape[1]  # pyright: ignore[reportAttributeAccessIssue]
    model._n_support = counts.astype(np.int32)  # pyright: ignore[reportPrivateUsage]
    model.dual_coef_ = sparse.csr_matrix(coefficients) if sparse.issparse(vectors) else coefficients
    model.intercept_ = intercepts
    model.route_ = None
    model._kept = Kept()  # pyright: ignore[reportPrivateUsage]
    model.fit_status_, model.n_iter_ = 0, np.zeros(len(intercepts), np.int32)
    model.shape_fit_ = vectors.shape
    model.trace_ = {} if alone else Traces.nothing(len(intercepts))
    for name in ("duality_gap_", "kkt_violation_", "dual_objective_", "primal_objective_"):
        setattr(model, name, np.nan if alone else np.full(len(intercepts), np.nan))
