"""What comes in: every container of the same numbers gives the same model."""

import warnings
from pathlib import Path

import array_api_strict as xp
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

import adatron
from adatron import SVC
from adatron.compiled import panels
from adatron.compiled.merge import hash_sparse
from adatron.gram.backends import tile_loop as tiles
from adatron.kernels import RBF
from machines import NAMES, X, assert_same, assert_same_after, dense, locked, ours, outcome, target, theirs, values
from processes import python

rng = np.random.default_rng(1)
COLUMNS = list("abcde")


def wide_indices(matrix):
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def unsorted(matrix):
    """Each row backwards, with a zero that is stored."""
    rows = [slice(a, b) for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)]
    first = int(np.flatnonzero(X[0] == 0)[0])
    data = np.concatenate([matrix.data[row][::-1] for row in rows] + [[]])
    indices = np.concatenate([matrix.indices[row][::-1] for row in rows])
    data, indices = np.r_[0.0, data], np.r_[first, indices].astype(np.int32)
    return sparse.csr_matrix((data, indices, np.r_[0, matrix.indptr[1:] + 1].astype(np.int32)), matrix.shape)


def halves(matrix):
    """Every entry twice, half of it each time."""
    coo = matrix.tocoo()
    return sparse.coo_matrix((np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), coo.shape)


DENSE = {
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": locked,
    "read-only F": lambda X: locked(np.asfortranarray(X)),
    "float16": lambda X: X.astype(np.float16),
    "big-endian": lambda X: X.astype(">f8"),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=COLUMNS),
    "pandas mixed": lambda X: pd.DataFrame(X, columns=COLUMNS).astype({"a": int, "c": np.float32}),
    "pandas Float64": lambda X: pd.DataFrame(X, columns=COLUMNS).astype("Float64"),
    "pandas Int64": lambda X: pd.DataFrame(X, columns=COLUMNS).astype("Int64"),
    "polars": lambda X: pl.DataFrame(X, schema=COLUMNS),
    "polars mixed": lambda X: pl.DataFrame(X, schema=COLUMNS).with_columns(pl.col("b").cast(pl.Int16)),
}
SPARSE = {
    "csr_array": sparse.csr_array,
    "csr, int64 indices": lambda S: wide_indices(sparse.csr_matrix(S)),
    "csr_array, int64 indices": lambda S: wide_indices(sparse.csr_array(S)),
    "csr, unsorted": unsorted,
    "csr, int": lambda S: S.astype(np.int32),
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "coo, repeated": halves,
    "lil": sparse.lil_matrix,
    "dok": sparse.dok_matrix,
    "bsr": sparse.bsr_matrix,
    "pandas": pd.DataFrame.sparse.from_spmatrix,
}


@pytest.mark.parametrize("name", NAMES)
def test_dense_containers_give_the_same_bits(name):
    y = target(name, X)
    model = ours(name).fit(X, y)
    for container in DENSE.values():
        assert_same_after(model, ours(name).fit(container(X), y), X, container(X))


@pytest.mark.parametrize("name", NAMES)
def test_sparse_containers_give_the_same_bits(name):
    y, S = target(name, X), sparse.csr_matrix(X)
    model = ours(name).fit(S, y)
    for container in SPARSE.values():
        before = container(S.copy())
        given = before.copy()
        other = ours(name).fit(given, y)
        assert_same_after(model, other, S, given)
        np.testing.assert_array_equal(model.predict(X), other.predict(S))  # dense rows for a sparse model
        if not isinstance(given, pd.DataFrame):
            assert given.nnz == before.nnz  # the caller's matrix is as it was


