"""Proofs end soon, look at rows whose errors are unknown; the optimum is between both objectives."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import adatron
from adatron import SVC
from adatron.certificates import Exact, certify
from adatron.certificates.gap import crossing
from adatron.kernels import RBF
from covering import parametrized
from machines import PARAMETERS
from problems import csvc, samples, solve, view_of
from twins import programs
from twins.fitted import truths
from twins.values import values


@pytest.mark.parametrize("shape", [np.abs, np.negative, np.positive, lambda x: -np.exp(-(x**2)), lambda x: -np.abs(x)])
@pytest.mark.parametrize("part", [0.05, 0.3, 0.7])
def test_kinks_along_a_line_are_no_harder_than_others(shape, part):
    """With the first, the middle and the last one to choose from this would take hours."""
    n = 1_000_000
    kinks = shape(np.linspace(-1.0, 1.0, n))
    assert crossing(kinks, np.ones(n), part * n) == np.sort(kinks)[int(np.ceil(part * n)) - 1]


def test_rows_whose_errors_have_no_bound_are_computed():
    X, y = samples(0, 1500, 5)
    dual, kernel = csvc(y, np.full(1500, 0.05)), RBF(0.2)
    view = view_of(X, kernel, np.float32)
    beta, K = solve(view, dual, tol=1e-3).beta, kernel(X)
    for g_error in (np.inf, np.nan):
        exact = Exact(dual)
        proof = certify(view, exact, beta, np.zeros(1500), np.full(1500, g_error))
        assert exact.known.all()
        assert proof.convex
        np.testing.assert_allclose(proof.gap, programs.gap(K, dual, beta), rtol=1e-6)


def test_a_proof_about_no_numbers_ends():
    X, y = samples(0, 1500, 5)
    dual = csvc(y, np.full(1500, 1.0))
    beta = np.full(1500, np.nan)
    proof = certify(view_of(X, RBF(0.2), np.float32), Exact(dual), beta, beta.copy(), np.zeros(1500))
    assert not proof.relative_gap <= 1e-3


@pytest.mark.parametrize("where", [slice(300), slice(300, None)], ids=["first", "second"])
def test_negative_eigenvalues_of_one_class_beyond_the_support_vectors(where):
    """The rows that are looked at are spread over both classes."""
    X = np.random.default_rng(0).normal(size=(600, 2)) + np.repeat([[0.0], [9.0]], 300, axis=0)
    y, K = np.repeat([0, 1], 300), RBF(0.1)(X)
    fine = SVC(kernel="precomputed").fit(K, y)
    assert np.isfinite(fine.duality_gap_)
    far = np.setdiff1d(np.arange(600)[where], fine.support_)
    sign = np.where(np.arange(len(far)) % 2, 1.0, -1.0)
    K[np.ix_(far, far)] -= 0.1 * np.outer(sign, sign)
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        model = SVC(kernel="precomputed").fit(K, y)
    assert np.isnan(model.duality_gap_)


SPECS = {"rbf": ("rbf", 0.3), "linear": ("linear",), "precomputed": ("rbf", 0.3)}
INCREMENTAL = ["SVC", "NuSVC", "SVR", "OneClassSVM"]
BIASES = ["explicit", "augmented", "none"]
OFFSETS = [0.0, 2e3, 1e5, 1e7, 1e9, -1e7, -1e9]


def data(name, offset=0.0, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if "SVR" in name:
        return X, offset + np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, None if name == "OneClassSVM" else np.digitize(X[:, 0] + rng.normal(size=n), [-0.5, 0.7])


def true_ends(spec, X, y, models):
    """The greatest number below the optimum that a model proves, and the least one above, in long double."""
    found = [truths(model, spec, X, y) for model in models]
    return [max(one.low for one in some) for some in zip(*found, strict=True)], [
        min(one.high for one in some) for some in zip(*found, strict=True)
    ]


def assert_between(model, low, high):
    dual, primal = np.atleast_1d(model.dual_objective_), np.atleast_1d(model.primal_objective_)
    assert (dual <= high).all()
    assert (primal >= low).all()
    assert (dual <= primal).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the nearer fit may find no further step
@parametrized(name=list(PARAMETERS), kernel=list(SPECS), bias=BIASES, offset=OFFSETS, C=[1e-2, 1.0, 1e3])
def test_the_optimum_is_between_the_objectives(name, kernel, bias, offset, C):
    X, y = data(name, offset)
    own = {**PARAMETERS[name], **({} if name == "OneClassSVM" else {"bias": bias})}
    own |= {"C": C} if "C" in own else {}
    form = {"kernel": kernel} if kernel != "rbf" else {"gamma": SPECS["rbf"][1]}
    rows = X if kernel != "precomputed" else np.asarray(values(SPECS[kernel], X)[0], np.float64)
    spec = SPECS[kernel] if kernel != "precomputed" else ("given", rows)
    kind = getattr(adatron, name)
    models = [kind(**own, **form, **near, max_time=10).fit(rows, y) for near in ({}, {"tol": 1e-9, "gap_tol": 1e-11})]
    ends = true_ends(spec, rows, y, models)
    for model in models:
        assert_between(model, *ends)


@pytest.mark.slow
@parametrized(name=INCREMENTAL, kernel=["rbf", "linear"], bias=BIASES, offset=OFFSETS)
def test_the_optimum_is_between_the_objectives_of_what_was_learned_and_unlearned(name, kernel, bias, offset):
    X, y = data(name, offset, 60)
    own = {**PARAMETERS[name], **({} if name == "OneClassSVM" else {"bias": bias})}
    form = {"kernel": kernel} if kernel != "rbf" else {"gamma": SPECS["rbf"][1]}
    parts = [() if y is None else (y[some],) for some in (slice(0, 40), slice(40, 60))]
    model = getattr(adatron, f"Incremental{name}")(**own, **form)
    model.fit(X[:40], *parts[0]).partial_fit(X[40:], *parts[1]).forget([3, 50])
    kept = model.ids_
    y = None if y is None else y[kept]
    ends = true_ends(SPECS[kernel], X[kept], y, [model])
    assert_between(model, *ends)


@pytest.mark.parametrize("offset", [0.0, 1e7, -1e9])
def test_many_samples_keep_the_optimum_between_the_objectives(offset):
    X, y = data("SVR", offset, 1200)
    own = {"C": 1.0, "epsilon": 0.05}
    models = [adatron.SVR(gamma=0.3, **own, **near).fit(X, y) for near in ({}, {"tol": 1e-7, "gap_tol": 1e-8})]
    ends = true_ends(SPECS["rbf"], X, y, models)
    for model in models:
        assert_between(model, *ends)
