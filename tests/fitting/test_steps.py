"""The steps as the paper prints them, against a slow twin of its equations; programs that start warm; slack."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from adatron import InputMarginSVC, input_margin
from adatron.fitting import steps
from adatron.insight.distance import fields
from adatron.kernels import RBF, Polynomial
from adatron.margins import Metric, Recipe, nearest, needed_bytes, step_cost
from adatron.margins.nearest import estimate
from adatron.margins.worth import worth
from adatron.threads import OutOfTime, Pool

HARD = float("inf")
RULE = {"C": HARD, "tol": 1e-8, "rule": "printed"}


class PrintedAlgorithm:
    """Sections 3.1 to 3.6 for the Euclidean metric, equation by equation, with elements as long vectors."""

    def __init__(self, kernel, X, y, alpha, f0, moves):
        self.kernel, self.X, self.y, self.moves = kernel, X, y, moves
        self.bases, self.a, self.b, self.f0 = X.copy(), alpha * y, np.zeros_like(X), f0
        self.support = alpha > 0
        self.feet = X.copy()

    def function(self, x):
        """Return f and its gradient (eq. 2)."""
        f, q = self.f0, np.zeros(len(x))
        for z, a, b in zip(self.bases, self.a, self.b, strict=True):
            f += a * self.kernel(x[None], z[None])[0, 0] + b @ self.kernel.gradient(z, x[None])[0]
            q += a * self.kernel.gradient(x, z[None])[0] + self.kernel.cross_derivative(x, z) @ b
        return f, q

    def project(self):
        """Iterate eq. 12 from the last projections, ten times."""
        for i, x in enumerate(self.X):
            for _ in range(10):
                f, q = self.function(self.feet[i])
                self.feet[i] = x - q / (q @ q) * (f - (self.feet[i] - x) @ q)

    def margin(self):
        side = self.y * np.sign([self.function(x)[0] for x in self.X])
        return (side * np.linalg.norm(self.feet - self.X, axis=1)).min()

    def transfer(self, new):
        """Solve eq. 18 over T, a set."""
        T = np.unique(np.concatenate([self.X, self.bases, new]), axis=0)
        values = np.array([self.function(x)[0] for x in T])
        own = np.flatnonzero(self.support)
        A = [[self.kernel(x[None], new[j][None])[0, 0] for j in own] for x in T]
        B = [np.concatenate([self.kernel.gradient(new[j], x[None])[0] for j in own]) for x in T]
        c = np.linalg.lstsq(np.column_stack([A, B, np.ones(len(T))]), values, rcond=1e-9)[0]
        s = len(own)
        self.a[:], self.b[:] = 0.0, 0.0
        self.a[own], self.b[own], self.f0 = c[:s], c[s:-1].reshape(s, -1), c[-1]
        self.bases = new.copy()

    def inner(self, one, other):
        """Return the inner product of elements Σ a φ(z) + b'ψ(z), lists of (z, a, b)."""
        total = 0.0
        for z, a, b in one:
            for w, c, d in other:
                total += a * c * self.kernel(z[None], w[None])[0, 0] + a * d @ self.kernel.gradient(w, z[None])[0]
                total += c * b @ self.kernel.gradient(z, w[None])[0] + b @ self.kernel.cross_derivative(z, w) @ d
        return total

    def step(self):
        """Take a step: projection, transfer, eqs. 6 to 11."""
        if self.moves:
            self.transfer(self.feet)
        else:
            self.feet = self.X.copy()
        n, omega = len(self.X), list(zip(self.bases, self.a, self.b, strict=True))
        r = self.inner(omega, omega)
        q = np.array([self.function(x)[1] for x in self.feet])
        g = np.linalg.norm(q, axis=1) / np.sqrt(r)
        elements = []  # y {φ - ψ'd} - η
        for i in range(n):
            tilt = -self.y[i] * (self.feet[i] - self.X[i]) - q[i] / (g[i] * r)
            keep = g[i] / r
            elements.append([(self.feet[i], self.y[i], tilt), *[(z, keep * a, keep * b) for z, a, b in omega]])
        Q = np.array([[self.inner(one, other) for other in elements] for one in elements])
        Q /= (scale := np.abs(np.diag(Q)).max())
        found = minimize(lambda v: 0.5 * v @ Q @ v - g @ v, np.zeros(n), jac=lambda v: Q @ v - g, method="SLSQP",
                         bounds=[(0, None)] * n, options={"maxiter": 5000, "ftol": 1e-16},
                         constraints={"type": "eq", "fun": lambda v: self.y @ v, "jac": lambda v: self.y})  # fmt: skip
        alpha = found.x / scale
        free = alpha > 1e-6 * alpha.max()
        bias = self.y * (g - scale * Q @ alpha)
        keep = float(alpha @ g) / r
        self.a = alpha * self.y + keep * self.a
        self.b = -alpha[:, None] * (self.y[:, None] * (self.feet - self.X) + q / (g * r)[:, None]) + keep * self.b
        self.f0, self.support = float(np.mean(bias[free])), self.support | free
        self.bases = self.feet.copy()
        self.project()


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["full", "fixed"])
def test_algorithm_1_as_printed(algorithm):
    X, y = make_moons(8, noise=0.1, random_state=0)
    kernel = RBF(1.0)
    side = np.where(y == 1, 1.0, -1.0)
    how = RULE | ({"hyperplane": "all_values"} if algorithm == "full" else {})
    start = InputMarginSVC(kernel=kernel, n_steps=0, **how).fit(X, y)
    alpha = np.zeros(len(X))
    alpha[start.support_] = np.abs(start.dual_coef_[0])
    twin = PrintedAlgorithm(kernel, X, side, alpha, float(start.intercept_[0]), algorithm == "full")
    twin.project()
    margins = [twin.margin()]
    for _ in range(3):
        twin.step()
        margins.append(twin.margin())
    model = InputMarginSVC(kernel=kernel, algorithm=algorithm, n_steps=3, **how).fit(X, y)
    np.testing.assert_allclose(model.margin_path_, margins, rtol=1e-4)
    assert model.duality_gap_ < 1e-3
    assert model.margin_ == pytest.approx(input_margin(model, X).distance.min(), rel=1e-6)  # measured, not estimated


