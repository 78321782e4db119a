"""Models for machines with scikit-learn alone: the same decisions, and nothing of this library inside."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone, is_regressor
from sklearn.metrics.pairwise import rbf_kernel

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.files import load, save_libsvm
from adatron.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from machines import altered, dense, values
from processes import python

STORAGES = pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, sparse.csr_array])
KERNELS = {
    "rbf": {"gamma": 0.3},
    "scale": {},
    "auto": {"gamma": "auto"},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.2, "degree": 2, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.1},
    "RBF": {"kernel": RBF(0.2)},
    "Linear": {"kernel": Linear(), "gamma": 3.0},
    "Polynomial": {"kernel": Polynomial(degree=2, gamma=0.3, coef0=0.5), "degree": 5},
    "Sigmoid": {"kernel": Sigmoid(gamma=0.05, coef0=0.1)},
}
MODELS = {
    "two classes": (2, SVC(C=2.0)),
    "two of nu": (2, NuSVC(nu=0.3, bias="augmented", class_weight="balanced")),
    "one against one": (4, SVC(C=2.0, decision_function_shape="ovo")),
    "votes": (4, SVC(C=2.0, class_weight={0: 2.0})),
    "ties": (4, SVC(C=2.0, break_ties=True)),
    "four of nu": (4, NuSVC(nu=0.2)),
    "two against the rest": (2, SVC(multi_class="ovr", bias="none")),
    "regression": (5, SVR(epsilon=0.5, bias="augmented")),
    "regression of nu": (5, NuSVR(nu=0.4)),
    "one class": (2, OneClassSVM(nu=0.3)),
    "linear": (4, SVC(kernel="linear")),
    "two, linear": (2, SVC(kernel="linear")),
    "no support vectors": (5, SVR(epsilon=10.0)),
}


def samples(n_classes, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * (rng.random((n, 4)) < 0.7)
    y = np.clip(np.round(X[:, 0] * n_classes / 3 + n_classes / 2 + 0.3 * rng.normal(size=n)), 0, n_classes - 1)
    return X, y.astype(int)


def fresh():
    return samples(2, 300, 1)[0]


def check_same(theirs, model, X):
    assert type(theirs) is getattr(svm, type(model).__name__)
    size = 1.0 + np.abs(model.model_.coefficients()).sum()
    found = values(model, X)
    np.testing.assert_allclose(values(theirs, X), found, rtol=1e-10, atol=1e-12 * size)
    if not is_regressor(model):
        sure = np.abs(found) > 1e-12 * size if found.ndim == 1 else slice(None)  # a value of 0 has no sign
        np.testing.assert_array_equal(theirs.predict(X)[sure], model.predict(X)[sure])
    if model.kernel == "linear":
        np.testing.assert_allclose(dense(theirs.coef_), dense(model.coef_), atol=1e-12)


@STORAGES
@pytest.mark.parametrize("name", MODELS)
def test_decisions_are_the_same(name, storage):
    n_classes, model = MODELS[name]
    X, y = samples(n_classes)
    model = clone(model).fit(storage(X), y)
    check_same(model.to_sklearn(), model, storage(fresh()))
    check_same(pickle.loads(pickle.dumps(model.to_sklearn())), model, storage(fresh()))  # noqa: S301 (our own)


@pytest.mark.filterwarnings("ignore:.*not positive semi-definite")
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", KERNELS)
def test_all_kernels_of_libsvm(kernel, storage):
    for name in ("two classes", "votes", "regression"):
        n_classes, model = MODELS[name]
        X, y = samples(n_classes)
        model = clone(model).set_params(**KERNELS[kernel]).fit(storage(X), y)
        check_same(model.to_sklearn(), model, storage(fresh()))


@pytest.mark.parametrize("name", MODELS)
def test_given_kernel_values(name):
    n_classes, model = MODELS[name]
    X, y = samples(n_classes)
    for kernel in ("precomputed", Precomputed()):
        model = clone(model).set_params(kernel=kernel).fit(rbf_kernel(X), y)
        check_same(model.to_sklearn(), model, rbf_kernel(fresh(), X))


def kind(value):
    """What must be like scikit-learn's own: type, and of arrays also numbers and dimensions."""
    if sparse.issparse(value):
        return type(value), value.dtype
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.c_contiguous, value.size == 0
    return float if isinstance(value, float) else type(value)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, "precomputed"])
@pytest.mark.parametrize("name", MODELS)
def test_attributes_are_those_of_a_fit(name, storage):
    n_classes, model = MODELS[name]
    X, y = samples(n_classes)
    model = clone(model)
    if storage == "precomputed":
        X = rbf_kernel(X)
        model.set_params(kernel="precomputed")
    else:
        X = storage(X)
    ours = model.fit(X, y).to_sklearn()
    theirs = clone(ours).fit(X, y)
    # Ours may have more: what later releases of scikit-learn need.
    assert {a: kind(vars(ours).get(a)) for a in vars(theirs)} == {a: kind(v) for a, v in vars(theirs).items()}
    if ours._sparse:
        assert ours.support_vectors_.indices.dtype == theirs.support_vectors_.indices.dtype
    assert ours.n_support_.shape == theirs.n_support_.shape
    assert ours.n_support_.sum() == len(ours.support_)
    if ours.kernel != "precomputed":
        full = ours.support_vectors_.toarray() if sparse.issparse(X) else ours.support_vectors_
        np.testing.assert_array_equal(full, (X.toarray() if sparse.issparse(X) else X)[ours.support_])


