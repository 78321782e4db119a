"""Distances through the steps of a pipeline, and of scikit-learn's own machines.

Also tested here: ``affine``.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from adatron import SVC, NuSVC, input_margin

PLANE, y = make_moons(60, noise=0.15, random_state=0)
RNG = np.random.default_rng(0)
X = np.column_stack([3.0 * PLANE[:, 0] + 10.0, 0.2 * PLANE[:, 1], PLANE.sum(axis=1) + RNG.normal(size=60)])
THREE = np.where(X[:, 2] > 1.5, 2, y)
STEPS = {
    "standard": StandardScaler(),
    "without mean": StandardScaler(with_mean=False),
    "range": MinMaxScaler((-1, 2)),
    "largest": MaxAbsScaler(),
    "robust": RobustScaler(),
    "components": PCA(2),
    "all components, white": PCA(3, whiten=True),
    "singular": TruncatedSVD(2),
    "selected": SelectKBest(k=2),
    "several": Pipeline([("a", StandardScaler()), ("b", PCA(2)), ("c", "passthrough"), ("d", MaxAbsScaler())]),
}


@pytest.mark.slow
@pytest.mark.parametrize("target", [y, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("step", STEPS)
def test_distances_are_those_of_the_samples(step, target):
    """Behind the projection another class is predicted, and no nearer than the certificate."""
    model = make_pipeline(STEPS[step], SVC(C=10.0, gamma=1.0)).fit(X, target)
    found = input_margin(model, X)
    there = np.isfinite(found.distance)
    assert there.any()
    ways = found.projection - X
    np.testing.assert_allclose(found.distance[there], np.linalg.norm(ways[there], axis=1), rtol=1e-9)
    beyond = model.predict(X + 1.0001 * np.nan_to_num(ways))
    changed = (beyond != model.predict(X))[there & found.converged]
    assert changed.mean() > 0.9
    assert (found.certified <= found.distance).all()
    assert (found.certified[there] > 0).mean() > 0.9
    radius = np.where(np.isfinite(found.certified), found.certified, 1.0)
    for _ in range(50):
        directions = RNG.normal(size=X.shape) * X.std(axis=0) ** RNG.choice([-1, 0, 1])
        directions *= radius[:, None] / np.linalg.norm(directions, axis=1)[:, None]
        np.testing.assert_array_equal(model.predict(X + directions), model.predict(X))


def test_a_linear_machine_has_the_distance_of_its_plane():
    model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X, y)
    w = model[-1].coef_[0] / model[0].scale_
    np.testing.assert_allclose(
        input_margin(model, X).distance, np.abs(model.decision_function(X)) / np.linalg.norm(w), rtol=1e-6
    )
    seen = input_margin(model, X, space="transformed")
    w = model[-1].coef_[0]
    np.testing.assert_allclose(seen.distance, np.abs(model.decision_function(X)) / np.linalg.norm(w), rtol=1e-6)


def test_the_metric_is_that_of_the_space():
    model = make_pipeline(StandardScaler(), SVC(gamma=1.0)).fit(X, y)
    G = np.diag(1.0 / model[0].var_)  # a step of one standard deviation has the length 1
    seen = input_margin(model, X, space="transformed")
    for metric in (G, lambda x: G):
        original = input_margin(model, X, metric)
        np.testing.assert_allclose(original.distance, seen.distance, rtol=1e-9)
        np.testing.assert_allclose(original.certified, seen.certified, rtol=1e-6)
        np.testing.assert_allclose(model[0].transform(original.projection), seen.projection, rtol=1e-7, atol=1e-9)
    direct = input_margin(model[-1], model[0].transform(X))
    np.testing.assert_array_equal(seen.distance, direct.distance)


def test_tables_sparse_rows_and_searches():
    model = make_pipeline(StandardScaler(with_mean=False), SVC(gamma=1.0)).fit(X, y)
    expected = input_margin(model, X).distance
    few = make_pipeline(StandardScaler(with_mean=False), SVC(gamma=1.0)).fit(sparse.csr_matrix(X), y)
    found = input_margin(few, sparse.csr_matrix(X)).distance
    assert np.isclose(found, expected, rtol=1e-2).mean() > 0.9
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    named = make_pipeline(StandardScaler(with_mean=False), SVC(gamma=1.0)).fit(table, y)
    np.testing.assert_allclose(input_margin(named, table).distance, expected, rtol=1e-2)
    search = GridSearchCV(make_pipeline(StandardScaler(with_mean=False), SVC(gamma=1.0)), {"svc__C": [1.0]}, cv=2)
    np.testing.assert_array_equal(input_margin(search.fit(X, y), X).distance, expected)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [X, sparse.csr_matrix(X)], ids=["dense", "csr"])
@pytest.mark.parametrize("target", [y, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (svm.SVC(gamma=0.1, tol=1e-9), SVC(gamma=0.1, tol=1e-9)),
        (svm.SVC(kernel="poly", degree=2, coef0=1.0, tol=1e-9), SVC(kernel="poly", degree=2, coef0=1.0, tol=1e-9)),
        (svm.NuSVC(nu=0.3, gamma=0.1, tol=1e-9), NuSVC(nu=0.3, gamma=0.1, tol=1e-9)),
    ],
)
def test_machines_of_scikit_learn(theirs, ours, target, rows):
    scaler = StandardScaler(with_mean=False)
    one, other = make_pipeline(scaler, theirs).fit(rows, target), make_pipeline(scaler, ours).fit(rows, target)
    found, expected = input_margin(one, rows), input_margin(other, rows)
    np.testing.assert_allclose(found.certified, expected.certified, rtol=1e-3, atol=1e-6)
    assert np.isclose(found.distance, expected.distance, rtol=1e-2, atol=1e-6).mean() > 0.8
