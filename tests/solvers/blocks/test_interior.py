"""Interior points against certificates and other solvers, and fits that only they bring to an end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron import SVR, NuSVR
from adatron.certificates import best_multipliers, duality_gap
from adatron.kernels import RBF, Linear
from adatron.solvers.blocks.interior import interior
from adatron.solvers.linalg.factor import Factor
from adatron.threads import Pool
from problems import csvc, nusvc, nusvr, oneclass, samples, svr, view_of

BIASES = ["explicit", "augmented", "none"]


def program(kind, bias, X, y, C):
    """A program, and how many variables each row has."""
    w = np.full(len(X), C)
    if kind == "svc":
        return csvc(y, w, bias), 1
    if kind == "nusvc":
        return nusvc(y, np.ones(len(X)), min(0.3, 1.8 * min((y > 0).mean(), (y < 0).mean())), bias), 1
    if kind == "oneclass":
        return oneclass(np.ones(len(X)), 0.3), 1
    t = np.sin(X[:, 0]) + 0.1 * y
    return (svr(t, w, 0.1, bias), 1) if kind == "svr" else (nusvr(t, w, 0.4, bias), 2)


@pytest.mark.plain
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 80), bias=st.sampled_from(BIASES),
       kind=st.sampled_from(["svc", "nusvc", "oneclass", "svr", "nusvr"]), C=st.sampled_from([0.1, 10.0, 1e4]),
       linear=st.booleans())  # fmt: skip
def test_the_gap_closes_whatever_the_program(seed, n, bias, kind, C, linear):
    X, y = samples(seed, n)
    kernel = Linear() if linear else RBF(0.7)
    dual, copies = program(kind, bias, X, y, C)
    view = view_of(X, kernel, copies=copies)
    beta = interior(view, dual, np.zeros(len(dual)), lambda: False, False)
    assert beta is not None
    assert ((beta >= dual.lower) & (beta <= dual.upper)).all()
    np.testing.assert_allclose(dual.sums(beta), dual.totals, atol=1e-12 * (1 + np.abs(beta).sum()))
    K = np.tile(kernel(X), (copies, copies))
    g = (K + dual.lambda2) @ beta - dual.t
    gap = duality_gap(dual, beta, g, best_multipliers(dual, beta, g))
    size = np.abs(dual.t) @ np.abs(beta) + 1e-3 * np.abs(K).max() * np.abs(beta).sum() ** 2
    assert gap <= 1e-4 * size + 1e-5 * (dual.upper - dual.lower).sum()  # what is nearly on a bound is put there


@pytest.mark.plain
def test_no_program_that_it_does_not_fit():
    X, y = samples(0, 20)
    hard = csvc(y, np.full(20, np.inf), "none")
    assert interior(view_of(X, RBF(1.0)), hard, np.zeros(20), lambda: False, False) is None
    twice = csvc(np.append(y, y), np.ones(40), "none")  # two growing variables over one row
    assert interior(view_of(X, RBF(1.0), copies=2), twice, np.zeros(40), lambda: False, False) is None


@pytest.mark.plain
def test_told_to_stop_it_returns_what_it_has():
    X, y = samples(0, 300)
    dual = csvc(y, np.full(300, 10.0), "explicit")
    beta = interior(view_of(X, RBF(1.0)), dual, np.zeros(300), lambda: True, False)
    assert beta is None or ((beta >= dual.lower) & (beta <= dual.upper)).all()


def test_the_same_bits_on_any_number_of_threads():
    X, _ = samples(0, 700)
    dual = svr(np.sin(X[:, 0]), np.full(700, 1e3), 0.01, "explicit")
    one, two = (interior(view_of(X, RBF(1.0), pool=Pool(k)), dual, np.zeros(700), lambda: False, False) for k in (1, 3))
    assert (one == two).all()


@pytest.mark.plain
@pytest.mark.parametrize("n", [5, 256, 600])
def test_a_factor_with_a_ridge(n):
    X, _ = samples(0, n)
    ridge = np.random.default_rng(0).random(n) + 0.1
    r = np.arange(n, dtype=float)
    x = Factor(view_of(X, RBF(1.0)), 0.5, 1, ridge=ridge).solve(r[:, None], np.empty(0, np.int64))[:, 0]
    np.testing.assert_allclose((RBF(1.0)(X) + 0.5 + np.diag(ridge)) @ x, r, atol=1e-7 * n)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [SVR(C=1e4, epsilon=0.05), NuSVR(C=1e4), SVR(C=1e4, epsilon=0.05, bias="augmented"), NuSVR(C=1e4, bias="none")],
    ids=str,
)
def test_regression_with_a_large_C_takes_few_updates(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 5))
    y = X[:, 0] + np.sin(2 * X[:, -1]) + 0.1 * rng.normal(size=2500)
    model.set_params(max_iter=1_500_000).fit(X, y)
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= model.tol
