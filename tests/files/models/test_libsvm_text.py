"""LIBSVM's model text: what is written there predicts the same there, and the reverse.

Also tested here: ``conversions/adopt``.
"""

import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.cli import main
from adatron.files import ModelFileError, load, save, save_libsvm
from adatron.files.models.libsvm_text import load_libsvm
from adatron.kernels import RBF
from twins import libsvm

KERNELS = {
    "linear": ["-t", "0"],
    "poly": ["-t", "1", "-g", "0.2", "-r", "1", "-d", "2"],
    "rbf": ["-t", "2", "-g", "0.2"],
    "sigmoid": ["-t", "3", "-g", "0.05", "-r", "0.1"],
    "precomputed": ["-t", "4"],
}
PARAMETERS = {
    "linear": {},
    "poly": {"gamma": 0.2, "coef0": 1.0, "degree": 2},
    "rbf": {"gamma": 0.2},
    "sigmoid": {"gamma": 0.05, "coef0": 0.1},
    "precomputed": {},
}
TRAIN, PREDICT = shutil.which("svm-train") or "", shutil.which("svm-predict") or ""
tools = pytest.mark.skipif(
    not (TRAIN and PREDICT), reason="svm-train and svm-predict are not there: install the Debian package libsvm-tools"
)


def samples(n_classes):
    X, y = make_classification(240, 6, n_informative=4, n_classes=n_classes, n_redundant=0, flip_y=0.1, random_state=3)
    return X.round(3), np.array([7, -1, 3, 0])[y]  # an order that is not the sorted one


def split(kernel, n_classes):
    """Training and test samples, as kernel values for a precomputed kernel."""
    X, y = samples(n_classes)
    train, test = X[:160], X[160:]
    if kernel == "precomputed":
        train, test = RBF(0.2)(train), RBF(0.2)(test, train)
    return train, y[:160], test, y[160:]


def write_data(path, X, y, kernel):
    if kernel == "precomputed":  # LIBSVM wants the sample's number as feature 0
        X = np.column_stack([np.arange(1, len(X) + 1), X])
    dump_svmlight_file(X, y, str(path), zero_based=kernel == "precomputed")


def svm_train(*words):
    subprocess.run([TRAIN, *map(str, words)], check=True, capture_output=True)


def svm_predict(data, model, out):
    subprocess.run([PREDICT, str(data), str(model), str(out)], check=True, capture_output=True)
    return np.loadtxt(out)


