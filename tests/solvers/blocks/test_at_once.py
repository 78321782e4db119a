"""Small programs in one go: the same solution as by blocks, true proofs, and the way on where they do not end.

Also tested here: ``solvers/dense/inner``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC
from adatron.gram import Gram, Source, View
from adatron.kernels import RBF, Laplacian, Linear, Polynomial
from adatron.solvers.base import Options, Watch, Way
from adatron.solvers.blocks.at_once import at_once
from adatron.solvers.dense import BLOCK_STEPS
from adatron.solvers.results import Status
from adatron.solvers.tasks import State
from adatron.threads import Pool
from covering import parametrized
from moments import calls, raising
from problems import csvc, nusvc, nusvr, oneclass, samples, solve, svr, view_of, with_targets
from twins import programs

KERNELS = [RBF(0.5), Linear(), Polynomial(0.5, 3, 1.0), Laplacian(0.3)]
PROGRAMS = {
    "csvc": lambda X, y, rng: csvc(y, rng.uniform(0.5, 3.0, len(y))),
    "augmented": lambda X, y, rng: csvc(y, np.full(len(y), 2.0), "augmented", 1.5),
    "no bias": lambda X, y, rng: csvc(y, np.full(len(y), 2.0), "none"),
    "targets": lambda X, y, rng: with_targets(csvc(y, np.full(len(y), 2.0)), rng.uniform(0.5, 2.0, len(y))),
    "svr": lambda X, y, rng: svr(X[:, 0] + y, np.full(len(y), 2.0), 0.1),
    "nusvc": lambda X, y, rng: nusvc(y, np.ones(len(y)), 0.9 * 2.0 * min((y > 0).mean(), (y < 0).mean())),
    "nusvr": lambda X, y, rng: nusvr(X[:, 0] + y, np.ones(len(y)), 0.4, 2.0),
    "oneclass": lambda X, y, rng: oneclass(np.ones(len(y)), 0.3),
}


def case(name, seed, n, kernel, held):
    rng = np.random.default_rng(seed)
    X, y = samples(seed, n)
    dual = PROGRAMS[name](X, y, rng)
    copies = len(dual) // n
    gram = Gram(Source.of(X, np.arange(n), kernel), np.float64, [n], Pool(1), held=held)
    return View.of(gram, [0] * copies), dual, np.tile(kernel(X), (copies, copies))


@pytest.mark.plain
@pytest.mark.parametrize("name", PROGRAMS)
def test_solved_and_proven(name):
    @settings(max_examples=15, deadline=None)
    @given(
        seed=st.integers(0, 10**6), n=st.integers(4, 90), kernel=st.sampled_from(KERNELS), held=st.booleans(),
        warm=st.booleans(),
    )  # fmt: skip
    def check(seed, n, kernel, held, warm):
        view, dual, K = case(name, seed, n, kernel, held)
        state = State(np.random.default_rng(seed).uniform(dual.lower, dual.upper)) if warm else None
        found = solve(view, dual, state=state, tol=1e-2, whole=1000)
        proof = found.certificate
        assert found.status is Status.CONVERGED
        assert (found.beta >= dual.lower).all()
        assert (found.beta <= dual.upper).all()
        np.testing.assert_allclose(dual.sums(found.beta), dual.totals, atol=1e-10 * (1 + np.abs(found.beta).sum()))
        np.testing.assert_allclose(found.g, programs.gradient(K, dual, found.beta), atol=1e-9)
        true = programs.kkt(K, dual, found.beta)
        assert true - 1e-9 <= proof.kkt_violation <= true + proof.resolution + 1e-9
        assert proof.kkt_violation <= 1e-2
        assert proof.gap >= programs.gap(K, dual, found.beta) - 1e-12 * (1 + abs(proof.primal))

    check()


def without_blocks(view, dual, **options):
    """The solution in one go; None if it is left to blocks."""
    options = Options(max_iter=10**8, way=Way.DENSE, **options)
    return at_once(view, dual, options, None, Watch(dual, None, np.zeros(2, np.int64)))[0]


@pytest.mark.plain
@pytest.mark.parametrize("name", PROGRAMS)
def test_without_blocks(name):
    """Pairs crawl with kernels of low rank, not here."""
    for seed in range(5):
        view, dual, _ = case(name, seed, 80, RBF(0.5), False)
        assert without_blocks(view, dual, tol=1e-2).status is Status.CONVERGED


@pytest.mark.plain
def test_pairs_that_crawl_need_no_blocks():
    """The same matrix is gone through again, and the active set ends what pairs did not."""
    X, y = samples(1, 80)
    for dual in (csvc(y, np.full(80, 1e4)), svr(X[:, 0] + y, np.full(80, 1e4), 0.1)):
        found = without_blocks(view_of(X, Linear()), dual)
        assert found.status is Status.CONVERGED
        assert found.n_iter > BLOCK_STEPS * len(dual)
        assert programs.kkt(Linear()(X), dual, found.beta) <= 1e-3 * (1 + 1e-6)


@pytest.mark.plain
def test_what_rounding_stops_is_not_gone_through_again_and_again():
    """Unscaled features and a large C: float64 cannot tell a violation of 1e-3 from none."""
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        model = SVC(kernel="linear", C=1e6, max_iter=10**6).fit(X, y)
    assert model.n_iter_[0] < 10**6


@pytest.mark.plain
@pytest.mark.parametrize(
    ("options", "status"), [({"deadline": 0.0}, Status.MAX_TIME), ({"max_iter": 3}, Status.MAX_ITER)]
)
def test_limits_hold(options, status):
    view, dual, K = case("csvc", 1, 60, RBF(0.5), False)
    found = solve(view, dual, whole=1000, **options)
    assert found.status is status
    assert found.n_iter == options.get("max_iter", 0)
    np.testing.assert_allclose(found.g, programs.gradient(K, dual, found.beta), atol=1e-9)


@pytest.mark.plain
def test_a_small_gap_is_reached_in_one_go():
    view, dual, K = case("csvc", 1, 60, RBF(0.5), False)
    assert without_blocks(view, dual, tol=1e-2).certificate.relative_gap > 1e-9
    found = without_blocks(view, dual, tol=1e-2, gap_tol=1e-9)
    assert found.status is Status.CONVERGED
    assert programs.gap(K, dual, found.beta) <= 2e-9 * max(1.0, abs(found.certificate.primal))


@pytest.mark.plain
def test_given_float32_values_are_judged_by_their_own_rounding():
    """Of a matrix without full rank the lowest eigenvalue is rounding; normalised values are not quite symmetric."""
    X = samples(0, 300, 4)[0].astype(np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)
    linear, size = X @ X.T, np.linalg.norm(X, axis=1)
    for K in (linear, linear / size[:, None] / size):
        model = SVC(kernel="precomputed").fit(K, y)  # a warning is an error here
        assert model.duality_gap_ < 1e-2


@pytest.mark.plain
def test_problems_that_share_most_rows_share_their_matrix():
    X, y = samples(0, 90)
    with calls(Gram.square, keep=lambda given, _: len(given["P"])) as made:
        assert SVC(multi_class="ovr").fit(X, np.arange(90) % 3).route_.shared
        assert made == [90]
        made.clear()
        SVC().fit(X, y)
        assert made == [90]


@pytest.mark.plain
@parametrized(
    sizes=[[1], [64], [700], [1, 70, 130], [64, 64], [3, 2, 1, 257], [3, 0, 80]],
    kernel=[*KERNELS, RBF(0.5) + 2.0 * Linear()],
    storage=[np.asarray, sparse.csr_matrix],
    dtype=[np.float64, np.float32],
)
def test_half_of_a_square_of_segments_is_as_good_as_all(sizes, kernel, storage, dtype):
    n, every = sum(sizes), list(range(len(sizes)))
    X = np.random.default_rng(n).normal(size=(n, 5))
    with Pool(3) as pool:
        gram = Gram(Source.of(storage(X), np.arange(n), kernel), dtype, sizes, pool)
        for groups in (every[:2], every[:2] * 2, every[::-1]):
            view = View.of(gram, groups)
            m = len(view)
            square = gram.square(view.points(np.arange(m)), m + 7)
            np.testing.assert_array_equal(square[:m, :m], view.rows(np.arange(m)))
            assert not square[m:].any()
            assert not square[:, m:].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters", [{"multi_class": "ovr"}, {}, {"C": np.inf}, {"kernel": "sigmoid", "gamma": 0.01}], ids=str
)
@pytest.mark.parametrize(("n", "classes"), [(600, 4), (1700, 4), (900, 9)])
def test_many_small_problems_on_many_threads(n, classes, parameters):
    """They take turns, whoever makes what they share; one that fails lets the others end."""
    X, y = np.random.default_rng(0).normal(size=(n, 10**9 // n**2)), np.arange(n) % classes
    one, three = (SVC(n_jobs=jobs, **parameters).fit(X, y) for jobs in (1, 3))
    assert not three.route_.light
    assert np.array_equal(one.dual_coef_, three.dual_coef_)
    assert np.array_equal(one.intercept_, three.intercept_)
    if parameters in ({}, {"kernel": "sigmoid", "gamma": 0.01}):
        assert one.route_.shared
        assert three.route_ == one.route_
    with pytest.raises(ZeroDivisionError):
        SVC(n_jobs=3, callback=raising(ZeroDivisionError), **parameters).fit(X, y)
