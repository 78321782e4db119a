"""Algorithm 1 and its simple form: what they leave alone, what they improve, what holds where they stop."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from adatron import SVC, InputMarginSVC, input_margin
from adatron.insight.distance import fields
from adatron.kernels import RBF, Linear, Polynomial
from adatron.margins import Metric, nearest
from adatron.margins.field import Field
from adatron.margins.hyperplane import TiltedElements, by_normal, by_values, products
from adatron.margins.worth import worth
from adatron.threads import Pool

HARD = float("inf")


def moons(seed=0, n=60):
    return make_moons(n, noise=0.12, random_state=seed)


def signed(model, X, y, metric=None):
    distance = input_margin(model, X, metric).distance
    return np.where(model.predict(X) == y, distance, -distance)


@pytest.mark.parametrize("rule", ["damped", "best"])
@pytest.mark.parametrize("hyperplane", ["values", "normal"])
def test_linear_kernel_stays_as_it_is(rule, hyperplane):
    """All gradients are w: M is K, t is y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + 3.0 * (np.arange(40) % 2)[:, None]
    y = np.arange(40) % 2
    parameters = {"kernel": "linear", "C": HARD, "tol": 1e-8}
    plain = SVC(**parameters).fit(X, y)
    model = InputMarginSVC(**parameters, rule=rule, hyperplane=hyperplane).fit(X, y)
    np.testing.assert_allclose(model.margin_path_, 1 / np.linalg.norm(plain.coef_), rtol=1e-6)
    w = [one.slopes(X[:1], Pool(1))[1][0] for one in (fields(plain)[0], fields(model)[0])]
    np.testing.assert_allclose(w[1] / np.linalg.norm(w[1]), w[0] / np.linalg.norm(w[0]), atol=1e-6)
    simple = InputMarginSVC(**parameters, algorithm="simplified").fit(X, y)
    np.testing.assert_allclose(simple.decision_function(X), plain.decision_function(X), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [RBF(1.0), Polynomial(1.0, 3, 1.0), RBF(0.5) + 0.2 * Linear()], ids=str)
@pytest.mark.parametrize("metric", [None, np.diag([1.0, 4.0])], ids=["identity", "diagonal"])
def test_the_margin_grows_and_is_what_it_says(kernel, metric):
    X, y = moons()
    for rule in ("damped", "best"):
        model = InputMarginSVC(C=HARD, kernel=kernel, metric=metric, rule=rule).fit(X, y)
        assert model.margin_ > model.margin_path_[0]
        assert model.margin_ == model.margin_path_.max()
        np.testing.assert_allclose(signed(model, X, y, metric).min(), model.margin_, rtol=1e-6)
        if rule == "damped":
            assert (np.diff(model.margin_path_) > 0).all()
        there = model.decision_function(model.projections_)
        assert np.abs(there).max() <= 1e-6 * np.abs(model.decision_function(X)).max()
    plain = SVC(C=HARD, kernel=kernel).fit(X, y)
    np.testing.assert_allclose(signed(plain, X, y, metric).min(), model.margin_path_[0], rtol=1e-3)


@pytest.mark.slow
def test_a_fixed_point_is_critical():
    """Proposition 2: 0 is in the convex hull of the gradients of the active distances, y φ(x̂) / ‖∇f(x̂)‖ and y / ‖∇f‖.

    In the features of a polynomial, which are few: φ of different points of an rbf are independent, so that there the
    margin only converges to half of the distance between the classes, as far as the sequence is followed.
    """
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    y = np.square(X @ [1.0, 0.5]) + 0.5 * X[:, 1] > 0.8
    model = InputMarginSVC(
        C=HARD, kernel=Polynomial(1.0, 2, 1.0), rule="best", n_steps=30, tol=1e-10, hyperplane="normal"
    ).fit(X, y)
    steps = np.abs(np.diff(model.margin_path_[-5:]))
    assert steps.max() <= 1e-6 * model.margin_
    field = fields(model)[0]
    found = nearest(field, Metric(), X, Pool(1))
    active = np.flatnonzero(found.distance <= model.margin_ * (1 + 1e-4))
    feet = found.projection[active]
    q = field.slopes(feet, Pool(1))[1]
    side = np.where(y[active], 1.0, -1.0) / np.linalg.norm(q, axis=1)
    features = np.column_stack([np.ones(len(feet)), feet, feet[:, 0] ** 2, feet[:, 1] ** 2, feet[:, 0] * feet[:, 1]])
    G = (side[:, None] * features / np.linalg.norm(features, axis=1, keepdims=True)).T
    from scipy.optimize import nnls

    weights, residual = nnls(np.vstack([G, np.ones(len(active))]), np.append(np.zeros(len(G)), 1.0))
    assert residual <= 1e-3, (residual, weights)