@tools
@pytest.mark.parametrize(("kind", "n_classes"), [("0", 4), ("1", 2)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_model_of_svm_train_predicts_the_same_here(kind, kernel, n_classes, tmp_path):
    X, y, X_test, y_test = split(kernel, n_classes)
    write_data(tmp_path / "train", X, y, kernel)
    write_data(tmp_path / "data", X_test, y_test, kernel)
    svm_train("-s", kind, "-n", "0.4", "-c", "3", *KERNELS[kernel], tmp_path / "train", tmp_path / "model")
    theirs = svm_predict(tmp_path / "data", tmp_path / "model", tmp_path / "out")
    model = load(tmp_path / "model", n_features=6)
    assert np.array_equal(theirs, model.predict(X_test))
    assert set(model.classes_.tolist()) == set(y.tolist())


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", PARAMETERS)
@pytest.mark.filterwarnings("ignore:.*positive semi-definite:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_there_and_back(kernel, n_classes, tmp_path):
    X, y, X_test, y_test = split(kernel, n_classes)
    model = SVC(kernel=kernel, decision_function_shape="ovo", C=3.0, **PARAMETERS[kernel]).fit(X, y)
    save_libsvm(model, tmp_path / "model")
    if PREDICT:
        write_data(tmp_path / "data", X_test, y_test, kernel)
        theirs = svm_predict(tmp_path / "data", tmp_path / "model", tmp_path / "out")
        assert np.array_equal(theirs, model.predict(X_test))
    back = load(tmp_path / "model").set_params(decision_function_shape="ovo")
    assert np.array_equal(back.intercept_, model.intercept_)
    assert np.array_equal(back.n_support_, model.n_support_)
    assert np.isnan(back.duality_gap_).all()
    assert np.allclose(back.decision_function(X_test), model.decision_function(X_test), rtol=1e-12, atol=1e-12)
    save_libsvm(back, tmp_path / "again")
    assert (tmp_path / "again").read_text() == (tmp_path / "model").read_text()


OTHERS = {"1": NuSVC(nu=0.7), "2": OneClassSVM(nu=0.3), "3": SVR(epsilon=0.2), "4": NuSVR(nu=0.4)}


@tools
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("kind", OTHERS)
def test_models_of_the_other_kinds_predict_the_same_there_and_here(kind, kernel, tmp_path):
    X, y, X_test, y_test = split(kernel, 2)
    write_data(tmp_path / "train", X, y, kernel)
    write_data(tmp_path / "data", X_test, y_test, kernel)
    svm_train("-s", kind, "-n", "0.4", "-p", "0.2", *KERNELS[kernel], tmp_path / "train", tmp_path / "theirs")
    model = load(tmp_path / "theirs", n_features=6)
    assert type(model) is type(OTHERS[kind])
    expected = svm_predict(tmp_path / "data", tmp_path / "theirs", tmp_path / "out")
    assert np.allclose(model.predict(X_test), expected, rtol=1e-5, atol=1e-6)
    ours = clone(OTHERS[kind]).set_params(kernel=kernel, **PARAMETERS[kernel]).fit(X, y)
    save_libsvm(ours, tmp_path / "ours")
    there = svm_predict(tmp_path / "data", tmp_path / "ours", tmp_path / "out")
    assert np.allclose(ours.predict(X_test), there, rtol=1e-5, atol=1e-6)
    back = load(tmp_path / "ours", n_features=6)
    save_libsvm(back, tmp_path / "again")
    assert (tmp_path / "again").read_text() == (tmp_path / "ours").read_text()
    save(back, tmp_path / "back")
    assert np.array_equal(load(tmp_path / "back").predict(X_test), back.predict(X_test))


ALONE = "svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 1\nSV\n1 1:1\n1 2:1\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rho 1", "rho 1 2", "rho must have 1 values"),
        ("rho 1\n", "", "rho is missing"),
        ("total_sv 2", "total_sv 3", "2 support vectors found, 3 announced"),
        ("1 2:1", "one 2:1", "line 8: damaged"),
    ],
)
def test_damaged_text_without_classes_is_refused(old, new, message, tmp_path):
    path = tmp_path / "model"
    path.write_text(ALONE)
    assert load(path).predict([[2.0, 1.0], [0.0, 0.5]]).tolist() == [1, -1]
    path.write_text(ALONE.replace(old, new))
    with pytest.raises(ModelFileError, match=message):
        load(path)


@tools
def test_kernel_values_in_libsvm_s_own_form(tmp_path, capsys):
    """The tool reads the files that svm-train reads, in which each row begins with its number."""
    X, y, X_test, y_test = split("precomputed", 4)
    write_data(tmp_path / "train", X, y, "precomputed")
    write_data(tmp_path / "data", X_test, y_test, "precomputed")
    train, data, ours, theirs = (str(tmp_path / name) for name in ("train", "data", "ours", "theirs"))
    assert main(["train", train, "--test", data, "--kernel", "precomputed", "--model", ours, "--quiet"]) == 0
    assert main(["convert", ours, theirs]) == 0
    expected = svm_predict(data, theirs, tmp_path / "out")
    for model in (ours, theirs):
        assert main(["predict", model, data, "--quiet"]) == 0
        assert np.array_equal(np.array(capsys.readouterr().out.split(), float), expected)


def test_too_few_kernel_values_are_refused(tmp_path):
    X, y, X_test, _ = split("precomputed", 2)
    save_libsvm(SVC(kernel="precomputed").fit(X, y), tmp_path / "model")
    model = load(tmp_path / "model")
    assert model.predict(X_test).shape == (80,)
    with pytest.raises(ValueError, match="kernel values with training samples"):
        model.predict(X_test[:, : model.support_.max()])


def test_data_may_have_features_that_no_support_vector_has(tmp_path, capsys):
    (tmp_path / "model").write_text(GOOD)
    (tmp_path / "a.svm").write_text("1 1:2 7:1\n-1 2:3\n")
    (tmp_path / "b.svm").write_text("1 1:2\n")
    for name, expected in (("a.svm", ["1", "-1"]), ("b.svm", ["1"])):
        assert main(["predict", str(tmp_path / "model"), str(tmp_path / name), "--quiet"]) == 0
        assert capsys.readouterr().out.split() == expected
    assert main(["info", str(tmp_path / "model")]) == 0
    assert "unknown" in capsys.readouterr().out


