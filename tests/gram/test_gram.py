"""The invariant: a kernel value depends on its pair of rows alone. And the row store.

Also tested here: ``backends/segment``.
"""

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adatron import SVC
from adatron.compiled.panels import PASS_FEATURES, roundings
from adatron.gram import Gram, Source, Square, Sums, View
from adatron.gram.backends.row_store import RowStore
from adatron.gram.backends.segment import MOST_TILES, falling
from adatron.kernels import RBF, Function, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from adatron.solvers.plan import plan
from adatron.threads import Pool
from moments import calls
from problems import SLOW

KERNELS = [RBF(0.2), Linear(), Polynomial(0.1, 3, 1.0), Sigmoid(0.05, 0.1), Laplacian(0.1), 0.5 * RBF(0.1) + Linear()]


def data(n, d, seed=0, density=0.6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < density)


def view(X, kernel, dtype, sizes, pool, slots=0, ids=None):
    ids = np.arange(X.shape[0]) if ids is None else ids
    return View.of(Gram(Source.of(X, ids, kernel), dtype, sizes, pool, slots))


@pytest.mark.plain
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_values_depend_on_the_pair_only(kernel, dtype, storage):
    n, sizes = (75, [20, 33, 22]) if SLOW else (610, [100, 259, 251])  # the second ends with a tile of few rows
    X = data(n, 13)
    perm = np.random.default_rng(1).permutation(n)
    with Pool(3) as pool:
        whole = view(storage(X), kernel, dtype, [n], Pool(1))
        parts = view(storage(X), kernel, dtype, sizes, pool)
        # the mean's last bits depend on the order of the rows: shuffle the operands only
        source = whole.gram.source.take(perm)
        shuffled = View.of(Gram(source, dtype, [n], pool))
        everything = np.arange(n)
        K = whole.rows(everything)
        assert np.array_equal(K, K.T)
        assert np.array_equal(K, parts.rows(everything))
        assert np.array_equal(K[np.ix_(perm, perm)], shuffled.rows(everything))
        some = perm[:7]
        assert np.array_equal(K[some], parts.rows(some))
    scale = max(1.0, np.abs(K).max())
    np.testing.assert_allclose(K, kernel(X), atol=scale * (2e-5 if dtype == np.float32 else 1e-12))


@pytest.mark.parametrize("slots", [0, 60])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [RBF(0.01), 0.5 * RBF(0.01) + Laplacian(0.01) * RBF(0.002)], ids=str)
def test_segments_and_points_that_come_twice(kernel, dtype, slots):
    """The bits of a part of a view are those of the whole, however often a row or a point comes in either."""
    X, rng = data(500, 70), np.random.default_rng(2)
    K = kernel(X)
    with Pool(2) as pool:
        gram = Gram(Source.of(X, np.arange(500), kernel), dtype, [200, 300], pool, slots)
        whole, parts = View.of(gram, [0, 1, 0, 1]), [View.of(gram, g) for g in ([0, 1], [0], [1])]
        for _ in range(6):
            rows, V = rng.choice(1000, 90, replace=False), rng.normal(size=(90, 2))
            points, out = whole.points(rows), np.zeros((1000, 2))
            whole.accumulate(out, points, V)
            pieces = [np.zeros((len(part), 2)) for part in parts]
            for part, piece in zip(parts, pieces, strict=True):
                part.accumulate(piece, points, V)
            assert np.array_equal(out, np.concatenate(pieces))
            error = np.abs(out - K[np.ix_(whole.ids, whole.ids[rows])] @ V).max()
            assert error < (1e-4 if dtype == np.float32 else 1e-12)


def test_a_shared_store_under_concurrent_leases():
    X = data(500, 70)
    with Pool(4) as pool:
        gram = Gram(Source.of(X, np.arange(500), RBF(0.02)), np.float32, [200, 300], pool, slots=40)
        views = [View.of(gram, [0, 1]), View.of(gram, [0]), View.of(gram, [1]), View.of(gram, [1, 0])]
        K = RBF(0.02)(X)
        worst = np.zeros(8)

        def work(number):
            v, rng = views[number % 4], np.random.default_rng(number)
            for _ in range(15):
                rows = rng.choice(len(v), 30, replace=False)
                out, V = np.zeros((len(v), 1)), rng.normal(size=(30, 1))
                v.accumulate(out, v.points(rows), V)
                error = np.abs(out - K[np.ix_(v.ids, v.ids[rows])] @ V).max()
                worst[number] = max(worst[number], error)

        pool.run(work, 8)
    assert worst.max() < 1e-4


