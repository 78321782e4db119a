"""Newton in the primal against a minimiser of SciPy, and what it says where it ends without a proof."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import cg
from sklearn.exceptions import ConvergenceWarning

from adatron import LinearSVC
from adatron.kernels import RBF, Linear
from adatron.problems import SquaredClassification, SquaredRegression, csvc
from adatron.problems.problem import no_diagonal
from adatron.solvers.base import State
from adatron.solvers.primal import Primal
from adatron.solvers.results import Status
from adatron.solvers.table import choose
from adatron.threads import Pool
from moments import calls
from problems import samples, solve, view_of

BIASES = ["explicit", "augmented", "none"]
AUGMENT = 0.7


def least(X, y, C, bias, epsilon=None):
    """The optimum of the primal by SciPy, from its definition; the features are scaled to about 1 first."""
    scale = np.abs(X).max(axis=0, initial=0.0)
    scale[scale == 0.0] = 1.0
    rows = X / scale
    penalty = 1.0 / scale**2
    if bias != "none":
        rows = np.column_stack([rows, np.ones(len(X))])
        penalty = np.append(penalty, AUGMENT**-2 if bias == "augmented" else 0.0)

    def value(w):
        f = rows @ w
        error = y - f if epsilon is None else np.sign(y - f) * np.maximum(0.0, np.abs(y - f) - epsilon)
        error = y * np.maximum(0.0, y * error) if epsilon is None else error
        return 0.5 * penalty @ w**2 + C @ error**2, penalty * w - 2.0 * rows.T @ (C * error)

    def curvature(w):
        f = rows @ w
        counts = y * f < 1.0 if epsilon is None else np.abs(y - f) > epsilon
        return np.diag(penalty) + 2.0 * (rows * (C * counts)[:, None]).T @ rows

    w = minimize(value, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 10}).x
    best = value(w)[0]
    for _ in range(100):  # Newton's steps, halved until they gain, end what is near
        M = curvature(w)
        unit = 1.0 / np.sqrt(np.maximum(np.diagonal(M), 1e-300))
        full = unit * np.linalg.lstsq(unit[:, None] * M * unit, unit * value(w)[1], rcond=1e-15)[0]
        step = next((a for a in 0.5 ** np.arange(30) if value(w - a * full)[0] < best), None)
        if step is None:
            break
        w, best = w - step * full, value(w - step * full)[0]
    return best


def dual_of(y, C, weight, bias, epsilon=None):
    kind = SquaredClassification(C, bias, AUGMENT) if epsilon is None else SquaredRegression(C, epsilon, bias, AUGMENT)
    return kind.dual(y, weight, no_diagonal)


def check(X, y, dual, C, bias, epsilon=None, rel=1e-6, **options):
    """Solve, compare with the optimum, and return the solution."""
    given = csr_matrix(X) if options.pop("sparse", False) else X
    with np.errstate(all="ignore"):  # as in a fit
        found = solve(view_of(given, Linear()), dual, solver=Primal(), **{"tol": 1e-4, "gap_tol": 1e-6, **options})
    turned = np.linalg.qr(X.T, mode="r").T if X.shape[1] > 2 * len(X) else X  # the same products of rows
    proof, best = found.certificate, least(turned, y, C, bias, epsilon)
    assert dual.contains(found.beta)
    assert proof.dual - proof.doubt <= best * (1.0 + rel) + 1e-12
    assert proof.primal >= best * (1.0 - rel) - 1e-12
    if found.status is Status.CONVERGED:
        assert proof.gap <= 2e-6 * max(best, 1e-300)
        assert proof.kkt_violation <= 1e-4
    return found


SHAPES = {
    "plain": lambda X: X,
    "constant": lambda X: np.column_stack([X, np.full(len(X), 3.0), np.zeros(len(X))]),
    "collinear": lambda X: np.column_stack([X, 2.0 * X, X.sum(axis=1)]),
    "twice": lambda X: np.repeat(X[: len(X) // 2 + 1], 2, axis=0)[: len(X)],
    "empty": lambda X: np.where(np.abs(X) < 0.8, 0.0, X),
}


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), d=st.sampled_from([1, 3, 80]), bias=st.sampled_from(BIASES),
       epsilon=st.sampled_from([None, 0.0, 0.2]), C=st.sampled_from([1e-3, 1.0, 1e3]),
       shape=st.sampled_from(list(SHAPES)), scale=st.sampled_from([1e-4, 1.0, 1e4]),
       sparse=st.booleans(), none=st.booleans())  # fmt: skip
def test_the_optimum_is_that_of_the_primal(seed, n, d, bias, epsilon, C, shape, scale, sparse, none):
    X, y = samples(seed, n, d)
    X, weight = SHAPES[shape](X), np.random.default_rng(seed).uniform(0.5, 2.0, n)
    weight[2:4] *= not none
    y = y if epsilon is None else np.sin(X[:, 0]) + 0.1 * y
    dual = dual_of(y, C / scale**2, weight, bias, epsilon)
    found = check(scale * X, y, dual, C / scale**2 * weight, bias, epsilon, sparse=sparse)
    if scale == 1.0 or bias == "none":
        assert found.status is Status.CONVERGED


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
@pytest.mark.parametrize("bias", BIASES)
def test_features_of_any_size(scale, bias):
    """A status may say that rounding ended the steps; no claim is false."""
    X, y = samples(0, 80, 3)
    for C in (1e-3, 1.0, 1e3):
        dual = dual_of(y, C, np.ones(80), bias)
        found = check(scale * X, y, dual, np.full(80, C), bias)
        assert found.status in (Status.CONVERGED, Status.STUCK, Status.WITHIN_TOL)
        assert found.status is Status.CONVERGED or scale > 1.0


@pytest.mark.parametrize("bias", BIASES)
def test_one_class(bias):
    X, _ = samples(0, 30, 2)
    y = np.ones(30)
    found = check(X, y, dual_of(y, 1.0, y, bias), y, bias)
    if bias == "explicit":  # the bias alone meets all, and no relative gap of an optimum of 0 is known
        np.testing.assert_array_equal(found.beta, 0.0)
    else:
        assert found.status is Status.CONVERGED


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("bias", BIASES)
def test_many_features_by_conjugate_gradients(bias, sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1200)) * (rng.random((60, 1200)) < (0.05 if sparse else 1.0))
    y = np.where(X[:, :20].sum(axis=1) + rng.normal(size=60) > 0.0, 1.0, -1.0)
    with calls(cg) as solutions:
        found = check(X, y, dual_of(y, 0.01, np.ones(60), bias), np.full(60, 0.01), bias, sparse=sparse)
    assert solutions
    assert found.status is Status.CONVERGED


def test_the_same_bits_on_any_number_of_threads():
    X, y = samples(0, 5000, 6)
    dual = dual_of(y, 1.0, np.ones(5000), "explicit")
    one, two = (solve(view_of(X, Linear(), pool=Pool(k)), dual, solver=Primal(), tol=1e-4) for k in (1, 3))
    assert one.status is Status.CONVERGED
    np.testing.assert_array_equal(one.beta, two.beta)


def test_limits_end_with_what_is_true():
    X, y = samples(0, 300, 5)
    dual, C = dual_of(y, 10.0, np.ones(300), "augmented"), np.full(300, 10.0)
    for limit, status in (
        ({"max_iter": 1}, Status.MAX_ITER),
        ({"max_iter": 0}, Status.MAX_ITER),
        ({"deadline": time.monotonic()}, Status.MAX_TIME),
        ({"flag": np.array([1, 0])}, Status.STOPPED),
    ):
        assert check(X, y, dual, C, "augmented", **limit).status is status
    stuck = check(X, y, dual, C, "augmented", tol=1e-300, gap_tol=1e-300)
    assert stuck.status in (Status.STUCK, Status.WITHIN_TOL)
    assert stuck.certificate.relative_gap < 1e-9


def test_a_start_at_the_optimum_takes_no_steps():
    X, y = samples(0, 200, 4)
    dual = dual_of(y, 1.0, np.ones(200), "augmented")
    cold = solve(view_of(X, Linear()), dual, solver=Primal(), tol=1e-6)
    warm = solve(view_of(X, Linear()), dual, State(cold.beta), solver=Primal(), tol=1e-4)
    assert cold.n_iter > 1 >= warm.n_iter


def test_ctrl_c_and_a_callback_end_a_fit():
    X, y = samples(0, 60_000, 30)

    def interrupts(_):
        raise KeyboardInterrupt

    slow = LinearSVC(C=1e4, tol=1e-12, gap_tol=1e-14, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        slow.set_params(callback=interrupts).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="asked to stop"):
        slow.set_params(callback=lambda _: True).fit(X, y)
    assert slow.primal_objective_ >= slow.dual_objective_


def test_only_programs_with_a_ridge_and_a_linear_kernel():
    X, y = samples(0, 20)
    squared, plain = dual_of(y, 1.0, np.ones(20), "none"), csvc(y, np.ones(20), "none")
    assert isinstance(choose("auto", squared), Primal)
    with pytest.raises(ValueError, match="errors that cost their square; these are: 'primal'"):
        choose("smo", squared)
    with pytest.raises(ValueError, match="errors that do not cost their square"):
        choose("primal", plain)
    with pytest.raises(ValueError, match="linear kernel"):
        solve(view_of(X, RBF(1.0)), squared, solver=Primal())