def test_products_of_tilted_elements():
    """Against the kernel's own derivatives."""
    rng = np.random.default_rng(0)
    kernel = RBF(0.4) * Polynomial(0.3, 2, 1.0) + Linear()
    left, right = (TiltedElements(rng.normal(size=(n, 3)), rng.normal(size=(n, 3))) for n in (4, 5))
    M = products(kernel, left, right)
    for i, (x, e) in enumerate(zip(left.points, left.tilts, strict=True)):
        for j, (z, f) in enumerate(zip(right.points, right.tilts, strict=True)):
            value = kernel(x[None], z[None])[0, 0] + e @ kernel.gradient(x, z[None])[0]
            value += f @ kernel.gradient(z, x[None])[0] + e @ kernel.cross_derivative(x, z) @ f
            np.testing.assert_allclose(M[i, j], value, rtol=1e-9)


@pytest.mark.parametrize("way", ["values", "normal"])
def test_a_hyperplane_over_its_own_bases_stays(way):
    rng = np.random.default_rng(0)
    Z, X = rng.normal(size=(6, 2)), rng.normal(size=(80, 2))
    field = Field(RBF(1.0), Z, rng.normal(size=6), 0.2, rng.normal(size=(6, 2)))
    new = by_values(field, Z, X, Pool(1)) if way == "values" else by_normal(field, Z, Pool(1))
    np.testing.assert_allclose(new.values(X, Pool(1)), field.values(X, Pool(1)), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_worth_of_soft_margins_is_the_least_over_rho(seed):
    rng = np.random.default_rng(seed)
    s, C, unit = rng.normal(0.3, 0.5, 30), rng.uniform(0.5, 2, 30), 0.7
    rho = np.linspace(0, 40, 400_001)[1:]
    J = 0.5 * (rho / unit) ** 2
    for one, c in zip(s, C, strict=True):
        J = J + c * np.maximum(0.0, 1.0 - rho * one)
    found = worth(s, C, unit)
    np.testing.assert_allclose(-found.score, J.min(), rtol=1e-6)
    np.testing.assert_allclose(1 / found.margin, rho[np.argmin(J)], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("algorithm", ["full", "simplified", "rescaled"])
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_soft_margins(algorithm, C):
    X, y = make_moons(80, noise=0.3, random_state=1)
    model = InputMarginSVC(C=C, gamma=1.0, algorithm=algorithm).fit(X, y)
    assert model.score(X, y) > 0.85
    assert model.duality_gap_ < 1e-2
    assert model.margin_ > 0


def test_simplified_and_rescaled():
    X, y = moons(1)
    for algorithm in ("simplified", "rescaled"):
        model = InputMarginSVC(C=HARD, gamma=1.0, algorithm=algorithm).fit(X, y)
        assert model.margin_ >= model.margin_path_[0]
        assert model.tilts_ is None
        assert model.projections_ is None
        assert model.compact().score(X, y) == model.score(X, y)
        np.testing.assert_allclose(signed(model, X, y).min(), model.margin_, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("algorithm", ["full", "simplified"])
def test_more_classes(multi_class, algorithm):
    X, y = load_iris(return_X_y=True)
    X = X[:, 2:]
    model = InputMarginSVC(C=10.0, multi_class=multi_class, algorithm=algorithm, n_steps=2).fit(X, y)
    assert model.score(X, y) > 0.94
    assert model.margin_.shape == (3,)
    assert len(model.margin_path_) == 3
    own = fields(model)
    values = np.stack([field.values(X, Pool(1)) for field in own], axis=1)
    np.testing.assert_allclose(model.set_params(decision_function_shape="ovo").decision_function(X), values, atol=1e-6)
    found = input_margin(model, X[::7])
    assert (found.certified <= found.distance).all()
    assert found.converged.mean() > 0.9
