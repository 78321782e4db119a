"""Compact models: smaller, with the same decisions."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.metrics.pairwise import rbf_kernel

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM, load, save
from adatron.cli import main
from adatron.files import save_libsvm
from adatron.kernels import RBF, Linear, Precomputed
from machines import dense, values


def repeated(n_classes, n=160, seed=0):
    """Samples on a coarse grid with classes drawn by lot: many are equal, in one class and across."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (n, 3)).astype(float), rng.integers(0, n_classes, n)


def user_kernel(A, B):
    return (np.asarray(A) @ np.asarray(B).T + 1.0) ** 2


MODELS = {
    "two classes": (2, SVC(C=2.0)),
    "two of nu": (2, NuSVC(nu=0.9, bias="augmented")),
    "one against one": (4, SVC(C=2.0, decision_function_shape="ovo")),
    "one against one of nu": (3, NuSVC(nu=0.9, decision_function_shape="ovo", kernel="poly", coef0=1.0)),
    "one against the rest": (4, SVC(C=2.0, multi_class="ovr", decision_function_shape="ovo", bias="none")),
    "votes": (4, SVC(C=2.0)),
    "ties": (4, SVC(C=2.0, break_ties=True)),
    "regression": (5, SVR(epsilon=0.5)),
    "regression of nu": (5, NuSVR(nu=0.4, gamma=0.3)),
    "one class": (2, OneClassSVM(nu=0.3)),
    "laplacian": (3, SVC(kernel="laplacian", gamma=0.3)),
    "linear": (4, SVC(kernel="linear", decision_function_shape="ovo")),
    "linear regression": (5, SVR(kernel="linear")),
    "kernel object": (3, SVC(kernel=0.5 * RBF(0.3) + Linear())),
}


def fitted(name, storage=np.asarray):
    n_classes, model = MODELS[name]
    X, y = repeated(n_classes)
    return clone(model).fit(storage(X), y)


def fresh(storage=np.asarray):
    return storage(np.random.default_rng(1).normal(size=(300, 3)))


def check_same(small, model, X, X_small=None):
    X_small = X if X_small is None else X_small
    size = 1.0 + np.abs(model.model_.coefficients()).sum()
    np.testing.assert_allclose(values(small, X_small), values(model, X), rtol=1e-12, atol=1e-13 * size)
    if not is_regressor(model):
        np.testing.assert_array_equal(small.predict(X_small), model.predict(X))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("name", MODELS)
def test_decisions_are_the_same_and_vectors_are_few(name, storage, tmp_path):
    model = fitted(name, storage)
    small = model.compact()
    vectors = dense(small.support_vectors_)
    assert type(small) is type(model)
    assert small.compact_
    assert not model.compact_
    assert len(vectors) < len(model.support_)
    assert len(np.unique(vectors, axis=0)) == len(vectors) == small.n_support_.sum() == small.dual_coef_.shape[1]
    assert sparse.issparse(small.dual_coef_) == sparse.issparse(small.support_vectors_) == (storage != np.asarray)
    check_same(small, model, fresh(storage))
    save(small, tmp_path / "m.adatron")
    again = load(tmp_path / "m.adatron")
    assert again.compact_
    np.testing.assert_array_equal(values(again, fresh(storage)), values(small, fresh(storage)))


def test_support_names_the_first_equal_sample():
    X, y = repeated(4)
    small = SVC(C=2.0).fit(X, y).compact()
    assert len(small.support_) > 0
    np.testing.assert_array_equal(small.support_vectors_, X[small.support_])
    assert (np.diff(small.support_) != 0).all()


def test_a_function_as_kernel():
    X, y = repeated(3)
    model = SVC(kernel=user_kernel).fit(X, y)
    assert len(model.compact().support_vectors_) < len(model.support_vectors_)
    check_same(model.compact(), model, fresh())


def test_coefficients_that_cancel_leave_no_vector():
    X = np.array([[0.0], [0.0], [1.0], [2.0], [-1.0], [-2.0]])
    model = SVC(C=1.0, gamma=1.0).fit(X, [0, 1, 1, 1, 0, 0])  # the first two are at their bounds
    assert (model.support_vectors_ == 0).sum() == 2
    assert not (model.compact().support_vectors_ == 0).any()
    check_same(model.compact(), model, fresh()[:, :1])


def test_the_estimator_stays_and_the_compact_model_can_be_fitted():
    model = fitted("one against one")
    before = dict(vars(model))
    small = model.compact()
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert small.duality_gap_ is model.duality_gap_
    twice = small.compact()
    assert twice is not small
    np.testing.assert_array_equal(values(twice, fresh()), values(small, fresh()))
    again = small.fit(*repeated(4))
    assert not again.compact_
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    assert not clone(model.compact()).compact_


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["linear", Linear()])
def test_a_linear_kernel_keeps_the_weights(kernel, storage):
    X, y = repeated(4)
    model = SVC(kernel=kernel).fit(storage(X), y)
    small = model.compact()
    expected = model.model_.coefficients() @ dense(model.support_vectors_)
    np.testing.assert_allclose(dense(small.support_vectors_), expected, atol=1e-12)
    np.testing.assert_array_equal(dense(small.dual_coef_), np.eye(6))
    assert len(small.support_) == 0
    if kernel == "linear":
        np.testing.assert_allclose(dense(small.coef_), dense(model.coef_), atol=1e-12)
    check_same(small.compact(), model, fresh(storage))


