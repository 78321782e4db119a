"""Networks decide as their models do.

Also tested here: ``decisions`` and ``kernels``.
"""

import numpy as np
import onnx
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError

from adatron import (
    SVC,
    SVDD,
    SVR,
    IncrementalNuSVC,
    IncrementalOneClassSVM,
    IncrementalSVC,
    IncrementalSVDD,
    IncrementalSVR,
    InputMarginSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    QuantileSVR,
    load,
    to_onnx,
)
from adatron.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from covering import parametrized

KERNELS = (
    RBF(0.3),
    Linear(),
    Polynomial(0.2, 3, 1.0),
    Polynomial(0.2, 11, 0.5),
    Polynomial(0.1, 0, 0.0),
    Sigmoid(0.05, 0.1),
    Laplacian(0.2),
    RBF(1e3),
    Polynomial(1.0 + 1e-9, 2, 0.0) + (1.0 - 1e-9) * Linear(),  # onnxruntime drops a factor that is 1 in float32
    RBF(0.3) + 2 * Linear(),
    0.5 * Laplacian(0.1) * RBF(0.01) + RBF(0.3) * Polynomial(0.1, 2, 1.0),
)
MACHINES = (
    SVC(C=2.0),
    SVC(decision_function_shape="ovo"),
    SVC(break_ties=True),
    SVC(multi_class="ovr"),
    SVC(probability=True),
    SVC(probability=True, multi_class="ovr"),
    SVC(precision="single", bias="augmented"),
    NuSVC(nu=0.2, class_weight="balanced"),
    SVR(),
    NuSVR(),
    QuantileSVR(quantile=0.2),
    QuantileSVR(quantile=[0.6, 0.4, 0.5], C=1e3),
    QuantileSVR(quantile=[0.6, 0.4, 0.5], C=1e3, rearrange=True),
    OneClassSVM(nu=0.2),
    SVDD(nu=0.2),
)


