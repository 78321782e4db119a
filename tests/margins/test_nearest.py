"""Distances from the decision boundary: exact where they are known, searched for in the plane, certified everywhere.

Also tested here: ``certified``, ``crossings``, ``field``, ``metric`` and ``projection``.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons

from adatron import SVC, NuSVC, input_margin
from adatron.kernels import RBF, Linear, Polynomial
from adatron.margins import Field, Metric, nearest
from adatron.margins.projection import parts
from adatron.threads import Pool

MODELS = {
    "rbf": {"C": 10.0, "gamma": 2.0},
    "rbf, narrow": {"C": 1000.0, "gamma": 10.0},
    "polynomial": {"kernel": "poly", "gamma": 1.0, "coef0": 1.0},
    "sum": {"kernel": RBF(1.0) + 0.1 * Polynomial(1.0, 2, 1.0)},
    "product": {"kernel": RBF(0.5) * (Linear() + RBF(2.0))},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.5},
}
STRETCH = np.array([[4.0, 1.0], [1.0, 0.5]])


def moons(name, n=60, seed=0, **parameters):
    X, y = make_moons(n, noise=0.25, random_state=seed)
    return SVC(**{"tol": 1e-6, **MODELS[name], **parameters}).fit(X, y)


def queries(seed, n, low=-2.0, high=3.0):
    return np.random.default_rng(seed).uniform(low, high, (n, 2))


def closer(model, X, distance, metric=None, rings=40, angles=120):
    """Number of rows with a point of another class at most 0.999 of the distance away, by a dense search."""
    angle = 2 * np.pi * np.arange(angles) / angles
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    if metric is not None:
        circle = np.linalg.solve(np.linalg.cholesky(metric).T, circle.T).T  # of length 1 in the metric
    wide = np.where(np.isfinite(distance), distance, 5.0)
    radii = 0.999 * wide[:, None] * np.arange(1, rings + 1) / rings
    points = X[:, None, None] + radii[:, :, None, None] * circle
    codes = model.predict(points.reshape(-1, 2)).reshape(len(X), -1)
    return int((codes != model.predict(X)[:, None]).any(axis=1).sum())


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_linear_kernel_has_the_distance_of_a_plane(C, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(60, d))
    model = SVC(kernel="linear", C=C).fit(X, X[:, 0] + 0.3 * rng.normal(size=60) > 0)
    found = input_margin(model, X)
    exact = np.abs(model.decision_function(X)) / np.linalg.norm(model.coef_)
    assert found.converged.all()
    np.testing.assert_allclose(found.distance, exact, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.certified, exact, rtol=1e-6, atol=1e-10)
    G = np.cov(rng.normal(size=(3 * d, d)), rowvar=False).reshape(d, d) + 0.1 * np.eye(d)
    w = model.coef_[0]
    np.testing.assert_allclose(
        input_margin(model, X, metric=G).distance,
        np.abs(model.decision_function(X)) / np.sqrt(w @ np.linalg.solve(G, w)),
        rtol=1e-9,
        atol=1e-10,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_nearer_in_the_plane(name, seed):
    model, X = moons(name, seed=seed), queries(seed, 100)
    found = input_margin(model, X)
    assert found.converged.mean() >= 0.98
    assert np.abs(model.decision_function(found.projection[found.converged])).max() <= 1e-8
    there = np.isfinite(found.distance)
    lengths = np.linalg.norm(found.projection[there] - X[there], axis=1)
    np.testing.assert_allclose(lengths, found.distance[there], rtol=1e-12)
    assert closer(model, X, found.distance) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rbf", "polynomial"])
def test_nothing_is_nearer_in_another_metric(name):
    model, X = moons(name), queries(1, 100)
    found = input_margin(model, X, metric=STRETCH)
    assert closer(model, X, found.distance, STRETCH) <= 1
    same = input_margin(model, X, metric=lambda x: STRETCH)
    np.testing.assert_allclose(same.distance, found.distance, rtol=1e-9)
    assert (found.certified <= found.distance).all()
    assert (found.certified > 0).all()


def of_three_classes(multi_class, seed=0, **parameters):
    X, y = make_blobs(90, centers=4, cluster_std=1.2, center_box=(-3, 3), random_state=seed)
    return SVC(C=10.0, gamma=0.5, multi_class=multi_class, **parameters).fit(X, np.minimum(y, 2)), X


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("seed", range(3))
def test_what_matters_is_a_change_of_the_winner(multi_class, seed):
    model, _ = of_three_classes(multi_class, seed)
    X = queries(seed, 100, -6, 6)
    found = input_margin(model, X)
    assert closer(model, X, found.distance) <= 1
    there = np.isfinite(found.distance)
    behind = X[there] + (1 + 1e-5) * (found.projection[there] - X[there])
    assert (model.predict(behind) != model.predict(X[there])).all()
    assert (found.certified <= found.distance).all()


@pytest.mark.slow
@given(
    name=st.sampled_from([*MODELS, "ovo", "ovr"]),
    seed=st.integers(0, 10**6),
    C=st.sampled_from([0.1, 1.0, 100.0]),
    stretched=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_a_certificate_is_true(name, seed, C, stretched):
    """It is at most the distance, and no point of the ball is predicted as another class."""
    model = moons(name, n=40, seed=seed % 1000, C=C) if name in MODELS else of_three_classes(name, seed % 1000)[0]
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 4, (20, 2))
    metric = STRETCH if stretched else None
    found = input_margin(model, X, metric)
    assert (found.certified <= found.distance).all()
    assert (found.certified >= 0).all()
    known = np.isfinite(found.certified)
    ways = rng.normal(size=(known.sum(), 200, 2))
    ways /= np.sqrt(np.einsum("nri,ij,nrj->nr", ways, STRETCH if stretched else np.eye(2), ways))[:, :, None]
    radii = found.certified[known, None] * rng.random((known.sum(), 200)) ** 0.2
    points = X[known, None] + radii[:, :, None] * ways
    codes = model.predict(points.reshape(-1, 2)).reshape(known.sum(), -1)
    assert (codes == model.predict(X[known])[:, None]).all()


def test_a_radius_holds_where_the_bias_hides_the_sum():
    """The sum of kernel values is below the rounding of the bias at the samples, and above the bias far away."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(26, 4)), (np.arange(26) > 9).astype(int)
    model = SVC(C=4.5, kernel="poly", gamma=5e-12, degree=5, coef0=0.0, max_time=3.0)
    with warnings.catch_warnings(action="ignore"):  # nothing separates these
        model.fit(X, y)
    radius = input_margin(model, X).certified
    ways = rng.normal(size=(26, 400, 4))
    ways *= 0.999 * radius[:, None, None] / np.linalg.norm(ways, axis=2, keepdims=True)
    codes = model.predict((X[:, None] + ways).reshape(-1, 4)).reshape(26, -1)
    assert (radius > 1e9).all()
    assert (codes == model.predict(X)[:, None]).all()