def test_a_printed_step_that_there_is_no_time_to_measure_has_no_margin(monkeypatch):
    def late(*_):
        raise OutOfTime

    X, y = make_moons(8, noise=0.1, random_state=0)
    monkeypatch.setattr(steps, "measured", late)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model = InputMarginSVC(kernel=RBF(1.0), n_steps=1, **RULE).fit(X, y)
    assert np.isfinite(model.margin_path_).all()
    assert np.isnan(model.margin_)
    assert np.isnan(model.projections_).all()
    assert np.isfinite(model.decision_function(X)).all()


def test_fixed_bases_need_no_equations():
    moving = Recipe(5, "best", "values", True, "feature", False)
    fixed = replace(moving, moves=False)
    assert needed_bytes(100, 100, 50, fixed) == 8 * 20 * 100**2 < needed_bytes(100, 100, 50, moving)
    assert step_cost(100, 100, 50, fixed) == 0 < step_cost(100, 100, 50, moving)


@pytest.mark.parametrize("rule", ["best", "damped"])
@pytest.mark.parametrize("algorithm", ["full", "fixed"])
def test_the_unit_of_the_samples_does_not_matter(algorithm, rule):
    X, y = make_moons(30, noise=0.1, random_state=1)
    paths = []
    for unit in (1.0, 10.0):
        model = InputMarginSVC(C=HARD, gamma=2.0 / unit**2, algorithm=algorithm, rule=rule, n_steps=2, tol=1e-8)
        paths.append(model.fit(unit * X, y).margin_path_ / unit)
    np.testing.assert_allclose(paths[1], paths[0], rtol=1e-3)


def test_estimates_of_a_plane_are_exact_and_lost_ones_are_nan():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    plane = fields(InputMarginSVC(kernel="linear", n_steps=0).fit(X, X[:, 0] > 0))[0]
    metric, pool = Metric.of(np.diag([1.0, 4.0, 9.0]), X), Pool(1)
    found, exact = (one(plane, metric, X, *more, pool) for one, more in ((estimate, [X]), (nearest, [])))
    np.testing.assert_allclose(found.distance, exact.distance, rtol=1e-6)
    np.testing.assert_allclose(found.projection, exact.projection, atol=1e-6)
    curved = fields(InputMarginSVC(gamma=1.0, n_steps=0).fit(X, X[:, 0] > 0))[0]
    far = estimate(curved, Metric(), np.full((1, 3), 1e3), np.full((1, 3), 1e3), pool)
    assert np.isinf(far.distance).all()
    assert np.isnan(far.projection).all()


