"""Many problems in batches: what compiled code solves alone is what ``blocks.at_once`` or ``block`` solves one by one.

Also tested here: ``arranged``, ``batch``, ``chain``, ``rounds``, ``solvers/results``, ``solvers/plan``,
``solvers/route`` and ``gram/shared``.
"""

import threading
from itertools import combinations
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from adatron import SVC, NuSVC
from adatron.compiled.cache.jit import jit
from adatron.gram import Gram, Source, View
from adatron.gram.shared import bytes_shared, gathered, matrix
from adatron.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from adatron.solvers import Block
from adatron.solvers.base import Options, Way
from adatron.solvers.batch import solve as together
from adatron.solvers.dense import BLOCK_STEPS
from adatron.solvers.results import STATUSES, Found, Status
from adatron.solvers.route import choose_route
from adatron.solvers.tasks import State, Tasks
from adatron.threads import Pool
from covering import parametrized
from moments import at, calls
from problems import Never, csvc, svr

KERNELS = [RBF(0.5), Linear(), Polynomial(0.5, 3, 1.0), Laplacian(0.3), RBF(0.5) + 2.0 * Linear()]


@jit
def fill(shared, groups, where, kept, K, stack, made):
    matrix(shared, groups, where, kept, K, stack, made)


@jit
def fill_given(shared, groups, where, kept, K, stack, made):
    gathered(shared, groups, where, kept, K, stack, made)


def blobs(n=300, classes=9, seed=0):
    X, y = make_blobs(n, 5, centers=classes, cluster_std=4.0, random_state=seed)
    return X, y


def uneven(seed=0):
    """Nine classes, of which two are so large that float32 is worth its proof."""
    X, y = blobs(510 * 9, seed=seed)
    return X[keep := (y < 2) | (np.arange(len(y)) % 15 == 0)], y[keep]


@pytest.fixture
def routes():
    """The routes that are chosen; a model keeps that of its own problems, not that of its folds."""
    with calls(choose_route, keep=lambda _, route: route) as seen:
        yield seen


class OneByOne(Block):
    """The block solver, but no problem goes in a batch with others."""

    batches = False


@pytest.mark.slow
@pytest.mark.plain
@parametrized(
    sizes=[[1, 70, 130], [64, 64], [3, 2, 1, 257], [3, 0, 80], [300, 20]],
    kernel=KERNELS,
    storage=[np.asarray, sparse.csr_matrix],
    dtype=[np.float32, np.float64],
)
def test_the_matrix_over_some_segments(sizes, kernel, storage, dtype):
    n = sum(sizes)
    X = np.random.default_rng(n).normal(size=(n, 5))
    with Pool(3) as pool:
        gram = Gram(Source.of(storage(X), np.arange(n), kernel), dtype, sizes, pool)
        shared = gram.shared_values()
        for groups in ([0, 1], [1, 0], [1], list(range(len(sizes)))[::-1]):
            view = View.of(gram, groups)
            m = len(view)
            K = np.full((m + 7, m + 9), np.nan, dtype)
            where = view.offsets[:-1].astype(np.int64)
            fill(shared, np.array(groups), where, -1, K, gram.workspace.stack, np.full(3, -1))
            K[: sizes[groups[0]]] *= 2.0
            fill(shared, np.array(groups), where, groups[0], K, gram.workspace.stack, np.full(3, -1))
            K[: sizes[groups[0]], : sizes[groups[0]]] /= 2.0  # this part has been left as it was
            np.testing.assert_array_equal(K[:m, :m], view.rows(np.arange(m)))
            assert np.isnan(K[m:]).all()
            assert np.isnan(K[:, m:]).all()


