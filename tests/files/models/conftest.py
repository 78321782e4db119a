"""Fitted machines, whose files are crafted."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, IncrementalSVC, IncrementalSVR, InputMarginSVC
from adatron.kernels import RBF, Linear


@pytest.fixture(scope="package")
def X():
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture(scope="package")
def fitted(X):
    y, three = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])
    sparse = csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    return {
        "dense": SVC().fit(X, three),
        "csr": SVC().fit(sparse, y),
        "values": SVC(kernel="precomputed").fit(X @ X.T, y),
        "sum": SVC(kernel=RBF(1.0) + Linear(), solver="isda").fit(X, y),
        "regression": SVR().fit(X, X[:, 1]),
        "learning": IncrementalSVC().fit(X, three),
        "learning csr": IncrementalSVC().fit(sparse, y),
        "learning regression": IncrementalSVR().fit(X, X[:, 1]),
        "margins": InputMarginSVC(n_steps=1).fit(X, y),
        "pipeline": make_pipeline(StandardScaler(), SVC()).fit(X, y),
    }
