"""The margin system against a dense one, and blocks that only an active set finishes."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from adatron import SVC, SVR
from adatron.compiled.cholesky import rank_of
from adatron.kernels import RBF, Linear, Polynomial
from adatron.problems import csvc, nusvr, svr
from adatron.solvers.dense import active_set
from adatron.solvers.dense.active_set import ActiveSet
from adatron.solvers.linalg.bordered import Margin
from adatron.solvers.status import Status
from problems import samples, solve, view_of
from twins import programs


def dense(H, A, r, sums):
    """d and mu of the margin system, where A has full rank."""
    m, equalities = A.shape
    system = np.block([[H, A], [A.T, np.zeros((equalities, equalities))]])
    both = np.linalg.solve(system, np.concatenate([r, sums]))
    return both[:m], both[m:]


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), equalities=st.integers(0, 2), moves=st.lists(st.integers(0, 29), max_size=60))
def test_the_margin_system_is_that_of_its_variables_whoever_came_and_went(seed, equalities, moves):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    H, A = RBF(0.5)(X) + 0.1 * np.eye(30), np.zeros((30, equalities))
    if equalities:
        A[np.arange(30), rng.integers(0, equalities, 30)] = rng.choice([-1.0, 1.0], 30)
    margin, ids = Margin(equalities, 1.0, 1e-12), []
    for one in moves:
        if one in ids:
            margin.remove(ids.index(one))
            ids.remove(one)
        else:
            assert margin.append(H[one, ids], H[one, one], A[one])
            ids.append(one)
    held = A[ids].any(axis=0)
    r, sums = rng.normal(size=len(ids)), rng.normal(size=equalities) * held
    d, mu = margin.solve(r, sums)
    want, nu = dense(H[np.ix_(ids, ids)], A[ids][:, held], r, sums[held])
    np.testing.assert_allclose(d, want, atol=1e-8)
    np.testing.assert_allclose(mu[held], nu, atol=1e-8)
    assert (mu[~held] == 0).all()
    D, M = margin.inverse()
    for k, one in enumerate(np.eye(len(ids))):
        d, mu = margin.solve(one, np.zeros(equalities))
        np.testing.assert_allclose(D[k], d, atol=1e-8)
        np.testing.assert_allclose(M[k], mu, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), rank=st.integers(1, 6), tied=st.booleans())
@example(seed=1068, rank=4, tied=True)  # the fifth variable all but depends on the others
def test_what_depends_on_the_others_stays_outside_and_says_how_all_move(seed, rank, tied):
    rng = np.random.default_rng(seed)
    X, border = rng.normal(size=(12, rank)), np.ones((12, int(tied)))
    H, margin, ids = X @ X.T, Margin(int(tied), 1.0, 1e-10), []
    for one in range(12):
        if margin.append(H[one, ids], H[one, one], border[one]):
            ids.append(one)
            continue
        d = np.zeros(12)
        d[ids], d[one] = margin.along(H[one, ids], border[one])[0], 1.0
        np.testing.assert_allclose(H @ d, 0.0, atol=1e-6 * (1 + np.abs(d).max()))
        np.testing.assert_allclose(border.T @ d, 0.0, atol=1e-12 * (1 + np.abs(d).sum()))
    assume((np.diagonal(margin.factor[0])[: margin.n] ** 2).min() > 1e-5)  # else rounding may look like one more pivot
    assert len(ids) == rank + tied


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


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), parts=st.integers(1, 400), kernel=st.sampled_from([Linear(), RBF(0.5)]))
def test_a_walk_stops_where_it_is_told_to_and_goes_on_from_there(seed, parts, kernel):
    """In between beta is feasible, its gradient true, and the dual has only grown."""
    rng = np.random.default_rng(seed)
    X, y = samples(seed, 40)
    dual = svr(X[:, 0] + y, np.full(40, 10.0), 0.1)
    K, start = kernel(X), rng.uniform(-1.0, 1.0, 40)
    start -= start.mean()
    walk, looks = ActiveSet(K, dual, start, K @ start - dual.t, 1e-12), iter(range(parts))
    before, moves = dual.objective(start, K @ start - dual.t), 0
    for stopped in (lambda: next(looks, None) is None, bool):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(active_set, "BETWEEN_LOOKS", 1.0)
            moves = walk.run(1e-6, np.inf, stopped, 10**6)
        assert (dual.lower <= walk.beta).all()
        assert (walk.beta <= dual.upper).all()
        assert abs(walk.beta.sum()) <= 1e-11
        np.testing.assert_allclose(walk.g, K @ walk.beta - dual.t, atol=1e-9)
        now = dual.objective(walk.beta, walk.g)
        assert now <= before + 1e-9
        before = now
    assert moves >= 1
    assert programs.kkt(K, dual, walk.beta) <= 1e-6 * (1 + 1e-6)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), rank=st.integers(1, 12), most=st.integers(1, 20))
def test_the_rank_of_a_matrix(seed, n, rank, most):
    X = np.random.default_rng(seed).normal(size=(n, rank))
    assert rank_of(X @ X.T, most, 1e-9) in (min(n, rank, most), min(np.linalg.matrix_rank(X, 1e-3), most))
    for nothing in (np.zeros((n, n)), -X @ X.T):
        assert rank_of(nothing, most, 1e-9) == 0


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(0.5, 3, 1.0), RBF(0.5)])
@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
@pytest.mark.parametrize("epsilon", [None, 0.0, 0.1])
def test_low_rank_and_large_C_end_soon(kernel, bias, epsilon):
    """Pairs alone need tens of millions of updates here."""
    for seed in range(4):
        n = 15 * (seed + 1)
        X, y = samples(seed, n)
        bound = np.random.default_rng(seed).uniform(0.5, 2, n) * 1e4
        dual = csvc(y, bound, bias) if epsilon is None else svr(X[:, 0] + y, bound, epsilon, bias)
        solution = solve(view_of(X, kernel), dual, tol=1e-4, max_iter=100_000)
        assert solution.status is Status.CONVERGED
        assert programs.kkt(kernel(X), dual, solution.beta) <= 1e-4 * (1 + 1e-6)


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