def agree(found, model, X):
    """Labels are equal, and values to rounding; a value of 0 but for rounding has no label."""
    if is_regressor(model):
        np.testing.assert_allclose(found["prediction"], model.predict(X), rtol=0, atol=1e-10)
        return
    values = model.decision_function(X)
    np.testing.assert_allclose(found["decision"], values, rtol=1e-10, atol=1e-10)
    sure = np.abs(values.reshape(len(X), -1)).min(axis=1) > 1e-9
    np.testing.assert_array_equal(found["label"][sure], model.predict(X)[sure])
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=0, atol=1e-12)
        best = model.classes_[np.argmax(found["probabilities"], axis=1)]
        np.testing.assert_array_equal(best, found["label"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrized(kernel=KERNELS, machine=MACHINES, classes=(2, 3))
def test_every_machine_and_kernel(kernel, machine, classes, three, answer):
    X, y = three
    model = (
        clone(machine)
        .set_params(kernel=kernel)
        .fit(X, X[:, 0] if is_regressor(machine) else y != "red" if classes == 2 else y)
    )
    network = to_onnx(model)
    onnx.checker.check_model(network, full_check=True)
    model.precision = "double"
    agree(answer(network, three[0] + 0.1), model, three[0] + 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "machine",
    [
        IncrementalSVC(),
        IncrementalNuSVC(nu=0.2),
        IncrementalSVR(),
        IncrementalOneClassSVM(nu=0.3),
        IncrementalSVDD(nu=0.3, kernel="linear"),
        InputMarginSVC(gamma=0.3),
        InputMarginSVC(gamma=0.3, kernel="poly", coef0=1.0),
        InputMarginSVC(gamma=0.3, algorithm="simplified", multi_class="ovr"),
    ],
    ids=str,
)
def test_machines_that_learn_and_machines_of_the_input_space(machine, classes, three, answer):
    X, y = three[0][:60, :2], three[1][:60]
    y = y != "red" if classes == 2 else y
    model = machine.fit(X, X[:, 0] if is_regressor(machine) else y)
    agree(answer(to_onnx(model), X + 0.1), model, X + 0.1)


def test_a_compact_model_has_a_smaller_network(three, answer):
    X, y = three[0].round(), three[1]
    model = SVC(multi_class="ovr").fit(X, y)
    small = model.compact()
    agree(answer(to_onnx(small), X), small, X)
    assert to_onnx(small).ByteSize() < to_onnx(model).ByteSize()
    pairs = SVC().fit(X, y).compact()
    agree(answer(to_onnx(pairs), X), pairs, X)


def test_sparse_data_have_a_network_for_dense_rows(answer):
    rng = np.random.default_rng(0)
    X = sparse.random(120, 50, 0.1, format="csr", random_state=0)
    for kernel in ("rbf", "linear", "laplacian"):
        model = SVC(kernel=kernel).fit(X, rng.integers(3, size=120))
        agree(answer(to_onnx(model, X), X.toarray()), model, X.toarray())


def test_a_model_without_support_vectors_is_a_constant(answer):
    X = np.random.default_rng(0).normal(size=(20, 3))
    for kernel in ("rbf", "linear"):
        model = SVR(kernel=kernel, epsilon=100.0).fit(X, X[:, 0])
        assert not len(model.support_)
        agree(answer(to_onnx(model), X), model, X)


def test_distances_of_clusters_far_from_each_other_do_not_cancel(answer):
    """By norms and products their error would be 1e-4."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 1e6])
    model = SVC(gamma=0.5, C=10.0).fit(X, rng.integers(2, size=80))
    agree(answer(to_onnx(model, X), X), model, X)
    shifted = SVC(gamma=0.5).fit(X[40:], rng.integers(2, size=40))
    agree(answer(to_onnx(shifted), X[40:]), shifted, X[40:])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float64, str, object])
def test_labels_keep_their_type(dtype, three, answer):
    X, y = three
    kinds = {bool: y == "red", str: y, object: y.astype(object)}
    y = kinds[dtype] if dtype in kinds else np.unique(y, return_inverse=True)[1].astype(dtype)
    model = SVC().fit(X, y)
    found = answer(to_onnx(model), X)["label"]
    np.testing.assert_array_equal(found, model.predict(X))
    assert found.dtype == (object if dtype is str else np.dtype(dtype))


def test_equal_votes_go_to_the_first_class(answer):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.arange(80) % 4
    model = SVC(gamma=0.5, C=10.0).fit(X, y)
    rows = 2.0 * rng.normal(size=(500, 2))
    votes = np.sort(np.round(model.decision_function(rows)), axis=1)
    assert np.count_nonzero(votes[:, -1] == votes[:, -2]) > 5
    agree(answer(to_onnx(model), rows), model, rows)


def test_many_classes_have_no_table_of_all_pairs(answer):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 40
    model = SVC(C=10.0).fit(X, y)
    network = to_onnx(model, X)
    agree(answer(network, X), model, X)
    assert network.ByteSize() < 8 * 780 * len(model.support_)


def test_a_network_tells_of_its_model(three, about):
    X, y = three
    model = SVC(kernel=RBF(0.2) + Linear()).fit(X, y)
    found = about(to_onnx(model, X))
    assert found["model"] == "SVC"
    assert found["kernel"] == model.kernel_.spec()
    assert found["certificate"]["duality_gap"] == model.duality_gap_.tolist()
    parity = found["parity"]
    assert (parity["rows"], parity["labels_differ"]) == (150, 0)
    assert 0.0 <= parity["deviation"] < 1e-14
    assert found["feature_names"] == []


def test_what_is_not_proven_is_not_a_number_of_json(three, about, tmp_path):
    from adatron.files import save_libsvm

    save_libsvm(SVC().fit(three[0], np.unique(three[1], return_inverse=True)[1]), tmp_path / "a.model")
    assert about(to_onnx(load(tmp_path / "a.model")))["certificate"]["duality_gap"] == ["nan"] * 3


def test_names_of_features_are_kept(three, about):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(three[0], columns=list("abcd"))
    model = SVC().fit(frame, three[1])
    for X in (None, frame, three[0]):
        assert about(to_onnx(model, X))["feature_names"] == list("abcd")


def test_a_network_is_written_whole_or_not_at_all(three, answer, tmp_path):
    X, y = three
    path = tmp_path / "a.onnx"
    model = SVC().fit(X, y)
    to_onnx(model, X, path)
    agree(answer(str(path), X), model, X)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="Python function"):
        to_onnx(SVC(kernel=lambda A, B: A @ B.T).fit(X, y), X, path)
    assert path.read_bytes() == before
    to_onnx(model, X, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_export_changes_nothing(three):
    X, y = three
    model = SVC(precision="single").fit(X, y)
    before = {name: id(value) for name, value in vars(model).items()}
    to_onnx(model, X)
    assert {name: id(value) for name, value in vars(model).items()} == before


@pytest.mark.parametrize(
    ("model", "error", "text"),
    [
        (SVC(), NotFittedError, "not fitted"),
        (SVC(kernel=lambda A, B: A @ B.T), ValueError, "Use a named kernel, or sums and products"),
        (SVC(kernel="precomputed"), ValueError, "kernel='precomputed' has no network"),
        (SVC(kernel=Precomputed()), ValueError, "takes rows of features"),
        (SVC(break_ties=True, decision_function_shape="ovo"), ValueError, "break_ties must be False"),
    ],
)
def test_what_has_no_network_says_why(model, error, text, three):
    X, y = three
    if error is not NotFittedError:
        model.fit(X @ X.T if "precomputed" in str(model).lower() else X, y)
    with pytest.raises(error, match=text):
        to_onnx(model)


def test_samples_that_are_no_rows_have_no_network():
    def common(A, B):
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])

    model = SVC(kernel=common).fit(["ab", "bc", "xy", "yz"], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="takes other samples"):
        to_onnx(model)


def test_wrong_arguments(three):
    model = SVC().fit(*three)
    with pytest.raises(TypeError, match="takes an estimator of adatron, a pipeline"):
        to_onnx(3)
    with pytest.raises(ValueError, match="Expected 2D array"):
        to_onnx(model, three[0][0])
    with pytest.raises(ValueError, match="3 features"):
        to_onnx(model, three[0][:, :3])


def test_a_model_that_is_too_large_for_a_file_says_so():
    X = sparse.csr_matrix(np.eye(4))
    X = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(4, 2**27))
    model = SVC().fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="less than 2 GiB"):
        to_onnx(model)
