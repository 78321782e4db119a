"""Paths of kernels: the solutions are those of single fits, found with less work.

Also tested here: ``gaussians``, ``certificates/radius_margin`` and ``gram/gaussian_rows``.
"""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from reproductions.kernel_adatron.kernel_path import kernel_path, violators
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC
from adatron.certificates import kkt_violation
from adatron.kernels import RBF
from adatron.problems import csvc, nusvc, svr
from problems import samples
from twins import programs
from twins.primal import BIASES, data, drawn

GAMMAS = np.geomspace(0.01, 20.0, 12)
PROGRAMS = {
    "csvc": lambda y, w, t, bias: csvc(y, w, bias, 0.7),
    "svr": lambda y, w, t, bias: svr(t, w, 0.1, bias, 0.7),
    "nusvc": lambda y, w, t, bias: nusvc(y, w, 0.3, bias, 0.7),
}


@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
@pytest.mark.parametrize("C", [np.inf, 2.0])
def test_every_step_is_a_solution(C, bias):
    X, y = samples(1, 130, 3, noise=0.0 if np.inf == C else 0.7)
    path = kernel_path(X, y, GAMMAS[4:], C=C, bias=bias, augment=0.7, tol=1e-5)
    assert (np.diff(path.gamma) < 0).all()
    assert (path.duality_gap < 1e-3).all()
    for gamma, beta, b, margin in zip(path.gamma, path.coefficients, path.intercept, path.margin, strict=True):
        alone = SVC(C=C, gamma=gamma, bias=bias, augment=0.7, tol=1e-5).fit(X, y)
        K = RBF(gamma)(X)
        whole = K + 0.49 * (bias == "augmented")
        assert np.abs(K @ beta + b - alone.decision_function(X)).max() < 1e-2
        assert margin == pytest.approx((beta @ whole @ beta) ** -0.5, rel=1e-9)


@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
def test_the_gap_of_every_step_is_a_bound(bias):
    X, y = samples(4, 90, 3, noise=0.7)
    X = X + 1e4  # the distances are rounded more than the tolerance of the gap
    path = kernel_path(X, y, GAMMAS[4:], C=2.0, bias=bias, augment=0.7, tol=1e-6)
    sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
    differences = (X[:, None] - X).astype(np.longdouble)
    distances = np.square(differences).sum(axis=2)
    for gamma, found, gap in zip(path.gamma, path.coefficients, path.duality_gap, strict=True):
        beta, K = found.astype(np.longdouble), np.exp(-np.longdouble(gamma) * distances)
        K = K + np.longdouble(0.7) ** 2 * (bias == "augmented")
        norm2, z = beta @ K @ beta, K @ beta
        # The gap belongs to the best bias, at which some sample is at the margin.
        biases = sign - z if bias == "explicit" else np.zeros(1)
        primal = 0.5 * norm2 + 2.0 * np.maximum(1.0 - sign * (z + biases[:, None]), 0.0).sum(axis=1).min()
        dual = sign @ beta - 0.5 * norm2
        assert (primal - dual) / dual <= gap


def test_warm_starts_save_updates_and_distances_are_computed_once():
    X, y = samples(2, 200, 4)
    gammas = np.geomspace(0.02, 5.0, 40)
    warm, cold = (kernel_path(X, y, gammas, C=10.0, warm=w) for w in (True, False))
    assert warm.n_iter.sum() < 0.9 * cold.n_iter.sum()
    assert warm.kernel_evaluations < 0.5 * len(gammas) * len(X) ** 2 / 2
    assert np.abs(warm.margin / cold.margin - 1).max() < 1e-2


@pytest.mark.parametrize("sign", [1, -1])
def test_samples_of_either_class_that_join_the_support_vectors_are_found(sign):
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[y != 0], y[y != 0]
    path = kernel_path(X, sign * y, 1.0 / (2.0 * np.linspace(8.0, 60.0, 40) ** 2), tol=1e-4)  # warns if one is not
    assert any(set(np.flatnonzero(b)) - set(np.flatnonzero(a)) for a, b in pairwise(path.coefficients))
    assert (path.duality_gap < 1e-3).all()


def test_the_radius_is_that_of_the_smallest_ball():
    X, y = samples(3, 60, 2)
    path = kernel_path(X, y, GAMMAS, C=1.0)
    for gamma, ratio, margin in zip(path.gamma, path.radius_margin, path.margin, strict=True):
        radius2 = ratio * margin**2
        K = RBF(gamma)(X)
        weights = np.full(60, 1 / 60)
        for step in range(4000):  # the centre walks towards the farthest point (Badoiu, Clarkson 2003)
            away = 1.0 - 2.0 * K @ weights + weights @ K @ weights
            weights *= 1.0 - 1.0 / (step + 2.0)
            weights[away.argmax()] += 1.0 / (step + 2.0)
        outside = (1.0 - 2.0 * K @ weights + weights @ K @ weights).max()
        assert radius2 <= outside + 1e-9
        assert radius2 >= outside - 2e-3 - 0.01 * outside
    assert (path.radius_margin_origin >= path.radius_margin).all()