@pytest.mark.plain
def test_slots_never_used_go_in_order():
    """A store that is larger than needed touches no more memory than one that is not."""
    store, taken = RowStore(2000, 1, np.float64, 2000), []
    for ids in np.array_split(np.random.default_rng(0).permutation(1500), 12):
        lease = store.lease(ids)
        taken.append(lease.slots)
        store.give_back(lease, filled=True)
    assert np.array_equal(np.concatenate(taken), np.arange(1500))


@pytest.mark.plain
def test_dropped_rows_make_room_before_unused_slots():
    store = RowStore(100, 1, np.float64, 60)
    store.give_back(store.lease(np.arange(20)), filled=True)
    store.drop(5, 15)
    with store.leased(np.arange(30, 45)) as lease:
        assert set(lease.slots) == {*range(5, 15), *range(20, 25)}
    store.close()
    assert (store.lease(np.arange(30)).slots == -1).all()


@pytest.mark.plain
def test_values_between_two_segments_are_dropped():
    """The rows of either segment over the other one go; those within each, and over a third one, stay."""
    with Pool(1) as pool:
        gram = Gram(Source.of(data(30, 3), np.arange(30), RBF()), np.float32, [10] * 3, pool, slots=30)
        for segment in gram.segments:
            segment.keep(gram.points(np.arange(30)))
        gram.drop(0, 1)
        there = [(segment.store.slot >= 0).reshape(3, 10).all(axis=1).tolist() for segment in gram.segments]
        assert there == [[True, False, True], [False, True, True], [True, True, True]]
        gram.drop(2, 2)
        assert [len(segment.store) for segment in gram.segments] == [30, 30, 0]


@pytest.mark.plain
def test_a_matrix_without_segments_makes_none_to_drop_values():
    with Pool(1) as pool:
        gram = Gram(Source.of(data(40, 3), np.arange(40), RBF()), np.float32, [20, 20], pool, slots=20)
        with calls(Gram.segment) as made:
            gram.drop(0, 1)
            assert not made
            assert len(gram.segments) == len(made) == 2


@pytest.mark.plain
def test_rows_that_nobody_will_ask_for_again_take_no_room():
    store = RowStore(4, 1, np.float64, 20)
    lease = store.lease(np.arange(6), np.arange(6) % 2 == 0)
    assert np.array_equal(lease.slots, [0, -1, 1, -1, 2, -1])
    store.give_back(lease, filled=True)
    lease = store.lease(np.arange(3, 9), np.zeros(6, bool))  # what is here is found all the same, and nothing leaves
    assert np.array_equal(lease.found >= 0, [False, True, False, False, False, False])
    assert (lease.slots == -1).all()
    store.give_back(lease, filled=True)
    assert np.array_equal(store.lease(np.array([0, 2, 4])).found, [0, 1, 2])


def test_rows_of_variables_at_a_bound_are_not_stored():
    """They are used once, mostly, and would take the memory of those that are used again."""

    def counts(_, lease):
        return len(lease.slots), np.count_nonzero(lease.slots >= 0), np.count_nonzero(lease.found >= 0)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 80))
    with calls(RowStore.lease, keep=counts) as asked:
        model = SVC(C=0.5, gamma=0.003).fit(X, X[:, 0] + rng.normal(size=4000) > 0.0)
    assert model.kkt_violation_ <= 1e-3
    missing, kept, found = np.sum(asked, axis=0)
    at_bound = np.count_nonzero(np.abs(model.dual_coef_) == 0.5)
    assert found > 0
    assert at_bound > 1000
    assert 0 < kept <= missing - 0.5 * at_bound


def test_a_matrix_that_is_there_is_framed_without_another_one():
    X = data(40, 5)
    with Pool(1) as pool, calls(Gram.square) as made:
        gram = Gram(Source.of(X, np.arange(40), RBF(0.2)), np.float64, [40], pool, held=True)
        K = gram.K.copy()
        framed = gram.framed(0.5)
    assert len(made) == 1
    np.testing.assert_array_equal(framed[:40, :40], K + 0.5)
    assert not framed[40:].any()
    assert not framed[:, 40:].any()
    np.testing.assert_array_equal(gram.K, K)