@pytest.mark.parametrize("name", NAMES)
def test_single_precision(name):
    """The same numbers in float32: the same gamma to the last bit, another order of the samples, the same optimum."""
    y = target(name, X)
    model = ours(name, tol=1e-8).fit(X, y)
    for single in (X.astype(np.float32), locked(X.astype(np.float32)), pd.DataFrame(X.astype(np.float32))):
        other = ours(name, tol=1e-8).fit(single, y)
        assert other._gamma == model._gamma
        assert other.support_vectors_.dtype == np.float32
        np.testing.assert_allclose(other.dual_objective_, model.dual_objective_, rtol=1e-9)
        np.testing.assert_allclose(values(other, single), values(model, X), atol=1e-5)
    csr = ours(name, tol=1e-8).fit(sparse.csr_matrix(X, dtype=np.float32), y)
    np.testing.assert_allclose(csr.dual_objective_, model.dual_objective_, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", lambda X, Z: X @ Z.T])
@pytest.mark.parametrize("name", NAMES)
def test_float32_rows_have_the_values_of_the_same_rows_in_float64(name, kernel):
    """Also with the largest coefficients, whose sum would show every rounding of a float32 value."""
    generator = np.random.default_rng(3)
    large = {} if name in ("NuSVC", "OneClassSVM") else {"C": 1e5}
    model = ours(name, kernel=kernel, max_iter=50_000, **large)
    samples, rows = (generator.normal(size=(n, 4)).astype(np.float32) for n in (120, 300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the limit of updates
        model.fit(samples, target(name, samples))
    for some in (rows, rows[:1], np.asfortranarray(rows)):
        np.testing.assert_array_equal(values(model, some), values(model, some.astype(np.float64)))
        np.testing.assert_array_equal(model.predict(some), model.predict(some.astype(np.float64)))


@pytest.mark.parametrize("name", NAMES)
def test_memmaps_are_read_only_and_enough(name, tmp_path):
    """Files opened for reading: a write would be an error, or the end of the process."""
    y, weight = target(name, X), np.linspace(0.5, 2.0, len(X))
    model = ours(name).fit(X, y, sample_weight=weight)
    joblib.dump((X, y, weight, sparse.csr_matrix(X), X.astype(np.float32)), tmp_path / "data")
    maps = joblib.load(tmp_path / "data", mmap_mode="r")
    assert isinstance(maps[0], np.memmap)
    assert_same_after(model, ours(name).fit(maps[0], maps[1], sample_weight=maps[2]), X, maps[0])
    csr = ours(name).fit(sparse.csr_matrix(X), y, sample_weight=weight)
    assert_same_after(csr, ours(name).fit(maps[3], maps[1], sample_weight=maps[2]), sparse.csr_matrix(X), maps[3])
    narrow = ours(name).fit(X.astype(np.float32), y, sample_weight=weight)
    assert_same_after(narrow, ours(name).fit(maps[4], maps[1], sample_weight=maps[2]), X.astype(np.float32), maps[4])
    joblib.dump(model, tmp_path / "model")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model", mmap_mode="r").predict(maps[0]), model.predict(X))


def test_nothing_is_compiled_again_for_read_only_arrays():
    """They are another type for numba, which would take seconds."""
    y, K, S = target("SVC", X), RBF(0.1)(X), sparse.csr_matrix(X)
    frozen = sparse.csr_matrix((locked(S.data), locked(S.indices), locked(S.indptr)), S.shape)
    compiled = (tiles.accumulate, *panels.PRODUCTS.values(), panels.pack, panels.squared_norms, hash_sparse)
    for kernel, given, twin in (("rbf", X, locked(X)), ("precomputed", K, locked(K)), ("rbf", S, frozen)):
        model = SVC(kernel=kernel).fit(given, y)
        model.predict(given)
        before = [len(function.signatures) for function in compiled]
        assert_same_after(model, SVC(kernel=kernel).fit(twin, y), given, twin)
        assert [len(function.signatures) for function in compiled] == before


TARGETS = {
    "list": list,
    "Series": pd.Series,
    "Series with another index": lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    "polars": pl.Series,
    "read-only": locked,
    "nullable": lambda y: pd.Series(y).convert_dtypes(),
}
LABELS = {
    "strings": lambda y: np.array(["low", "mid", "high"])[y],
    "string objects": lambda y: np.array(["low", "mid", "high"], object)[y],
    "pandas strings": lambda y: pd.Series(np.array(["low", "mid", "high"])[y], dtype="string"),
    "categories": lambda y: pd.Series(np.array(["low", "mid", "high"])[y], dtype="category"),
    "polars strings": lambda y: pl.Series(np.array(["low", "mid", "high"])[y].tolist()),
    "floats": lambda y: y * 1.0,
    "truth values": lambda y: y > 0,
    "nullable truth values": lambda y: pd.Series(y > 0, dtype="boolean"),
}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "OneClassSVM"])
def test_targets(name):
    y = target(name, X)
    model = ours(name).fit(X, y)
    for container in TARGETS.values():
        assert_same_after(model, ours(name).fit(X, container(y)), X, X)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert_same(model, ours(name).fit(X, y[:, None]))
    several = name in ("SVR", "NuSVR", "SVC")  # they take many targets or labels
    for bad in (() if several else (np.c_[y, y],)) + (y.astype(object),):  # no labels, but they may be numbers
        found = [outcome(make(name), lambda m, bad=bad: m.fit(X, bad))[:2] for make in (ours, theirs)]
        assert found[0] == found[1]


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_labels(name, kind):
    y = LABELS[kind](target(name, X))
    model, peer = ours(name).fit(X, y), theirs(name).fit(X, y)
    assert model.classes_.dtype == peer.classes_.dtype
    np.testing.assert_array_equal(model.classes_, peer.classes_)
    assert model.predict(X).dtype == peer.predict(X).dtype
    assert (model.predict(X) == peer.predict(X)).mean() > 0.95


WEIGHTS = {
    "list": list,
    "Series": lambda w: pd.Series(w, index=np.arange(len(w))[::-1]),
    "nullable": lambda w: pd.Series(w, dtype="Float64"),
    "polars": pl.Series,
    "strided": lambda w: np.repeat(w, 2)[::2],
    "read-only": locked,
}


@pytest.mark.parametrize("name", NAMES)
def test_weights(name):
    y, weight = target(name, X), rng.integers(1, 4, len(X)) * 0.5
    model = ours(name).fit(X, y, sample_weight=weight)
    for container in WEIGHTS.values():
        assert_same(model, ours(name).fit(X, y, sample_weight=container(weight)))
    whole = ours(name).fit(X, y, sample_weight=rng.integers(1, 3, len(X)))
    assert not np.array_equal(whole.support_, model.support_) or not np.array_equal(
        dense(whole.dual_coef_), dense(model.dual_coef_)
    )


ARRAY_API = """
import sys
import warnings
import array_api_strict as xp
import numpy as np
import sklearn
from machines import NAMES, X, assert_same, ours, outcome, target, theirs

sklearn.set_config(array_api_dispatch=True)
for name in NAMES:
    y = target(name, X)
    act = lambda model: model.fit(xp.asarray(X), y if y is None else xp.asarray(y)).predict(xp.asarray(X))
    first, second = (outcome(make(name), act)[:2] for make in (ours, theirs))
    assert first == second, (name, first, second)
    print(name, "is as in scikit-learn")
"""


def test_array_api():
    """Arrays of other libraries are turned into numpy's; with dispatch on, what happens is what sklearn.svm does."""
    for name in NAMES:
        y = target(name, X)
        model = ours(name).fit(xp.asarray(X), y if y is None else xp.asarray(y))
        assert_same_after(ours(name).fit(X, y), model, X, xp.asarray(X))
    done = python("-c", ARRAY_API, cwd=Path(__file__).parents[1], SCIPY_ARRAY_API=1)  # beside the helpers of the tests
    assert done.stdout.splitlines() == [f"{name} is as in scikit-learn" for name in NAMES]


@pytest.mark.parametrize("weights", [{"1": 1.0, "2": 6.0}, {"2": 6.0}, {"1": 1.0, "3": 2.0}])
@pytest.mark.parametrize("name", ["SVC", "NuSVC", "IncrementalSVC"])
def test_names_of_classes_that_are_digits_stay_names(name, weights):
    X = np.random.default_rng(0).normal(size=(60, 3))
    codes = (X[:, 0] > 0.8).astype(int)
    letters = {"1": "a", "2": "b", "3": "c"}
    renamed = {letters[key]: weight for key, weight in weights.items()}
    kind = getattr(adatron, name)
    parameters = {"nu": 0.1} if name == "NuSVC" else {}
    if "3" in weights:
        with pytest.raises(ValueError, match=r"The classes, \['2'\], are not in class_weight"):
            kind(class_weight=weights, **parameters).fit(X, np.array(["1", "2"])[codes])
        return
    by_digits = kind(class_weight=weights, **parameters).fit(X, np.array(["1", "2"])[codes])
    by_letters = kind(class_weight=renamed, **parameters).fit(X, np.array(["a", "b"])[codes])
    np.testing.assert_array_equal(by_digits.decision_function(X), by_letters.decision_function(X))
    np.testing.assert_array_equal(by_digits.class_weight_, by_letters.class_weight_)