@pytest.mark.plain
@pytest.mark.parametrize("sizes", [[1, 70, 130], [3, 0, 80], [300, 20]])
@pytest.mark.parametrize("held", [False, True])
def test_given_values_over_some_segments(sizes, held):
    n, rng = sum(sizes), np.random.default_rng(0)
    rows, columns, A = rng.permutation(n + 9)[:n], rng.permutation(n + 9)[:n], rng.normal(size=(n, n))
    X = np.full((n + 9, n + 9), np.nan)
    X[np.ix_(rows, columns)] = A + A.T
    with Pool(2) as pool:
        gram = Gram(Source.of(X, rows, Precomputed(), columns), np.float64, sizes, pool, held=held)
        for groups in ([0, 1], [1, 0], [1], list(range(len(sizes)))[::-1]):
            view = View.of(gram, groups)
            K = np.full((len(view) + 7, len(view) + 9), np.nan)
            for kept in (-1, groups[0]):
                where = view.offsets[:-1].astype(np.int64)
                fill_given(gram.shared_values(), np.array(groups), where, kept, K, gram.workspace.stack, np.full(3, -1))
                np.testing.assert_array_equal(K[: len(view), : len(view)], view.rows(np.arange(len(view))))
            assert np.isnan(K[len(view) :]).all()
            assert np.isnan(K[:, len(view) :]).all()