@pytest.mark.plain
@given(st.integers(0, 5000), st.integers(2, 64))
def test_tasks_fall_in_size(n, workers):
    """So that who is late is late by a small one."""
    ends = np.array(falling(n, workers, MOST_TILES))
    sizes = np.diff(ends)
    assert ends[0] == 0
    assert ends[-1] == n
    assert (sizes > 0).all()
    assert (np.diff(sizes) <= 0).all()
    assert sizes.max(initial=0) <= MOST_TILES
    assert sizes[-1:].sum() <= max(1, n // (16 * workers))
    if 16 * workers <= n <= 2 * MOST_TILES * workers:
        assert sizes[0] == n // (2 * workers) >= 4 * sizes[-1]


@pytest.mark.plain
def test_a_point_that_comes_twice_is_asked_for_again_if_one_of_both_is():
    X = data(6, 3)
    points = View.of(Gram(Source.of(X, np.arange(6), RBF()), np.float64, [6], Pool(1))).points(np.array([1, 4, 1, 2]))
    marked = replace(points, again=np.array([False, True, True, False]))
    merged, V = marked.merged(np.array([[1.0], [1.0], [2.0], [1.0]]))
    assert merged.ids.tolist() == [1, 2, 4]
    assert V.ravel().tolist() == [3.0, 1.0, 1.0]
    assert merged.again.tolist() == [True, False, True]
    assert points.merged(np.ones((4, 1)))[0].again is None


@pytest.mark.plain
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 19), min_size=1, max_size=8, unique=True), max_size=12),
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=12, max_size=12),
)
def test_the_store_never_gives_a_wrong_row(asked, capacity, dropped):
    store = RowStore(capacity, 1, np.float64, 20)
    for ids, (first, stop) in zip(map(np.array, asked), dropped, strict=False):
        store.drop(first, stop)
        lease = store.lease(ids)
        assert (lease.found[(ids >= first) & (ids < stop)] == -1).all()
        found = lease.found >= 0
        assert np.array_equal(store.values[lease.found[found], 0], ids[found])
        slots = lease.slots[lease.slots >= 0]
        assert len(np.unique(slots)) == len(slots)
        assert not np.isin(slots, lease.found).any()
        store.values[slots, 0] = ids[~found][lease.slots >= 0]
        store.give_back(lease, filled=True)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_exact_and_the_error_bound(kernel):
    X, rng = data(300, 9), np.random.default_rng(3)
    with Pool(2) as pool:
        v = view(X, kernel, np.float32, [300], pool)
        rows, points, w = rng.choice(300, 50), rng.choice(300, 20, replace=False), rng.normal(size=20)
        K = kernel(X)
        np.testing.assert_allclose(v.exact(rows, points, w)[0], K[np.ix_(rows, points)] @ w, rtol=1e-11, atol=1e-11)
        for weights in (rng.random(300), *np.eye(300)[:5]):
            assert (np.abs(v.rows(np.arange(300)) - K) @ weights <= v.error_bounds(weights)).all()
        np.testing.assert_allclose(v.diagonal(), np.diag(K), rtol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_one_large_row_does_not_spoil_the_bounds_of_the_others(kernel):
    """Its own bound is large, and so is that of whoever it is added to; all bounds hold."""
    X = data(200, 4)
    X[7] *= 50.0
    with Pool(1) as pool:
        v, K = view(X, kernel, np.float32, [200], pool), kernel(X)
        small = (np.arange(200) != 7).astype(float)
        bounds, wrong = v.error_bounds(small), np.abs(v.rows(np.arange(200)) - K)
        assert (wrong @ small <= bounds).all()
        assert (wrong @ np.ones(200) <= v.error_bounds(np.ones(200))).all()
        if kernel.compiled and not isinstance(kernel, Laplacian):
            assert np.median(bounds) < 0.1 * bounds[7]


@pytest.mark.parametrize("kind", ["dense", "CSR"])
@pytest.mark.parametrize(
    "kernel", [RBF(0.02), Polynomial(0.01, 2, 1.0), RBF(0.02) * RBF(0.01), RBF(0.02) + Linear()], ids=str
)
@pytest.mark.parametrize("first", [1.0, 30.0])
def test_bounds_know_when_a_term_is_added(kernel, kind, first):
    """Where the first features are large, all roundings go through them. A row next to the centre changes nothing."""
    X = data(150, 300)
    X[:, :3] *= first
    X[5] *= 1e-25
    storage = np.asarray if kind == "dense" else sparse.csr_matrix
    with Pool(2) as pool:
        v = view(storage(X), kernel, np.float32, [100, 50], pool)
        wrong = np.abs(v.rows(np.arange(150)) - kernel(X))
        for weights in (np.ones(150), *np.eye(150)[3:8]):
            assert (wrong @ weights <= v.error_bounds(weights)).all()
        plain = kernel.error_bound(v.gram.largest, v.gram.source.terms, 2.0**-24)
        share = v.error_bounds(np.ones(150)).mean() / (150 * plain)
    gaussian = kernel.stationary
    assert share < (0.4 if gaussian and first == 1.0 else 0.8 if gaussian else 1.01)


@pytest.mark.plain
def test_bounds_do_not_depend_on_what_was_made_before():
    X, both = data(150, 30), []
    for shared in (False, True):
        for before in (False, True):
            with Pool(2) as pool:
                gram = Gram(Source.of(X, np.arange(150), RBF(0.1)), np.float32, [100, 50], pool, shared=shared)
                if before:
                    View.of(gram, [1, 0]).accumulate(np.zeros((150, 1)), gram.own(0), np.ones((100, 1)))
                both.append(View.of(gram).error_bounds(np.ones(150)))
    np.testing.assert_array_equal(both[0], both[1])
    np.testing.assert_array_equal(both[2], both[3])
    assert (both[0] < both[2]).all()


@pytest.mark.plain
@pytest.mark.parametrize("d", [0, 1, 2, 5, 127, 128, 129, 256, 700])
def test_roundings_of_each_term_of_a_product(d):
    """Counted along the sums."""
    done, passes = np.zeros(d, int), []
    for start in range(0, d, PASS_FEATURES):
        some = list(range(start, min(d, start + PASS_FEATURES)))
        for number, k in enumerate(some):  # its product is rounded, then each sum but the one with 0
            done[k] += 1
            done[some[: number + 1]] += number > 0
        passes += some
        done[passes] += start > 0
    assert np.array_equal(roundings(d), done)


@pytest.mark.plain
def test_a_bound_that_proves_nothing_is_infinite():
    """And never nan: what cannot be bounded is in doubt."""
    X = data(50, 4)
    X[7] *= 1e19
    with Pool(1) as pool:
        v = view(X, Linear(), np.float32, [50], pool)
        bounds = v.error_bounds(np.ones(50))
        assert np.isinf(bounds).all()
        bounds = v.error_bounds((np.arange(50) != 7).astype(float))
        assert np.isinf(bounds[7])
        assert np.isfinite(np.delete(bounds, 7)).all()


@pytest.mark.parametrize("kernel", [RBF(0.01), Polynomial(0.1, 3, 1.0), Laplacian(0.1)], ids=str)
def test_sums_of_half_the_matrix(kernel):
    X, w = data(1300, 5), np.random.default_rng(3).normal(size=1300)
    with Pool(2) as pool:
        v = view(X, kernel, np.float32, [1300], pool)
        for rows in (np.arange(1300), np.arange(0, 1300, 2)):
            expected = kernel(X[rows]) @ w[rows]
            np.testing.assert_allclose(v.exact(rows, rows, w[rows])[0], expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 150), min_size=1, max_size=3),
    slots=st.sampled_from([0, 10, 150]),
    threads=st.sampled_from([1, 3]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_a_block_keeps_what_it_shares_with_the_last_one(seed, sizes, slots, threads, dtype):
    """Whatever points come, go or stay: the same bits as if each block were made for itself."""
    rng, n = np.random.default_rng(seed), sum(sizes)
    with Pool(threads) as pool:
        one = view(data(n, 7, seed), RBF(0.3), dtype, sizes, pool, slots)
        square, rows = Square(one.gram), np.arange(n)  # at first all of them, side by side
        for _ in range(6):
            P = one.points(rows)
            width = len(rows) + int(rng.integers(0, 70))
            K = square.among(P, width)
            assert np.array_equal(K[: len(P), : len(P)], one.block(P, P))
            assert not K[len(P) :, :width].any()
            assert not K[: len(P), len(P) : width].any()
            if rng.random() < 0.2:
                K[:] = np.nan
                square.forget()
            if rng.random() < 0.3:
                rows = rng.permutation(n)[: rng.integers(1, n + 1)]
            else:
                rows = np.where(rng.random(len(rows)) < rng.random(), rng.integers(0, n, len(rows)), rows)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("n", "size", "side_by_side"),
    [(60_000, 60_000, False), (60_000, 48_000, False), (60_000, 12_000, True), (12_000, 12_000, True)],
)
def test_problems_side_by_side_have_room_for_their_rows(n, size, side_by_side):
    """Many problems over all rows of a large set run one after the other: together they would push out their rows."""
    p = plan(n, np.full(10, size), 800.0, 4, 1000 * 2**20)
    assert (p.concurrent > 1) == side_by_side
    assert p.slots == n or p.slots * n >= p.concurrent * p.block * size