@tools
@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel != "precomputed"])
@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.filterwarnings("ignore:.*positive semi-definite:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_beyond_the_model_s_count_as_in_svm_predict(zero_based, kernel, tmp_path, capsys):
    """A Gaussian kernel counts them in distances, products leave them out; for both kinds of model files."""
    X, y = samples(4)
    X[:160, 4:] = 0
    for name, part, width in (("train", slice(160), 4), ("data", slice(160, None), 6)):
        dump_svmlight_file(X[part, :width], y[part], str(tmp_path / name), zero_based=zero_based)
    train, data, ours, theirs = (str(tmp_path / name) for name in ("train", "data", "ours", "theirs"))
    options = {"-g": "--gamma", "-r": "--coef0", "-d": "--degree"}
    given = [options.get(word, word) for word in KERNELS[kernel][2:]]
    assert main(["train", train, "--model", ours, "--kernel", kernel, *given, "--quiet"]) in (0, 3)
    assert main(["convert", ours, theirs]) == 0
    expected = svm_predict(data, theirs, tmp_path / "out")
    for model in (ours, theirs):
        assert main(["predict", model, data, "--quiet"]) == 0
        assert np.array_equal(np.array(capsys.readouterr().out.split(), float), expected)
    svm_train("-q", *KERNELS[kernel], train, theirs)
    expected = svm_predict(data, theirs, tmp_path / "out")
    assert main(["predict", theirs, data, "--quiet"]) == 0
    assert np.array_equal(np.array(capsys.readouterr().out.split(), float), expected)


def test_a_model_may_count_its_features_from_0(tmp_path, capsys):
    """A number is the name of a feature, in the model as in the data."""
    text = GOOD.replace("1 1:1", "1 0:1").replace("-1 2:1", "-1 1:1")
    (tmp_path / "model").write_text(text)
    model = load(tmp_path / "model")
    assert model.support_vectors_.toarray().tolist() == [[1, 0], [0, 1]]
    save_libsvm(model, tmp_path / "again")
    assert "0:1.0" in (tmp_path / "again").read_text()
    assert load_libsvm(tmp_path / "model", 5, zero_based=True).n_features_in_ == 5
    with pytest.raises(ModelFileError, match="line 9: damaged LIBSVM model: feature 0 found"):
        load_libsvm(tmp_path / "model", zero_based=False)
    (tmp_path / "from_0").write_text("1 0:2\n-1 1:2\n")
    (tmp_path / "from_1").write_text("-1 1:2\n-1 1:3\n")
    (tmp_path / "model_1").write_text(GOOD.replace("1 1:1", "1 1:-1").replace("-1 2:1", "-1 1:1"))
    for name, data, expected in (
        ("model", "from_0", ["1", "-1"]),
        ("model", "from_1", ["-1", "-1"]),
        ("model_1", "from_1", ["-1", "-1"]),
        ("model_1", "from_0", ["-1"]),  # the tie of the first sample says nothing
    ):
        assert main(["predict", str(tmp_path / name), str(tmp_path / data), "--quiet"]) == 0
        assert capsys.readouterr().out.split()[-len(expected) :] == expected


@given(n_classes=st.integers(2, 5), seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_any_order_of_the_classes(n_classes, seed, tmp_path_factory):
    """Against LIBSVM's rule in NumPy, with classes in the order of a file."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(20)[:n_classes] - 10
    counts = rng.integers(1, 5, n_classes)
    vectors, columns = rng.normal(size=(counts.sum(), 3)), rng.normal(size=(counts.sum(), n_classes - 1))
    rho = rng.normal(size=n_classes * (n_classes - 1) // 2)
    lines = ["svm_type c_svc", "kernel_type rbf", "gamma 0.5", f"nr_class {n_classes}", f"total_sv {counts.sum()}"]
    for name, values in {"rho": rho, "label": labels, "nr_sv": counts}.items():
        lines.append(f"{name} {' '.join(map(str, values))}")
    lines.append("SV")
    for coefficients, x in zip(columns, vectors, strict=True):
        lines.append(" ".join([*map(str, coefficients), *(f"{i}:{v}" for i, v in enumerate(x, 1))]))
    path = tmp_path_factory.mktemp("model") / "m"
    path.write_text("\n".join(lines) + "\n")
    X = rng.normal(size=(30, 3))
    K = RBF(0.5)(X, vectors)
    assert np.array_equal(load(path).predict(X), libsvm.predict(K, labels, counts, columns, rho))


def test_what_libsvm_cannot_hold_is_refused(tmp_path):
    X, y = samples(3)
    text = np.array(["a", "b", "c", "d"])[np.unique(y, return_inverse=True)[1]]
    for model, labels, message in (
        (SVC(kernel="laplacian"), y, "does not know the kernel"),
        (SVC(kernel=RBF(0.1) + RBF(1.0)), y, "does not know the kernel"),
        (SVC(multi_class="ovr"), y, "compares pairs of classes"),
        (SVC(), text, "whole numbers"),
        (make_pipeline(StandardScaler(), SVC()), y, "scale the data"),
    ):
        with pytest.raises(ModelFileError, match=message):
            save_libsvm(model.fit(X, labels), tmp_path / "model")
    assert not list(tmp_path.iterdir())


GOOD = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:1\n-1 2:1\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("c_svc", "magic", "one of c_svc, nu_svc, one_class, epsilon_svr, nu_svr; found magic"),
        ("kernel_type linear", "kernel_type rbf\ngamma x", "line 3: damaged"),
        ("kernel_type linear", "kernel_type rbf", "gamma is missing"),
        ("kernel_type linear", "kernel_type polynomial\ngamma 1\ndegree 3", "coef0 is missing"),
        ("kernel_type linear", "kernel_type rbf\ngamma nan", "line 3: damaged .*not finite"),
        ("kernel_type linear", "kernel_type rbf\ngamma -1", "'gamma' parameter of RBF"),
        ("kernel_type linear", "kernel_type polynomial\ngamma 1\ncoef0 0\ndegree -1", "'degree' parameter"),
        ("kernel_type linear\n", "", "unknown kernel_type 'none'"),
        ("nr_class 2", "nr_class 3", "line 6: damaged .*nr_class different labels"),
        ("label 1 -1", "label 1 1", "line 6: damaged .*different labels"),
        ("rho 0", "rho inf", "line 5: damaged .*not finite"),
        ("rho 0", "rho 0\nrho 0", "line 6: .*repeated keyword 'rho'"),
        ("rho 0", "rho 0\ncolour red", "line 6: unknown .* keyword 'colour'"),
        ("-1 2:1", "-1 2:nan", "line 10: damaged .*not finite"),
        ("-1 2:1", "-1 2:1e200", "squares have no sum"),
        ("-1 2:1", "-1 2:1 1:1", "line 10: damaged"),
        ("-1 2:1", "-1 99999999999:1", "line 10: damaged"),
        ("-1 2:1", "-1 2:1 # 1", "line 10: damaged"),
        ("-1 2:1", "-1 1:2:3 4", "line 10: damaged .*not pairs of a feature's number and its value: '1:2:3 4'"),
        ("-1 2:1", "inf 2:1", "line 10: damaged .*not finite"),
        ("-1 2:1", "-1 \u0662:1", "line 10: damaged .*more than ASCII"),
        ("-1 2:1", "-1 2:\u0661", "line 10: damaged .*more than ASCII"),
        ("SV\n", "", "unknown or repeated keyword '1'"),
        ("total_sv 2", "total_sv 3", "2 support vectors found, 3 announced"),
        ("rho 0", "", "damaged"),
        ("1 1:1", "1 one:1", "damaged"),
        ("nr_sv 1 1", "nr_sv 3 -1", "damaged"),
        ("total_sv 2", "total_sv x", "damaged"),
        ("label 1 -1", "label 99999999999999999999 -1", "damaged"),
        ("kernel_type linear", "kernel_type precomputed", "damaged"),
    ],
)
def test_damaged_text_is_refused(old, new, message, tmp_path):
    path = tmp_path / "model"
    path.write_text(GOOD)
    assert load(path).predict([[2.0, 1.0], [0.0, 1.0]]).tolist() == [1, -1]
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(ModelFileError, match=rf"model\b.*{message}"):
        load(path)


def test_text_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(GOOD.encode() + b"\xff\n")
    with pytest.raises(ModelFileError, match=r"model, line 11: not a text file"):
        load(path)


def test_support_vectors_without_features_are_read(tmp_path):
    path = tmp_path / "model"
    path.write_text(GOOD.replace("1 1:1", "1").replace("-1 2:1", "-1"))
    assert load(path).predict([[2.0]]).tolist() == load(path, n_features=3).predict([[2.0, 1.0, 0.0]]).tolist()