def ellipse(a, b):
    """f = (x/a)² + (y/b)² - 1 as a polynomial's decision function: Σ a_j (z_j·x)² + f0."""
    return Field(Polynomial(1.0, 2, 0.0), np.diag([1 / a, 1 / b]), np.ones(2), -1.0)


@pytest.mark.parametrize(
    ("x", "foot", "stable"),
    [
        ((1.8, 0.0), (2.0, 0.0), True),  # a minimum: nearer than the centre of curvature, (1.5, 0)
        ((0.5, 0.0), (2.0, 0.0), False),  # a maximum along the surface: beyond it
        ((0.0, 3.0), (0.0, 1.0), True),
        ((0.0, 3.5), (0.0, -1.0), False),
    ],
)
def test_proposition_1(x, foot, stable):
    """Eq. 12 comes back to a minimum of the distance after a small push, and leaves a maximum or a saddle."""
    field, X = ellipse(2.0, 1.0), np.array([x])
    Z = np.array([foot]) + 1e-4 * np.array([[0.3, 1.0] if foot[1] == 0 else [1.0, 0.3]])
    pushed = np.linalg.norm(Z - foot)
    for _ in range(6):
        f, q = field.slopes(Z, Pool(1))
        move = parts(Metric(), X, Z, f, q)
        Z = Z + move.onto + move.along
    assert (np.linalg.norm(Z - foot) < pushed) == stable


def test_minima_where_the_plain_update_diverges_are_found():
    """Outside of a strongly curved surface, c < -λ: a minimum that is unstable without the slowing down."""
    field, X = ellipse(2.0, 0.5), np.array([[4.5, 0.0]])
    Z = np.array([[2.0, 1e-3]])
    for _ in range(8):
        f, q = field.slopes(Z, Pool(1))
        move = parts(Metric(), X, Z, f, q)
        Z = Z + move.onto + move.along
    assert abs(Z[0, 1]) > 1e-3
    found = nearest(field, Metric(), X, Pool(1))
    assert found.converged.all()
    np.testing.assert_allclose(found.projection, [[2.0, 0.0]], atol=1e-6)


