"""The margin system against a dense one, and blocks that only an active set finishes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from adatron import SVC, SVR
from adatron.kernels import RBF, Linear, Polynomial
from adatron.problems import csvc, nusvr, svr
from adatron.solvers.dense.active_set import BETWEEN_LOOKS, ActiveSet
from adatron.solvers.results import Status
from problems import samples, solve, view_of
from twins import programs


@pytest.mark.plain
@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    kernel=st.sampled_from([Linear(), RBF(0.5), Polynomial(0.5, 3, 1.0)]),
    C=st.sampled_from([0.1, 10.0, 1e4]),
    bias=st.sampled_from(["explicit", "augmented", "none"]),
    epsilon=st.sampled_from([None, 0.0, 0.1]),
)
def test_an_active_set_ends_at_the_solution_by_itself(seed, n, kernel, C, bias, epsilon):
    X, y = samples(seed, n)
    K, bound = kernel(X), np.full(n, C)
    dual = csvc(y, bound, bias) if epsilon is None else svr(X[:, 0] + y, bound, epsilon, bias)
    H = K + dual.lambda2
    walk = ActiveSet(H, dual, np.zeros(n), -dual.t, 1e-12)
    assert walk.run(1e-6, np.inf, bool, 100 * n) < 100 * n
    assert programs.kkt(K, dual, walk.beta) <= 1e-6 + 1e-12 * (1.0 + np.abs(walk.beta).sum() * np.abs(H).max())
    np.testing.assert_allclose(walk.g, H @ walk.beta - dual.t, atol=1e-10 * (1 + np.abs(walk.beta).sum()))


@pytest.mark.plain
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 400), kernel=st.sampled_from([Linear(), RBF(0.5)]))
def test_a_walk_stops_where_it_is_told_to_and_goes_on_from_there(seed, steps, kernel):
    """In between beta is feasible, its gradient true, and the dual has only grown."""
    rng = np.random.default_rng(seed)
    X, y = samples(seed, 40)
    dual = svr(X[:, 0] + y, np.full(40, 10.0), 0.1)
    K, start = kernel(X), rng.uniform(-1.0, 1.0, 40)
    start -= start.mean()
    walk = ActiveSet(K, dual, start, K @ start - dual.t, 1e-12)
    before = dual.objective(start, K @ start - dual.t)
    assert walk.run(1e-6, np.inf, lambda: True, 10**6) == 0
    for most in (steps, 10**6):
        moves = walk.run(1e-6, np.inf, bool, most)
        assert (dual.lower <= walk.beta).all()
        assert (walk.beta <= dual.upper).all()
        assert abs(walk.beta.sum()) <= 1e-11
        np.testing.assert_allclose(walk.g, K @ walk.beta - dual.t, atol=1e-9)
        now = dual.objective(walk.beta, walk.g)
        assert now <= before + 1e-9
        before = now
    assert moves >= 1
    assert programs.kkt(K, dual, walk.beta) <= 1e-6 * (1 + 1e-6)


@pytest.mark.plain
@pytest.mark.parametrize("name", ["SVC", "SVR", "decomposition", "function"])
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_values_that_are_convex_only_along_the_equality(name, C):
    """-|x - z|^2: no kernel, so nothing is proven, but with a bias the program is convex, and its solution is found."""
    X, y = samples(0, 120, 3)
    t = X[:, 0] + y if name == "SVR" else y

    def values(A, B):
        return -((A[:, None] - B) ** 2).sum(axis=2)

    K = values(X, X)
    kernel, data = (values, X) if name == "function" else ("precomputed", K)
    extra = {"solver": "decomposition"} if name == "decomposition" else {}
    make = SVR if name == "SVR" else SVC
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        model = make(kernel=kernel, C=C, **extra).fit(data, t)
    theirs = (svm.SVR if name == "SVR" else svm.SVC)(kernel="precomputed", C=C).fit(K, t)
    assert abs(model.dual_coef_.sum()) <= 1e-8 * C
    assert np.abs(model.dual_coef_).max() <= C

    def objective(one):
        beta, support = one.dual_coef_.ravel(), one.support_
        size = -0.1 * np.abs(beta).sum() if name == "SVR" else 0.0
        return 0.5 * beta @ K[np.ix_(support, support)] @ beta - beta @ t[support] - size

    ours, other = objective(model), objective(theirs)
    assert abs(ours - other) <= 1e-3 * max(1.0, abs(other))


@pytest.mark.plain
def test_two_equalities_with_signs():
    X, y = samples(3, 30)
    K = Linear()(X)
    dual = nusvr(X[:, 0] + y, np.full(30, 1e4), 0.4, "none")
    view = view_of(X, Linear(), copies=2)
    solution = solve(view, dual, tol=1e-6, max_iter=100_000)
    assert solution.status is Status.CONVERGED
    assert programs.kkt(np.tile(K, (2, 2)), dual, solution.beta) <= 1e-6 * (1 + 1e-6)


def test_the_bits_do_not_depend_on_the_threads_of_blas():
    X, y = samples(0, 400, d=12)
    found = []
    for threads in (1, 4):
        with threadpool_limits(threads):
            found.append(SVC(kernel="linear", C=1e4).fit(X, y).dual_coef_)
    np.testing.assert_array_equal(*found)


def test_a_linear_machine_with_a_large_C_on_more_rows_than_a_block_holds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4))
    y = X[:, 0] + 0.5 * rng.normal(size=2500) > 0
    model = SVC(kernel="linear", C=1e3, max_iter=3_000_000).fit(X, y)
    assert model.fit_status_ == 0
    assert model.duality_gap_ < 1e-4


def test_a_walk_among_dependent_variables_looks_at_the_clock():
    rng = np.random.default_rng(0)
    n = 900
    A, spent, seen = rng.normal(size=(n, 300)), 0.0, []
    y = np.sign(A[:, 0] + rng.normal(size=n))
    K, dual = A @ A.T, csvc(y, np.full(n, 1e3))
    start = y * rng.uniform(1.0, 999.0, n)
    start[y > 0] *= -start[y < 0].sum() / start[y > 0].sum()
    start = np.clip(start, dual.lower, dual.upper)
    walk = ActiveSet(K, dual, start, K @ start - dual.t, 1e-12)

    def look():
        nonlocal spent
        seen.append(walk.spent - spent)
        spent = walk.spent
        return False

    assert walk.run(1e-3, 1e10, look, 10**6) > 0
    assert max(seen) <= BETWEEN_LOOKS + 40.0 * n * n


def test_a_walk_ends_where_rounding_exceeds_all_targets():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.tile([1.0, -1.0], 30)
    K, dual = X @ X.T, csvc(y, np.full(60, 1e40))
    walk = ActiveSet(K, dual, np.zeros(60), -y, 1e-12)
    assert walk.run(1e-3, np.inf, bool, 10**6) < 10**5
    assert walk.drowned