@pytest.mark.plain
@pytest.mark.parametrize(("cost", "one", "several"), [(50.0, False, False), (112.0, True, False), (800.0, True, True)])
def test_rows_are_stored_where_that_pays(cost, one, several):
    """Problems side by side would push out each other's rows, or wait for each other."""
    alone, together = (plan(20_000, np.full(many, 20_000), cost, 4, 1000 * 2**20) for many in (1, 8))
    assert (alone.slots > 0) == one
    assert (together.slots > 0) == several
    assert (together.concurrent > 1) == (not several)


@pytest.mark.plain
def test_blocks_in_turn_take_nothing_from_each_other():
    """Two problems of one thread have one room."""
    one = view(data(90, 7), RBF(0.3), np.float32, [50, 40], Pool(1))
    squares = Square(one.gram), Square(one.gram)
    for moved in (0, 1, 5):  # most points stay, so that each would keep what is no longer there
        for square, first in zip(squares, (0, 40), strict=True):
            rows = np.arange(first, first + 30)
            rows[:moved] += 30
            P = one.points(rows)
            assert np.array_equal(square.among(P, 30)[:, :30], one.block(P, P))


@pytest.mark.plain
@pytest.mark.parametrize("sizes", [[60, 40], [100]])
def test_the_block_of_values_that_are_given(sizes):
    """They need not be symmetric, nor held in pieces."""
    K = np.random.default_rng(0).normal(size=(100, 100))
    one = view(K, Precomputed(), np.float64, sizes, Pool(1))
    rows = np.array([5, 70, 2, 99])
    found = Square(one.gram).among(one.points(rows), 6)
    assert np.array_equal(found[:4, :4], one.block(one.points(rows), one.points(rows)))
    assert not found[4:].any()
    assert not found[:, 4:6].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [[700], [301, 399]])