@pytest.mark.parametrize("kernel", [RBF(0.7), Polynomial(0.5, 3, 1.0), RBF(0.2) * Linear() + Polynomial(1.0, 2, 0.5)])
def test_a_field_with_tilted_bases_has_the_derivatives_of_its_formula(kernel):
    """f and ∇f against sums over the kernel's own derivatives, and ∇f against differences of f."""
    rng = np.random.default_rng(0)
    Z, b, a, X = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=(7, 3))
    field = Field(kernel, Z, a, 0.3, b)
    f, q = field.slopes(X, Pool(1))
    for x, value, slope in zip(X, f, q, strict=True):
        expected = a @ kernel(Z, x[None])[:, 0] + sum(
            bj @ kernel.gradient(z, x[None])[0] for z, bj in zip(Z, b, strict=True)
        )
        np.testing.assert_allclose(value, expected + 0.3, rtol=1e-10, atol=1e-12)
        rows = sum(
            (aj * kernel.gradient(x, z[None])[0] + kernel.cross_derivative(x, z) @ bj)
            for z, aj, bj in zip(Z, a, b, strict=True)
        )
        np.testing.assert_allclose(slope, rows, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(field.values(X, Pool(1)), f)
    h = 1e-6
    steps = np.stack([field.values(X + h * e, Pool(1)) - field.values(X - h * e, Pool(1)) for e in np.eye(3)], axis=1)
    np.testing.assert_allclose(q, steps / (2 * h), rtol=1e-5, atol=1e-6)


def test_without_a_boundary_there_is_no_distance():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    model = SVC(gamma=1.0, C=1e-3).fit(X, [0, 1, 1])
    found = input_margin(model, X)
    assert np.isinf(found.distance).all()
    assert np.isnan(found.projection).all()
    assert not found.converged.any()
    assert (found.certified > 0).all()


@pytest.mark.slow
def test_the_number_of_threads_and_the_storage_do_not_matter():
    X, y = make_moons(300, noise=0.2, random_state=0)
    model, alone = SVC(gamma=1.0).fit(X, y), SVC(gamma=1.0, n_jobs=1).fit(X, y)
    found = input_margin(model, X)
    for other in (input_margin(alone, X), input_margin(model, sparse.csr_matrix(X)), input_margin(model.compact(), X)):
        np.testing.assert_allclose(other.distance, found.distance, rtol=1e-7)
    np.testing.assert_array_equal(input_margin(alone, X).distance, found.distance)
    nu = NuSVC(nu=0.2, gamma=1.0).fit(X, y)
    assert input_margin(nu, X).converged.mean() > 0.98


@pytest.mark.parametrize("wide", [1e4, 1e10, 1e15, 1e18])
def test_the_rounding_of_an_eigenvalue_lengthens_no_radius(wide):
    """A step to the plane along the eigenvector of the smallest eigenvalue is as short as the radius may be long."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 3))
        model = SVC(kernel="linear", C=10.0).fit(X, X @ rng.normal(size=3) > 0.0)
        w = model.coef_[0].astype(np.longdouble)
        axes, _ = np.linalg.qr(np.column_stack([model.coef_[0], rng.normal(size=(3, 2))]))
        G = (axes * np.geomspace(1.0, wide, 3)) @ axes.T
        G = 0.5 * (G + G.T)
        try:
            np.linalg.cholesky(G)
        except np.linalg.LinAlgError:
            continue
        steps = (-model.decision_function(X) / (w @ w))[:, None] * w
        lengths = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", steps, G.astype(np.longdouble), steps), 0.0))
        found = input_margin(model, X, metric=G)
        assert (found.certified <= (1.0 + 1e-9) * lengths).all()
        assert (found.certified > 0.0).all() == (wide < 1e14)


def test_all_bases_in_one_place():
    """Where a sample is, too: there is no way to look along, but distances stay finite numbers or inf."""
    X, y = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]), [0, 1, 1]
    found = input_margin(SVC(C=1.0, gamma=1.0, class_weight={0: 2.0}).fit(X, y), np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert not np.isnan(found.distance).any()
    assert (found.certified <= found.distance).all()