ALONE = """
import pickle, sys
sys.modules["adatron"] = sys.modules["numba"] = None  # not installed here
import numpy as np
with open(sys.argv[1], "rb") as file:
    cases = pickle.load(file)
for model, X, expected in cases:
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)
print(len(cases))
"""


def test_scikit_learn_alone_is_enough(tmp_path):
    X, y = samples(3)
    some = (
        (SVC(kernel=RBF(0.2)), X),
        (NuSVC(nu=0.1), sparse.csr_matrix(X)),
        (OneClassSVM(), X),
        (SVC(kernel="precomputed"), X @ X.T),
    )
    cases = [(m.fit(Z, y).to_sklearn(), Z, m.decision_function(Z)) for m, Z in some]
    (tmp_path / "cases").write_bytes(pickle.dumps(cases))
    assert python("-c", ALONE, tmp_path / "cases").stdout.strip() == "4"


def test_parameters_are_carried_over_and_a_new_fit_is_scikit_learns_own():
    X, y = samples(4)
    theirs = SVC(C=3.0, kernel=RBF(0.2), tol=1e-4, break_ties=True, class_weight="balanced").fit(X, y).to_sklearn()
    expected = {"C": 3.0, "kernel": "rbf", "gamma": 0.2, "tol": 1e-4, "break_ties": True, "class_weight": "balanced"}
    assert {name: theirs.get_params()[name] for name in expected} == expected
    own = svm.SVC(**expected, cache_size=1000).fit(X, y)
    np.testing.assert_array_equal(theirs.fit(X, y).decision_function(X), own.decision_function(X))
    assert not hasattr(SVC(probability=True).fit(X, y).to_sklearn(), "predict_proba")  # deprecated there


def test_text_as_classes_and_names_of_features():
    pandas = pytest.importorskip("pandas")
    X, y = samples(3)
    X = pandas.DataFrame(X, columns=list("abcd"))
    model = SVC().fit(X, np.array(["x", "y", "z"])[y])
    check_same(model.to_sklearn(), model, X)
    with pytest.raises(ValueError, match="feature names"):
        model.to_sklearn().predict(X[list("dcba")])


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_a_hard_margin(storage):
    X, _ = samples(2)
    model = SVC(C=np.inf, kernel="linear").fit(storage(X), X[:, 0] + X[:, 1] > 0.1)
    assert np.isinf(model.to_sklearn().C)
    check_same(model.to_sklearn(), model, storage(fresh()))


def test_single_precision_becomes_double():
    X, y = samples(3)
    model = SVC(precision="single").fit(X.astype(np.float32), y)
    check_same(model.to_sklearn(), model.set_params(precision="double"), fresh())


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("name", ["two classes", "two of nu", "regression", "regression of nu", "one class"])
def test_compact_models_of_one_problem(name, kernel, storage):
    n_classes, model = MODELS[name]
    X, y = samples(n_classes)
    X = np.concatenate([X, X[:30]])
    model = clone(model).set_params(kernel=kernel).fit(storage(X), np.concatenate([y, y[:30]]))
    check_same(model.compact().to_sklearn(), model, storage(fresh()))


def test_a_compact_model_of_given_values():
    X, _ = samples(2)
    K = rbf_kernel(X)
    small = OneClassSVM(nu=0.2, kernel="precomputed").fit(K).compact()
    check_same(small.to_sklearn(), small, K[:, small.support_])


def test_models_of_libsvm(tmp_path):
    X, y = samples(3)
    save_libsvm(SVC().fit(X, y), tmp_path / "rbf")
    model = load(tmp_path / "rbf")
    readout = replace(model.model_.readout, labels=model.classes_[::-1])  # the order of LIBSVM's labels is any
    model = altered(model, readout=readout)
    check_same(model.to_sklearn(), model, sparse.csr_matrix(fresh()))


def test_a_libsvm_model_of_given_values_must_be_compact(tmp_path):
    X, y = samples(2)
    K = rbf_kernel(X)
    save_libsvm(SVC(kernel="precomputed", C=100.0).fit(K, y), tmp_path / "given")
    model = load(tmp_path / "given")
    with pytest.raises(ValueError, match=r"Call compact\(\) first"):
        model.to_sklearn()
    small = model.compact()
    few = K[:, small.support_]
    check_same(small.to_sklearn(), small, few)
    np.testing.assert_allclose(small.decision_function(few), model.decision_function(K), atol=1e-9)
