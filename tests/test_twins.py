"""The compiled loops against their plain twins; the same tests run with compilation switched off."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from adatron import SVC
from adatron.compiled import lines
from adatron.compiled.cache.jit import jit
from adatron.compiled.cholesky import invert_factor
from adatron.compiled.exp import decay
from adatron.compiled.hash import hash_dense, hash_sparse
from adatron.compiled.lapack import has_factor
from adatron.compiled.micro import POINTS, rows_width
from adatron.compiled.panels import PRODUCTS, TILE, squared_norms
from adatron.compiled.search import CHUNK, argmax
from adatron.compiled.submatrix import mirror, transpose
from adatron.compiled.weighted import add_weighted
from adatron.gram import Points, Source
from adatron.gram.backends.segment import TileSegment, Workspace
from adatron.kernels import RBF, Laplacian, Linear
from adatron.problems import csvc
from adatron.solvers.dense.pairs import pairs
from adatron.solvers.dense.singles import singles
from adatron.threads import Pool
from twins import programs
from twins.tiles import chained_products, l1_distances, pack, row_hash

DTYPES = (np.float32, np.float64)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def tolerance(dtype):
    return 2e-5 if dtype == np.float32 else 1e-12


@jit
def decay_of_all(values, rate):
    decay(values, rate, len(values))


@jit
def largest(values):
    return argmax(values, len(values))


@pytest.mark.parametrize("rate", [np.log(2.0), 0.3, 17.0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_decay(dtype, rate):
    """Two units in the last place, and the rounding of the exponent, which counts as many times as it is large."""
    lowest = -float(np.finfo(dtype).minexp)  # where k changes, and in between; down to the last normal number
    exponents = np.concatenate([np.linspace(0, lowest, 64 * CHUNK), np.arange(0.5, lowest), np.arange(1.0, lowest)])
    v = np.resize(exponents * (np.log(2.0) / rate), -(-len(exponents) // CHUNK) * CHUNK).astype(dtype)
    out = v.copy()
    decay_of_all(out, rate)
    u, exponent = np.finfo(dtype).eps / 2, rate * v.astype(np.longdouble)
    true = np.exp(-exponent)
    near = exponent > (lowest - 0.51) * np.log(2.0)  # half an octave above the least normal number it may be 0
    assert np.all((abs(out - true) <= (4 + 3 * exponent) * u * true) | (near & (out == 0.0)))
    assert out[0] == 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_decay_beyond_the_normal_numbers(dtype):
    values = np.full(CHUNK, np.nan, dtype)
    values[:5] = np.inf, np.finfo(dtype).max, 1e4, 0.0, -0.0
    decay_of_all(values, 1.0)
    assert np.all(values[:3] == 0)
    assert np.all(values[3:5] == 1)
    assert np.isnan(values[5:]).all()
    values[:] = 0.0
    decay_of_all(values, 1e308)
    assert np.all(values == 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_argmax_is_the_first_of_the_largest(dtype, rng):
    for n in (CHUNK, 3 * CHUNK, 16 * CHUNK):
        for values in (rng.normal(size=n), rng.integers(0, 3, n), np.full(n, -np.inf), -np.arange(n)):
            assert largest(values.astype(dtype)) == np.argmax(values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_packed_panels(dtype, rng):
    X = rng.normal(size=(50, 5)) + 3
    source = Source.of(X, np.arange(50), RBF())
    pool = Pool(1)
    for operand, width in ((source.as_points(dtype, pool), POINTS), (source.as_rows(dtype, pool), rows_width(dtype))):
        np.testing.assert_array_equal(operand.panels, pack(X, width, source.center, dtype))


@pytest.mark.parametrize("d", [0, 1, 9])
def test_squared_norms(d, rng):
    """The same bits for a row alone and among others."""
    X, center, weights = rng.normal(size=(9, d)), rng.normal(size=d), rng.random(d)
    for n in range(10):
        ids, out = rng.permutation(9)[:n], np.empty(n)
        squared_norms(X, ids, center, weights, out)
        np.testing.assert_allclose(out, np.square(X[ids] - center) @ weights, rtol=1e-14)
        for i, row in enumerate(ids):
            alone = np.empty(1)
            squared_norms(X, np.array([row]), center, weights, alone)
            assert alone[0] == out[i]


@pytest.mark.parametrize("n", [1, 7, 8, 30, 41])
def test_halves_of_a_matrix(n, rng):
    K = rng.normal(size=(n + 3, n + 3))
    mirrored, before = K.copy(), K.copy()
    mirror(mirrored, n)
    np.testing.assert_array_equal(mirrored[:n, :n], np.tril(K[:n, :n]) + np.tril(K[:n, :n], -1).T)
    half = n // 2
    transpose(K, 0, half, half, n)
    np.testing.assert_array_equal(K[:half, half:n], before[half:n, :half].T)
    for changed in (mirrored, K):
        changed[:n, :n] = before[:n, :n]
        np.testing.assert_array_equal(changed, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("product", ["dot", "l1"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("d", [1, 7])
@pytest.mark.parametrize("width", [64, TILE])
def test_products(dtype, product, storage, d, width, rng):
    X = rng.normal(size=(40, d)) * (rng.random((40, d)) < 0.7)
    source = Source.of(storage(X), np.arange(40), Linear())
    points, rows = source.take(slice(0, 13)).as_points(dtype, Pool(1)), source.as_rows(dtype, Pool(1))
    tile = np.zeros((240, width), dtype)
    PRODUCTS[type(rows), product](points, 0, -(-13 // POINTS), rows, 0, -(-40 // rows_width(dtype)), tile)
    twin = chained_products if product == "dot" else l1_distances
    expected = twin(X[:13].astype(dtype), X.astype(dtype))
    np.testing.assert_allclose(tile[:13, :40], expected, atol=tolerance(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.2), 0.5 * RBF(0.3) + Linear() * RBF(0.1)], ids=str)
def test_weighted_sums_of_tiles(dtype, kernel, rng):
    X, V = rng.normal(size=(60, 4)), rng.normal(size=(11, 2))
    source = Source.of(X, np.arange(60), kernel)
    chosen = rng.permutation(60)[:11]
    segment = TileSegment(source, Workspace(kernel, dtype), Pool(1), 0, 60)
    points = Points(source.take(chosen), chosen)
    out = np.ones((60, 2))
    segment.accumulate(out, points, V)
    K = kernel(X)
    np.testing.assert_allclose(out, 1 + K[:, chosen] @ V, atol=20 * tolerance(dtype))
    np.testing.assert_allclose(segment.values(points), K[chosen], atol=10 * tolerance(dtype))


@jit
def weighted_rows(tile, base, store, column, where, weights, i, stop, total):
    add_weighted(tile, base, store, column, where, weights, i, stop, total)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [CHUNK, 3 * CHUNK])
def test_weighted_sums_of_rows_made_and_stored(dtype, width, rng):
    tile, store = rng.normal(size=(5, width)).astype(dtype), rng.normal(size=(4, width + 40)).astype(dtype)
    where, weights = np.array([-2, 7, -4, 8, 8, 11, -1]), rng.normal(size=7)
    rows = [tile[number - 7] if number >= 0 else store[-1 - number, 24 : 24 + width] for number in where]
    for i, stop in ((0, 7), (2, 5), (3, 3)):
        total = np.ones(width + 1)
        weighted_rows(tile, 7, store, 24, where, weights, i, stop, total)
        expected = 1.0 + sum((w * row.astype(float) for w, row in zip(weights[i:stop], rows[i:stop], strict=True)), 0.0)
        np.testing.assert_allclose(total[:width], expected * np.ones(width), rtol=1e-13, atol=1e-13)
        assert total[width] == 1.0


def test_arrays_begin_with_a_line_of_the_cache():
    for shape, dtype in product([(3,), (5, 7), (300, 300)], [np.float32, np.float64]):
        for make in (lines.empty, lines.zeros):
            array = make(shape, dtype)
            assert array.shape == shape
            assert array.dtype == dtype
            assert array.flags.c_contiguous
            assert array.ctypes.data % lines.LINE == 0
        assert not array.any()


def test_row_hashes_agree_for_dense_and_sparse(rng):
    X = rng.normal(size=(12, 6)) * (rng.random((12, 6)) < 0.5)
    X[0] = -0.0
    for dtype, bits in ((np.float64, np.uint64), (np.float32, np.uint32)):
        Z = X.astype(dtype)
        S = sparse.csr_matrix(Z)
        sign = np.array(-0.0, dtype).view(bits)[()]
        dense, csr = np.empty(12, np.uint64), np.empty(12, np.uint64)
        hash_dense(Z.view(bits), sign, dense)
        hash_sparse(S.data.view(bits), sign, S.indices, S.indptr.astype(np.int64), csr)
        assert dense.tolist() == csr.tolist() == [row_hash(row) for row in Z]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
def test_block_loops_reach_the_twin(dtype, bias, rng):
    X = rng.normal(size=(CHUNK, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=CHUNK) > 0, 1.0, -1.0)
    K = RBF(0.5)(X)
    dual = csvc(y, np.full(CHUNK, 2.0), bias)
    beta, g = np.zeros(CHUNK), -y.astype(dtype)
    program = ((K + dual.lambda2).astype(dtype), beta, g, dual.lower, dual.upper)
    limits = (0.0, 1e-4, 20_000, np.zeros(2, np.int64))
    if bias == "explicit":
        pairs(*program, np.array([0, CHUNK]), *limits)
    else:
        singles(*program, *limits)
    assert programs.kkt(K, dual, beta) <= 3e-4
    best = programs.objective(K, dual, programs.solve(K, dual, steps=20_000, tol=1e-6))
    assert programs.objective(K, dual, beta) <= best + 1e-4 * abs(best)


def test_a_whole_fit(rng):
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    model = SVC(gamma=0.5).fit(X, y)
    assert model.kkt_violation_ <= model.tol
    assert (model.predict(X) == y).mean() > 0.9


def test_inverted_factor():
    rng = np.random.default_rng(0)
    for n in (1, 2, 30):
        A = rng.normal(size=(n, n + 2))
        A = A @ A.T
        L = A.copy()
        invert_factor(L, 0.0)
        assert np.allclose(L, np.linalg.inv(np.linalg.cholesky(A)))


@pytest.mark.parametrize("n", [0, 1, 2, 60, 300])
@pytest.mark.parametrize("least", [-1e-6, 1e-6])
def test_whether_a_matrix_has_a_cholesky_factor(n, least, rng):
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.append(rng.random(max(0, n - 1)) + 0.1, [least] * min(n, 1))
    A = (Q * values) @ Q.T
    A = 0.5 * (A + A.T)
    L = A.copy()
    found = has_factor(L)
    assert found == (least > 0 or not n)
    if found:
        np.testing.assert_allclose(np.triu(L).T @ np.triu(L), A, atol=1e-12)