def test_values_that_are_given_are_read_as_they_are(dtype, sizes):
    """In double precision, from a point's own row or, of new samples, from theirs; the same bits on any threads."""
    rng = np.random.default_rng(0)
    K, order = rng.normal(size=(700, 700)).astype(dtype), rng.permutation(700)
    rows, V = rng.permutation(700)[:601], rng.normal(size=(601, 3)) * (rng.random((601, 3)) < 0.7)
    new, found = rng.normal(size=(310, 700)).astype(dtype), []
    for threads in (1, 3):
        with Pool(threads) as pool:
            v = view(K, Precomputed(), np.float64, sizes, pool, ids=order)
            P = v.points(rows)
            assert np.array_equal(v.rows(rows), K[np.ix_(order[rows], order)])
            sums, more = np.zeros((700, 3)), np.ones((310, 3))
            v.accumulate(sums, P, V)
            Sums(P.source, V, np.float64, pool).add(more, replace(P.source, X=new, ids=np.arange(310), new=True), pool)
            np.testing.assert_allclose(sums, K[np.ix_(order[rows], order)].T.astype(float) @ V, atol=1e-12)
            np.testing.assert_allclose(more, 1.0 + new[:, order[rows]].astype(float) @ V, atol=1e-12)
            found.append((sums, more))
    for once, again in zip(*found, strict=True):
        assert np.array_equal(once, again)


def test_a_function_is_called_on_one_thread():
    X, seen = data(1500, 3), set()

    def linear(A, B):
        seen.add(threading.get_ident())
        return A @ B.T

    with Pool(4) as pool:
        v = view(X, Function(linear), np.float64, [1500], pool)
        rows = np.arange(1500)
        np.testing.assert_allclose(v.exact(rows, rows[:1200], np.ones(1200))[0], X @ X[:1200].sum(axis=0), atol=1e-9)
    assert seen == {threading.get_ident()}


@pytest.mark.plain
@pytest.mark.parametrize("d", [127, 128, 129, 700])
def test_products_of_many_features(d):
    X = data(60, d)
    with Pool(1) as pool:
        v = view(X, RBF(0.5 / d), np.float32, [60], pool)
        K = v.rows(np.arange(60))
        bounds = v.error_bounds(np.ones(60))
        assert (np.abs(K - RBF(0.5 / d)(X)).sum(axis=1) <= bounds).all()
        assert (K == K.T).all()
        assert (np.diag(K) == 1.0).all()
        assert bounds.max() < 60 * 1.01 * RBF(0.5 / d).error_bound(v.gram.largest, min(d, 140), 2.0**-24)