def test_a_linear_kernel_keeps_vectors_that_are_fewer_than_the_weights():
    X, y = np.eye(4), np.arange(4)
    small = SVC(kernel="linear").fit(X, y).compact()  # 6 pairs, 4 vectors
    np.testing.assert_array_equal(small.support_vectors_, X)


def test_a_linear_kernel_keeps_sparse_vectors_that_are_smaller_than_the_weights():
    X = sparse.random_array((60, 500), density=0.01, format="csr", random_state=0)
    model = SVC(kernel="linear", decision_function_shape="ovo").fit(X, np.arange(60) % 6)
    small = model.compact()
    assert len(model.support_) > 15  # there are fewer weights
    assert 0 < small.support_vectors_.nnz <= model.support_vectors_.nnz < model.coef_.nnz
    check_same(small, model, X)


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed()], ids=str)
def test_given_kernel_values_of_the_support_vectors_are_enough(kernel, tmp_path):
    X, y = repeated(4)
    Z = fresh()
    K, new = rbf_kernel(X, gamma=0.3), rbf_kernel(Z, X, gamma=0.3)
    model = SVC(kernel=kernel, C=0.3).fit(K, y)
    small = model.compact()
    few = new[:, small.support_]
    check_same(small, model, new, few)
    check_same(small.compact(), model, new, few)
    save(small, tmp_path / "m.adatron")
    np.testing.assert_array_equal(values(load(tmp_path / "m.adatron"), few), values(small, few))
    model.predict(new)  # still takes all


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed()], ids=str)
def test_samples_that_are_no_support_vectors_need_no_kernel_values(kernel):
    X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, (50, 2)) for c in (-2, 2)])
    K = X @ X.T
    model = SVC(kernel=kernel).fit(K, np.repeat([0, 1], 50))
    small = model.compact()
    n = len(small.support_)
    assert small.n_features_in_ == n < 20
    check_same(small, model, K, K[:, small.support_])
    with pytest.raises(ValueError, match=f"100 features, but SVC is expecting {n} features"):
        small.predict(K)


def test_names_of_the_columns_of_given_values():
    pandas = pytest.importorskip("pandas")
    X, _ = repeated(2)
    K = pandas.DataFrame(rbf_kernel(X)).rename(columns="sample {}".format)
    model = OneClassSVM(kernel="precomputed", nu=0.1).fit(K)
    small = model.compact()
    few = K.iloc[:, small.support_]
    assert list(small.feature_names_in_) == list(few.columns)
    assert len(few.columns) < len(K)
    check_same(small, model, K, few)
    with pytest.raises(ValueError, match="feature names"):
        small.predict(few.iloc[:, ::-1])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_a_model_without_support_vectors(kernel):
    X = fresh()[:20]
    X = X @ X.T if kernel == "precomputed" else X
    model = SVR(kernel=kernel, epsilon=10.0).fit(X, np.linspace(0.0, 1.0, 20))
    small = model.compact()
    assert len(model.support_) == small.n_support_.sum() == 0
    check_same(small, model, X, X[:, small.support_] if kernel == "precomputed" else X)


def test_vectors_that_a_libsvm_model_repeats(tmp_path):
    X, y = repeated(2)
    K = rbf_kernel(X)
    path = tmp_path / "model"
    save_libsvm(SVC(kernel="precomputed").fit(K, y), path)
    lines = path.read_text().splitlines()
    repeat = [*lines, lines[-1]]  # one more vector of the last class, of the same number
    counts = next(i for i, line in enumerate(lines) if line.startswith("nr_sv"))
    total = next(i for i, line in enumerate(lines) if line.startswith("total_sv"))
    a, b = map(int, lines[counts].split()[1:])
    repeat[counts], repeat[total] = f"nr_sv {a} {b + 1}", f"total_sv {a + b + 1}"
    path.write_text("\n".join(repeat) + "\n")
    model = load(path)
    small = model.compact()
    assert len(small.support_) == len(model.support_) - 1
    check_same(small, model, K, K[:, small.support_])


@pytest.mark.parametrize("precision", ["auto", "single"])
def test_single_precision(precision):
    X, y = repeated(4)
    model = SVC(precision=precision, decision_function_shape="ovo").fit(X.astype(np.float32), y)
    Z = fresh().astype(np.float32)
    size = np.abs(model.model_.coefficients()).sum(axis=1).max()
    np.testing.assert_allclose(values(model.compact(), Z), values(model, Z), atol=1e-6 * size)


@pytest.mark.parametrize("name", ["one against one", "linear"])
def test_the_tool_describes_a_compact_model(name, tmp_path, capsys):
    small = fitted(name).compact()
    path = str(tmp_path / "m.adatron")
    save(small, path)
    assert main(["info", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["support_vectors"] == small.n_support_[0]
    assert main(["info", path]) == 0
    assert f"{small.n_support_[0]} (merged: {small.n_support_[0]})" in capsys.readouterr().out