@pytest.mark.parametrize("form", ["C", "F", "float32", "read-only", "function"])
@pytest.mark.parametrize(
    "parameters", [{}, {"C": 100.0, "gap_tol": 1e-6}, {"bias": "none"}, {"multi_class": "ovr"}], ids=str
)
def test_given_values_and_functions_in_batches(form, parameters):
    X, y = blobs()
    K = RBF(0.05)(X)
    given = {"F": np.asfortranarray(K), "float32": K.astype(np.float32), "function": X}.get(form, K.copy())
    given.flags.writeable = form != "read-only"
    kernel = RBF(0.05).__call__ if form == "function" else "precomputed"
    both = SVC(kernel=kernel, **parameters).fit(given, y)
    assert both.route_.shared
    assert (both.route_.ways == Way.BATCH).all()
    alone = SVC(kernel=kernel, solver=OneByOne(), **parameters).fit(given, y)
    assert (alone.route_.ways == both.route_.then).all()
    compiled = SVC(kernel=RBF(0.05), solver=OneByOne(), **parameters).fit(X, y)
    for other in (alone, compiled):
        gaps = [model.primal_objective_ - model.dual_objective_ for model in (both, other)]
        apart = abs(both.dual_objective_ - other.dual_objective_)
        assert (apart <= np.maximum(*gaps) + 1e-6 * abs(other.dual_objective_)).all()
    for model in (both, alone):
        assert model.fit_status_ == 0
        assert model.kkt_violation_.max() <= 1e-3
        assert not (model.duality_gap_ > parameters.get("gap_tol", np.inf)).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"C": 100.0, "gap_tol": 1e-5},
        {"bias": "none"},
        {"bias": "augmented", "augment": 2.0},
        {"kernel": "linear"},
        {"kernel": "laplacian", "class_weight": "balanced"},
        {"kernel": RBF(0.5) + 2.0 * Linear()},
        {"kernel": "sigmoid", "gamma": 1e-4},
        {"kernel": "sigmoid", "gap_tol": 1e-5},
        {"probability": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_same_solutions_as_one_by_one(parameters, storage, precision, routes):
    parameters = {"gap_tol": None, **parameters}
    X, y = blobs() if precision == "float64" else uneven()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    both = SVC(**parameters).fit(storage(X), y, weight)
    chosen = routes.copy()
    batched = precision == "float64" or "augment" not in parameters
    assert len(chosen) == 1 + bool(parameters.get("probability"))  # of the folds, too
    assert all(route.shared == batched for route in (chosen if precision == "float64" else chosen[:1]))
    assert both.route_.single == (precision == "float32")
    alone = SVC(solver=OneByOne(), **parameters).fit(storage(X), y, weight)
    assert (alone.route_.ways == both.route_.then).all()
    same = both.n_iter_ == alone.n_iter_
    if same.all():
        dual = [model.model_.coefficients() for model in (both, alone)]
        np.testing.assert_array_equal(*dual)
    # Not where an active set is needed, after more updates, nor where a gap may be refused: what goes on in the block
    # solver does not know what the batch has cost, and takes a Newton step later.
    sizes = np.array([np.isin(y, pair).sum() for pair in combinations(range(9), 2)])
    crawled = alone.n_iter_ >= BLOCK_STEPS * sizes
    assert crawled.mean() < 0.8
    assert same[~crawled].all() or parameters["gap_tol"]
    close = 1e-9 if precision == "float64" else 1e-6
    for name in ("intercept_", "dual_objective_", "primal_objective_", "kkt_violation_", "duality_gap_"):
        np.testing.assert_allclose(getattr(both, name)[same], getattr(alone, name)[same], rtol=close, atol=close)
    gaps = both.primal_objective_ - both.dual_objective_, alone.primal_objective_ - alone.dual_objective_
    if np.isfinite(both.duality_gap_).all():
        assert (abs(both.dual_objective_ - alone.dual_objective_) <= np.maximum(*gaps) * (1 + 1e-9) + 1e-9).all()
    for model in (both, alone):
        assert model.kkt_violation_.max() <= 1e-3
        assert not (model.duality_gap_ > (parameters["gap_tol"] or np.inf)).any()
    assert all(len(trace["seconds"]) for trace in both.trace_)


@pytest.mark.parametrize(
    ("classes", "parameters", "shared"),
    [
        (2, {}, 0),
        (3, {}, 1),
        (4, {}, 1),
        (3, {"multi_class": "ovr"}, 1),  # each problem has all samples, and one matrix is for all
        (2, {"probability": True}, 0),  # each problem of the folds would make most values again
        (9, {"probability": True}, 2),
    ],
)
def test_what_is_within_classes_is_shared_where_nothing_is_made_again_for_it(classes, parameters, shared, routes):
    X, y = blobs(180, classes)
    assert SVC(**parameters).fit(X, y).fit_status_ == 0
    assert sum(route.shared for route in routes) == shared


@pytest.mark.plain
def test_small_gaps_are_reached_in_a_batch():
    X, y = blobs()
    wide = SVC(C=10.0).fit(X, y).duality_gap_
    model = SVC(C=10.0, gap_tol=1e-6, solver=Never()).fit(X, y)
    assert np.median(wide) > 1e-4
    assert model.duality_gap_.max() <= 1e-6


class Listed(Block):
    """The block solver; lists the sizes of the problems that it solves, and where they begin."""

    seen: ClassVar = []

    def solve(self, view, dual, options, state, watch):
        self.seen.append((len(view), state))
        return super().solve(view, dual, options, state, watch)


def test_what_crawls_goes_on_one_by_one():
    """Classes far from separable, with a linear kernel and a large C: pairs do not get there."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), np.arange(400) % 8
    Listed.seen.clear()
    model = SVC(kernel="linear", C=1e4, solver=Listed()).fit(X, y)
    starts = [state for _, state in Listed.seen]
    assert model.fit_status_ == 0
    assert model.kkt_violation_.max() <= 1e-3
    assert starts
    assert all(isinstance(state, State) and state.n_iter == 10 * len(state.beta) for state in starts)
    assert (model.n_iter_ >= 10 * 50).any()


@pytest.mark.plain
@pytest.mark.parametrize("machine", [SVC(C=100.0), NuSVC(nu=0.3)])
@pytest.mark.parametrize("limit", [0, 5])
def test_a_limit_holds(limit, machine):
    X, y = blobs()
    with pytest.warns(UserWarning, match="max_iter"):
        machine.set_params(max_iter=limit).fit(X, y)
    assert machine.n_iter_.max() <= limit + isinstance(machine, NuSVC)


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_problem_is_heard_of_and_may_be_the_last(jobs):
    heard, stopped, begun, pools, together_now = [], threading.Event(), [], [], threading.Event()
    X, y = make_blobs(1500, 70, centers=20, cluster_std=4.0, random_state=0)  # a dozen batches
    model = SVC(n_jobs=jobs, callback=lambda progress: heard.append((progress.problem, progress.n_finished))).fit(X, y)
    assert not model.route_.light
    assert sorted(problem for problem, _ in heard) == list(range(190))
    assert sorted(finished for _, finished in heard) == list(range(1, 191))

    def wait(given):
        """On a busy machine other threads would be done before the one that calls back has a turn."""
        begun.append(None)
        pools.append(given["tasks"].gram.pool)
        if jobs > 1 and len(begun) > 1:
            together_now.set()
            with given["tasks"].gram.pool.aside():
                stopped.wait(20)

    def enough(progress):
        if jobs > 1:  # nor may the first batch end before another thread has begun
            with pools[0].aside():
                together_now.wait(20)
        if progress.n_finished > 3:
            stopped.set()
        return progress.n_finished > 3

    with pytest.warns(UserWarning, match="callback asked to stop"), at(together.together, wait, number=None):
        SVC(n_jobs=jobs, callback=enough).fit(X, y)
    assert jobs == 1 or len(begun) > 1


@pytest.mark.plain
@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.3)])
def test_after_a_stop_nothing_more_is_solved(machine):
    """The problems of the first batch are solved, the others have not begun."""
    X, y = blobs(1500, 20)
    with pytest.warns(UserWarning, match="callback asked to stop"):
        model = machine.set_params(n_jobs=1, callback=lambda progress: True).fit(X, y)
    first = int(np.argmin(model.n_iter_ > 0))
    assert 0 < first < len(model.n_iter_) // 2
    assert not model.n_iter_[first:].any()
    assert np.isfinite(model.dual_coef_).all()


def together_of(gram, programs, states=None, groups=None):
    """The programs, each over one segment."""
    groups = np.arange(len(programs)) if groups is None else np.array(groups)
    is_open = np.ones(len(programs), bool)
    start = None if states is None else lambda some: np.concatenate([states[number].beta for number in some])
    return Tasks(gram, groups, np.arange(len(programs) + 1), programs.__getitem__, is_open, start)


@pytest.mark.plain
def test_what_was_stopped_within_a_batch_does_not_begin():
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.tile([1.0, -1.0], 10)
    gram = Gram(Source.of(X, np.arange(80), RBF(0.5)), np.float64, [20] * 4, Pool(1), shared=True)
    start = State(np.tile([0.1, -0.1], 10))
    flags, options = np.zeros((4, 2), np.int64), Options(whole=1000)
    tasks = together_of(gram, [csvc(y, np.ones(20))] * 4, [start] * 4)
    found = Found(tasks.sizes)
    assert together.together(tasks, range(4), options, flags, found) == {}
    assert (found.status == STATUSES.index(Status.CONVERGED)).all()
    flags[2, 0] = 1
    found = Found(tasks.sizes)
    assert together.together(tasks, range(4), options, flags, found) == {}
    assert [STATUSES[number] is Status.CONVERGED for number in found.status] == [True, True, False, True]
    assert STATUSES[found.status[2]] is Status.STOPPED
    assert np.isinf(found.certificate(2).kkt_violation)


@pytest.mark.plain
def test_a_batch_of_pairs_reads_the_values_of_one_tile():
    """Small classes beside each other: the solutions are those of batches of one pair."""
    X, y = blobs(60, 20)
    gram = Gram(Source.of(X[np.argsort(y)], np.arange(60), RBF(0.5)), np.float64, [3] * 20, Pool(1), shared=True)
    pairs = list(combinations(range(20), 2))
    dual, starts = csvc(np.repeat([1.0, -1.0], 3), np.full(6, 5.0)), 2 * np.arange(len(pairs) + 1)
    tasks = Tasks(gram, np.array(pairs).ravel(), starts, lambda _: dual, np.ones(len(pairs), bool))
    at_once, alone = Found(tasks.sizes), Found(tasks.sizes)
    options, flags = Options(whole=1000), np.zeros((len(pairs), 2), np.int64)
    assert together.together(tasks, range(len(pairs)), options, flags, at_once) == {}
    for one in range(len(pairs)):
        assert together.together(tasks, range(one, one + 1), options, flags[one : one + 1], alone) == {}
    assert np.count_nonzero(alone.beta)
    np.testing.assert_array_equal(at_once.beta, alone.beta)
    np.testing.assert_array_equal(at_once.n_iter, alone.n_iter)


@pytest.mark.plain
def test_negative_curvature_is_in_the_proof():
    """What the loops met is not looked for again, and such programs need not go on elsewhere."""
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.tile([1.0, -1.0], 10)
    gram = Gram(Source.of(X, np.arange(80), Sigmoid(0.5, -1.0)), np.float64, [20] * 4, Pool(1), shared=True)
    tasks = together_of(gram, [csvc(y, np.ones(20))] * 4)
    flags, found = np.zeros((4, 2), np.int64), Found(tasks.sizes)
    together.together(tasks, range(4), Options(whole=1000), flags, found)
    assert flags[:, 1].any()
    assert not flags[:, 0].any()
    for one in np.flatnonzero(flags[:, 1]).tolist():
        assert found.status[one] == STATUSES.index(Status.NOT_CONVEX)
        assert found.certificate(one).kkt_violation <= 1e-3
        assert np.isnan(found.certificate(one).relative_gap)


@pytest.mark.plain
@pytest.mark.parametrize("sizes", [[2] * 50, [10] * 20, [13, 0, 100]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_of_what_is_shared(sizes, dtype):
    n = sum(sizes)
    X = np.random.default_rng(0).normal(size=(n, 40))
    with Pool(1) as pool:
        gram = Gram(Source.of(X, np.arange(n), RBF(0.5)), dtype, sizes, pool)
        shared = gram.shared_values()
    made = shared.within.nbytes + shared.points.panels.nbytes + shared.rows.panels.nbytes
    assert bytes_shared(gram.source, sizes, dtype) == made


@pytest.mark.parametrize("share", [1.0, 0.4, 0.0])
def test_batches_have_the_tasks_in_their_order(share):
    """Each program takes this share of a batch."""
    half = int(np.sqrt(share * together.SMALLEST_BATCH / RBF(0.5).cost(3))) // 2 + 10
    n = 2 * half
    X, y = np.random.default_rng(0).normal(size=(4 * n, 3)), np.tile([1.0, -1.0], half)
    gram = Gram(Source.of(X, np.arange(4 * n), RBF(0.5)), np.float64, [n] * 4, Pool(1), shared=True)
    plain, hard, other = csvc(y, np.ones(n)), csvc(y, np.full(n, np.inf)), svr(y, np.ones(n), 0.1)
    duals = [plain, plain, hard, plain, plain, plain, other, other, plain]
    tasks = together_of(gram, duals, groups=np.arange(len(duals)) % 4)
    ways = np.array([Way.DENSE if dual.unbounded else Way.BATCH for dual in duals], np.int8)
    found = together.batches(tasks, ways)
    assert [number for some in found for number in some] == list(range(len(duals)))
    lengths = [len(some) for some in found]
    assert lengths == {1.0: [1] * 9, 0.4: [2, 1, 2, 1, 2, 1], 0.0: [2, 1, 3, 2, 1]}[share]
    assert all(len({(duals[number].epsilon, duals[number].unbounded) for number in some}) == 1 for some in found)


def test_what_is_shared_stays_within_the_memory():
    X, y = np.random.default_rng(0).normal(size=(1500, 3)), np.arange(1500) % 30
    little = SVC(cache_size=2).fit(X, y)  # 0.7 MB of rows and within the classes are more than a quarter
    more = SVC(cache_size=4).fit(X, y)
    assert [model.route_.shared for model in (little, more)] == [False, True]
    assert np.array_equal(more.dual_coef_, little.dual_coef_)


@pytest.mark.plain
def test_nothing_is_shared_where_no_room_would_be_left_for_a_block_of_all():
    X, y = np.random.default_rng(0).normal(size=(480, 3)), np.arange(480) % 8  # 0.24 MB within the classes
    models = [SVC(cache_size=megabytes).fit(X, y) for megabytes in (1.4, 2.0)]  # blocks of 144 variables take 1.33
    assert [model.route_.whole for model in models] == [144, 144]
    assert [model.route_.shared for model in models] == [False, True]