def test_the_pick():
    X, y = samples(4, 150, 3)
    test, truth = samples(5, 300, 3)
    by_error = kernel_path(X, y, GAMMAS, C=5.0, validation=(test, truth))
    assert by_error.validation_error[by_error.best] == by_error.validation_error.min()
    model = SVC(C=5.0, gamma=by_error.gamma[by_error.best]).fit(X, y)
    assert 1.0 - model.score(test, truth) == pytest.approx(by_error.validation_error.min(), abs=0.011)
    by_bound = kernel_path(X, y, GAMMAS, C=5.0, validation=(test, truth), pick="bound")
    assert by_bound.radius_margin[by_bound.best] == by_bound.radius_margin.min()


def test_what_is_not_found_is_said():
    X, y = samples(8, 60, 2, noise=2.0)
    with pytest.warns(ConvergenceWarning, match="No solution was found for gamma"):
        path = kernel_path(X, y, [1e-4])
    assert path.duality_gap[0] > 1e-2


def test_table_and_picture():
    X, y = samples(6, 60)
    path = kernel_path(X, y, GAMMAS[:4], validation=(X, y), C=1.0)
    lines = path.table().splitlines()
    assert len(lines) == 6
    assert "vacuous" in lines[2]
    ax = path.plot()
    assert isinstance(ax, mpl.axes.Axes)
    assert path.plot(ax) is ax


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gammas": [0.0, 1.0]}, "'gammas' parameter must hold numbers > 0"),
        ({"gammas": []}, "minimum of 1"),
        ({"pick": "validation"}, "'pick' parameter must be"),
        ({"pick": "best"}, "'pick' parameter of kernel_path must be"),
        ({"validation": (np.zeros((2, 2)), [0, 5])}, "'validation' parameter holds other labels"),
        ({"validation": (np.zeros((2, 3)), [-1, 1])}, "must have 2 features"),
        ({"cache_size": 0.01}, "'cache_size' parameter allows 0 MB"),
        ({"C": 0.0}, "'C' parameter of kernel_path must be"),
        ({"bias": "some"}, "'bias' parameter of kernel_path must be"),
        ({"tol": -1.0}, "'tol' parameter of kernel_path must be"),
        ({"y": np.arange(30) % 3}, "needs two classes"),
    ],
)
def test_bad_input(change, message):
    X, y = samples(7, 30)
    arguments = {"X": X, "y": y, "gammas": GAMMAS} | change
    with pytest.raises(ValueError, match=message):
        kernel_path(**arguments)


def test_an_augmented_kernel_has_a_larger_ball_around_the_origin():
    X, y = samples(1, 60, 3, noise=0.7)
    path = kernel_path(X, y, [0.1, 1.0], C=2.0, bias="augmented", augment=3.0)
    np.testing.assert_allclose(path.radius_margin_origin * path.margin**2, 10.0)
    with pytest.raises(ValueError, match="'augment' parameter"):
        kernel_path(X, y, [1.0], bias="augmented", augment=1e4)


@drawn(name=tuple(PROGRAMS), bias=BIASES, part=(0.0, 0.3, 1.0))
def test_violators_are_those_of_the_definition(seed, name, bias, part):
    K, y, w, t = data(seed)
    dual = PROGRAMS[name](y, w, t, bias)
    beta = np.where(np.random.default_rng(seed).random(len(y)) < 0.5, part * dual.upper, 0.5 * part * dual.lower)
    g = programs.gradient(K, dual, beta)
    found = kkt_violation(dual, beta, g)
    assert violators(dual, beta, g, 0.999 * found).any() == (found > 0)
    assert not violators(dual, beta, g, found).any()
    up, down = programs.slopes(dual, beta, g)
    wrong = np.maximum(up, down) if not dual.totals else np.full(len(dual), -np.inf)
    for a in programs.matrix(dual):
        own, more, less = a != 0, np.where(a > 0, up, down), np.where(a > 0, down, up)
        wrong[own] = np.maximum(more + less[own].max(), less + more[own].max())[own]
    np.testing.assert_array_equal(violators(dual, beta, g, 0.5 * found), wrong > 0.5 * found)
