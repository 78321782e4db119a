"""Predictions of many rows: in blocks, in bounded memory, and each row for itself."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from adatron import SVC
from adatron.gram.backends.tile_loop import TILE_SIZE
from adatron.kernels import RBF
from adatron.model import decision
from adatron.threads import allowed_threads
from machines import NAMES, ours, target, values

ROWS, FEATURES, VECTORS = 200_000, 50, 500


@pytest.fixture(scope="module")
def many():
    return np.random.default_rng(0).normal(size=(ROWS, FEATURES)).astype(np.float32)


def trained(X, classes, **parameters):
    """A model whose samples are all support vectors: so small a C leaves each of them at its bound."""
    model = SVC(C=1e-6, gamma=0.01, **parameters).fit(X, np.arange(X.shape[0]) % classes)
    assert len(model.support_) == X.shape[0]
    return model


def growth(work):
    """Peak of the traced memory while some work is done, less what it returns."""
    work()  # everything is compiled and imported
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1] - result.nbytes
    finally:
        tracemalloc.stop()


def allowed(features, outputs, copies=3, vectors=VECTORS):
    """Memory for a block, for the support vectors, both made ready and packed, and for the tiles of the threads."""
    tiles = allowed_threads(None) * 8 * TILE_SIZE
    rows = min(decision.MOST_ROWS, decision.BLOCK_BYTES / (8 * (features + 4 * outputs)))
    return copies * 8 * rows * (features + 4 * outputs) + 3 * 8 * vectors * (features + outputs) + tiles + 2**20


STORAGES = {"float32": lambda X: X, "float32 F": np.asfortranarray, "float64": lambda X: X.astype(np.float64)}


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "storage"), [(2, "float32"), (2, "float32 F"), (2, "float64"), (5, "float32")])
def test_memory_of_dense_rows(storage, classes, many):
    model, X = trained(many[:VECTORS], classes), STORAGES[storage](many)
    pairs = classes * (classes - 1) // 2
    limit = allowed(FEATURES, pairs)
    assert limit < 0.3 * many.nbytes
    assert growth(lambda: model.predict(X)) <= limit
    for shape in ("ovr", "ovo"):
        model.set_params(decision_function_shape=shape)
        assert growth(lambda: model.decision_function(X)) <= limit


@pytest.mark.slow
def test_memory_of_sparse_rows(many):
    X = sparse.csr_matrix(np.where(many > 0.8, many, 0).astype(np.float64))
    model = trained(X[:VECTORS], 2)
    size = X.data.nbytes + X.indices.nbytes
    assert allowed(FEATURES, 1) < 0.6 * size
    assert growth(lambda: model.predict(X)) <= allowed(FEATURES, 1)
    assert growth(lambda: model.predict(many)) <= allowed(FEATURES, 1, copies=6)  # rows and columns of all entries, too


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_of_given_kernel_values(dtype, many):
    K = RBF(0.01)(many[:10_000], many[:VECTORS]).astype(dtype)
    model = trained(K[:VECTORS], 2, kernel="precomputed")
    limit = allowed(1, 1)
    assert limit < 0.2 * K.nbytes
    assert growth(lambda: model.predict(K)) <= limit


def test_memory_of_a_function(many):
    model = SVC(C=1e-6, kernel=RBF(0.01).__call__).fit(many[:VECTORS], np.arange(VECTORS) % 2)
    assert growth(lambda: model.predict(many[:8000])) <= allowed(FEATURES, 1) + 3 * 8 * 1024 * VECTORS


@pytest.mark.parametrize("name", NAMES)
def test_blocks_do_not_change_a_bit(name):
    """The same rows one by one, in one block, and over and over again in several, which they do not begin."""
    X = np.random.default_rng(1).normal(size=(150, 6)).round(1)
    times = 2 * decision.MOST_ROWS // 150
    for rows in (X, np.asfortranarray(X), X.astype(np.float32), sparse.csr_matrix(X)):
        model = ours(name).fit(rows, target(name, X))
        for precision in ("single", "auto"):
            whole = values(model.set_params(precision=precision), rows), model.predict(rows)
            alone = np.concatenate([values(model, rows[i : i + 1]) for i in range(9)])
            np.testing.assert_array_equal(alone, whole[0][:9])
        often = sparse.vstack([rows] * times, "csr") if sparse.issparse(rows) else np.concatenate([rows] * times)
        for found, once in zip((values(model, often), model.predict(often)), whole, strict=True):
            np.testing.assert_array_equal(found, np.concatenate([once] * times))
