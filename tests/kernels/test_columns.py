"""Rows with far more columns than values: fits, predictions and files cost what the used columns cost."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from adatron import SVC, SVR, IncrementalSVC, NuSVC, OneClassSVM
from adatron.files import load, save
from adatron.kernels import RBF, Laplacian, Linear, Polynomial
from machines import values

MOST = 2**31 - 1
N, WORDS = 120, 12


def words(index=np.int32):
    """The same samples with their used columns only, and among as many columns as there may be."""
    rng = np.random.default_rng(14)
    vocabulary = np.unique(np.concatenate([[0, MOST - 1], rng.integers(0, MOST, 900)]))
    spoken = np.sort([rng.choice(len(vocabulary), WORDS, replace=False) for _ in range(N)], axis=1)
    values, ends = rng.random(N * WORDS) + 0.5, np.arange(N + 1, dtype=index) * WORDS
    y = ((spoken % 2).sum(axis=1) > WORDS / 2).astype(int)
    few = sparse.csr_matrix((values, spoken.ravel(), ends), (N, len(vocabulary)))
    many = sparse.csr_matrix((N, MOST))
    many.data, many.indices, many.indptr = values, vocabulary[spoken.ravel()].astype(index), ends
    return few, many, y, vocabulary


MACHINES = {
    **{kernel: lambda kernel=kernel: SVC(kernel=kernel, gamma=0.05, tol=1e-6)
       for kernel in ("rbf", "linear", "poly", "sigmoid", "laplacian")},
    "scale": lambda: SVC(gamma="scale"),
    "NuSVC": lambda: NuSVC(nu=0.3, gamma=0.05, tol=1e-6),
    "SVR": lambda: SVR(gamma=0.05, tol=1e-6),
    "OneClassSVM": lambda: OneClassSVM(gamma=0.05, tol=1e-6),
    "IncrementalSVC": lambda: IncrementalSVC(gamma=0.05),
    "probability": lambda: SVC(gamma=0.05, tol=1e-6, probability=True),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of the memory in kilobytes")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_of_hashed_words_is_that_of_the_used_columns(machine, index, tmp_path):
    import resource  # other systems have none

    few, many, y, _ = words(index)
    wanted = MACHINES[machine]().fit(few, y)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = MACHINES[machine]().fit(many, y)
    if machine == "scale":
        variance = np.square(many.data).sum() / (N * MOST) - (many.data.sum() / (N * MOST)) ** 2
        assert found.kernel_.gamma == pytest.approx(1 / (MOST * variance))
    else:
        assert_allclose(values(found, many), values(wanted, few), atol=1e-4)
    if machine != "IncrementalSVC":
        assert values(found.compact(), many).shape == values(found, many).shape
    save(found, tmp_path / "m.adatron")
    assert_array_equal(values(load(tmp_path / "m.adatron"), many[:9]), values(found, many[:9]))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_new_rows_may_use_other_columns():
    _, many, y, vocabulary = words()
    model = SVC(gamma=0.05, tol=1e-6).fit(many, y)
    for step in (-1, 1):
        moved = many[:30].copy()
        some = step * (np.arange(moved.nnz) % 3 == 0)
        moved.indices = np.clip(moved.indices.astype(np.int64) + some, 0, MOST - 1)
        moved = sparse.csr_matrix((moved.data, moved.indices.astype(np.int32), moved.indptr), moved.shape)
        moved.sum_duplicates()
        both = np.unique(np.concatenate([vocabulary, moved.indices]))
        narrow = [sparse.csr_matrix((X.data, np.searchsorted(both, X.indices), X.indptr), (X.shape[0], len(both)))
                  for X in (many, moved)]  # fmt: skip
        twin = SVC(gamma=0.05, tol=1e-6).fit(narrow[0], y)
        assert_allclose(model.decision_function(moved), twin.decision_function(narrow[1]), atol=1e-4)


@pytest.mark.parametrize("kernel", [RBF(0.1), Linear(), Polynomial(0.1, 3, 1.0), Laplacian(0.1), RBF(0.1) + Linear()])
def test_kernel_objects_take_such_rows(kernel):
    few, many, _, _ = words()
    assert_allclose(kernel(many[:5], many[5:9]), kernel(few[:5], few[5:9]), rtol=1e-12)


def test_weights_of_features_are_sparse():
    few, many, y, vocabulary = words()
    found, wanted = (SVC(kernel="linear", tol=1e-8).fit(X, y).coef_ for X in (many, few))
    assert found.shape == (1, MOST)
    assert_array_equal(found.indices, vocabulary[wanted.indices])
    assert_allclose(found.data, wanted.data, atol=1e-5)