def test_fixed_bases_are_samples():
    X, y = make_moons(60, noise=0.12, random_state=0)
    model = InputMarginSVC(C=HARD, gamma=1.0, algorithm="fixed", rule="best").fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.tilts_.any()
    assert model.margin_ > model.margin_path_[0]
    assert model.margin_ == pytest.approx(input_margin(model, X).distance.min(), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["full", "fixed"])
def test_programs_that_start_warm_have_the_same_solutions(algorithm):
    X, y = make_moons(150, noise=0.2, random_state=0)
    parameters = {"C": 10.0, "gamma": 1.0, "algorithm": algorithm, "rule": "best", "n_steps": 3, "tol": 1e-6}
    cold, warm = (InputMarginSVC(warm=warm, **parameters).fit(X, y) for warm in (False, True))
    np.testing.assert_allclose(warm.margin_path_, cold.margin_path_, rtol=1e-3)
    assert warm.duality_gap_ < 1e-3


@pytest.mark.slow
def test_a_program_that_starts_near_its_solution_takes_fewer_updates():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    y = np.square(X @ [1.0, 0.5]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=300) > 0.8
    parameters = {"C": 1.0, "kernel": Polynomial(1.0, 2, 1.0), "rule": "best", "hyperplane": "normal", "n_steps": 6}
    cold, warm = (InputMarginSVC(warm=warm, **parameters).fit(X, y) for warm in (False, True))
    np.testing.assert_allclose(warm.margin_path_, cold.margin_path_, rtol=1e-2)
    assert warm.n_iter_.sum() < cold.n_iter_.sum()


@pytest.mark.parametrize("parameters", [{"C": 1e6, "gamma": 1.0}, {"C": 1.0, "kernel": "linear"}], ids=str)
def test_slack_in_either_space_is_the_same_without_slack_or_curvature(parameters):
    X, y = make_moons(40, noise=0.1, random_state=2)
    models = [InputMarginSVC(slack=one, n_steps=2, **parameters).fit(X, y) for one in ("feature", "input")]
    assert models[1].margin_ == pytest.approx(models[0].margin_, rel=1e-3)


@pytest.mark.slow
def test_slack_in_the_input_space_leads_to_a_local_optimum_of_the_objective():
    """In the features of a polynomial, which are few: no small change of the decision function is better."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = np.square(X @ [1.0, 0.5]) + 0.5 * X[:, 1] + 0.4 * rng.normal(size=60) > 0.8
    kernel, C = Polynomial(1.0, 2, 1.0), np.full(60, 3.0)
    parameters = {"C": 3.0, "kernel": kernel, "tol": 1e-8, "hyperplane": "normal"}
    start = fields(InputMarginSVC(n_steps=0, **parameters).fit(X, y))[0]
    unit = float(np.mean(np.linalg.norm(start.slopes(X, Pool(1))[1], axis=1)) / np.sqrt(start.squared_norm(Pool(1))))
    objective = {}

    def loss(field):
        distance = nearest(field, Metric(), X, Pool(1)).distance
        right = (field.values(X, Pool(1)) > 0) == y
        return -worth(np.where(right, distance, -distance), C, unit).score

    for slack in ("feature", "input"):
        field = fields(InputMarginSVC(slack=slack, n_steps=30, **parameters).fit(X, y))[0]
        objective[slack] = loss(field)
    assert objective["input"] <= objective["feature"]
    assert objective["input"] < loss(start)
    length = np.sqrt(field.squared_norm(Pool(1)))
    for _ in range(20):
        z, a = rng.normal(size=(3, 2)), rng.normal(size=3)
        bump = type(field)(kernel, z, a, rng.normal(), np.zeros_like(z))
        bump = bump.scaled(1e-2 * length / np.sqrt(bump.squared_norm(Pool(1))))
        assert loss(field + bump) >= objective["input"] * (1 - 1e-3)
