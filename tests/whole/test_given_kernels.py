"""Kernels that are composed, given as values, or a function, in the five estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC
from adatron.gram.backends import untiled
from adatron.kernels import RBF
from adatron.solvers import Block
from machines import NAMES, X, assert_same_after, ours, target, theirs, values


@pytest.mark.parametrize("name", NAMES)
def test_given_kernel_values(name):
    y, K = target(name, X), RBF(0.1)(X)
    model, peer = (make(name, kernel="precomputed", tol=1e-7).fit(K, y) for make in (ours, theirs))
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-4)
    for rows in (K, K[:1], np.asfortranarray(K[:7]), K.tolist()[:3], pd.DataFrame(K[:9])):
        np.testing.assert_allclose(values(model, rows), values(peer, rows), atol=1e-4)
    assert_same_after(model, ours(name, kernel="precomputed", tol=1e-7).fit(np.asfortranarray(K), y), K, K)
    with pytest.raises(ValueError, match="X has 89 features"):
        model.predict(K[:, :-1])
    with pytest.raises(ValueError, match="must be a square matrix"):
        ours(name, kernel="precomputed").fit(K[:, :-1], y)
    with pytest.raises(TypeError, match="Sparse precomputed"):
        ours(name, kernel="precomputed").fit(sparse.csr_matrix(K), y)


class Recorder:
    """An RBF kernel that remembers how large the blocks were that it was asked for."""

    def __init__(self):
        self.shapes = []

    def __call__(self, A, B):
        self.shapes.append((A.shape[0], B.shape[0]))
        return RBF(0.5)(A, B)


@pytest.mark.parametrize(("name", "n"), [("SVC", 6000), *((name, 2100) for name in NAMES)])
def test_functions_are_called_on_blocks(name, n):
    many = np.random.default_rng(1).normal(size=(n, 2))
    many[:, 0] += np.where(np.arange(n) % 2, 4.0, -4.0)
    y = many[:, 0] if is_regressor(ours(name)) else np.arange(n) % 2
    kernel = Recorder()
    parameters = {"nu": 0.02} if "Nu" in name or name == "OneClassSVM" else {}
    model = ours(name, kernel=kernel, tol=0.1, **parameters).fit(many, y)
    assert max(max(shape) for shape in kernel.shapes) <= untiled.FUNCTION_ROWS
    fitting = len(kernel.shapes)
    model.predict(many)
    assert max(max(shape) for shape in kernel.shapes) <= untiled.FUNCTION_ROWS
    assert sum(a * b for a, b in kernel.shapes[fitting:]) == n * len(model.support_)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_function_keeps_what_it_returns(classes):
    """Nothing is written to it, and it may be read-only."""
    distinct = np.random.default_rng(0).normal(size=(90, 3))
    y, kept, frozen = np.arange(90) % classes, RBF(0.5)(distinct), RBF(0.5)(distinct)
    frozen.flags.writeable = False
    models = [SVC(C=100.0, kernel=lambda A, B, K=K: K).fit(distinct, y) for K in (kept, frozen)]
    np.testing.assert_array_equal(kept, frozen)
    np.testing.assert_array_equal(*(model.dual_coef_ for model in models))


def test_probabilities_of_samples_that_are_no_rows():
    """The folds use the function's values, too, and do not ask it about rows of its own matrix."""
    words = ["a" * n + "b" * m for n in range(1, 7) for m in range(1, 7)]
    y = np.array([word.count("a") > word.count("b") for word in words]).astype(int)

    def counts(texts):
        return np.array([[text.count("a"), text.count("b")] for text in texts], float)

    def of_texts(first, second):
        return counts(first) @ counts(second).T

    texts = SVC(kernel=of_texts, probability=True).fit(words, y)
    rows = SVC(kernel="precomputed", probability=True).fit(of_texts(words, words), y)
    np.testing.assert_array_equal(texts.predict_proba(words), rows.predict_proba(of_texts(words, words)))


class Impatient(Block):
    """The block solver with a low limit of its own."""

    def most(self, n):
        return 20


def test_the_limit_of_updates_blames_the_kernel_where_it_is_to_blame():
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(100, 100)), np.arange(100) % 2
    for K, blamed in ((A + A.T, True), (A @ A.T, False)):
        with pytest.warns(ConvergenceWarning, match="the limit of updates") as caught:
            SVC(kernel="precomputed", C=100.0, solver=Impatient()).fit(K, y)
        assert ("not positive semi-definite" in str(caught[0].message)) == blamed
    with pytest.warns(ConvergenceWarning, match=r"the time limit.*not positive semi-definite"):
        SVC(kernel="precomputed", C=100.0, max_time=1e-9).fit(A + A.T, y)


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_sparse_rows(name):
    """They see blocks in the storage of the data, and may return sparse matrices, as in scikit-learn."""
    S, y = sparse.csr_matrix(X), target(name, X)
    model = ours(name, kernel=lambda A, B: A @ B.T, tol=1e-8).fit(S, y)
    named = ours(name, kernel="linear", tol=1e-8).fit(S, y)
    np.testing.assert_allclose(model.dual_objective_, named.dual_objective_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(values(model, S), values(named, S), atol=1e-4)
    assert not sparse.issparse(model.dual_coef_)  # as in scikit-learn
