"""Every estimator: copies, files and other forms of the same samples decide alike, and a weight is a repetition."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.base import clone

import adatron
from adatron import SVC, SVDD, SVR, InputMarginSVC, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from adatron.files import save_libsvm
from adatron.kernels import RBF, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * (RNG.random((60, 3)) < 0.7)
VALUE = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.2 * RNG.normal(size=60)
SIDES, CODES = (VALUE > 0.4).astype(int), np.digitize(VALUE, [-0.5, 0.2, 1.0])
FOUR = np.array(["d", "b", "a", "c"])[CODES]
SEVERAL, LABELS = np.c_[VALUE, 1e3 * X[:, 1]], np.c_[SIDES, X[:, 1] > 0.1].astype(int)
NEGATIVE = np.where(np.arange(60) % 10 == 3, -1, 1)
EVERY = {
    "SVC": (SVC(), SIDES),
    "balanced": (SVC(class_weight="balanced", bias="augmented", augment="auto", decision_function_shape="ovo"), FOUR),
    "rest": (SVC(multi_class="ovr", probability=True), FOUR),
    "labels": (SVC(C=3.0), LABELS),
    "linear": (SVC(kernel="linear", decision_function_shape="ovo"), CODES),
    "NuSVC": (NuSVC(nu=0.2, probability=True, random_state=3, decision_function_shape="ovo"), FOUR),
    "linear SVC": (LinearSVC(), CODES),
    "linear SVC, hinge": (LinearSVC(loss="hinge", bias="explicit", probability=True), SIDES),
    "linear SVR": (LinearSVR(C=2.0, epsilon=0.1, loss="squared_epsilon_insensitive"), VALUE),
    "SVR": (SVR(bias="none"), VALUE),
    "targets": (SVR(C=2.0), SEVERAL),
    "NuSVR": (NuSVR(nu=0.4), VALUE),
    "QuantileSVR": (QuantileSVR(quantile=[0.9, 0.2], rearrange=True), VALUE),
    "OneClassSVM": (OneClassSVM(nu=0.3), None),
    "SVDD": (SVDD(nu=0.3), NEGATIVE),
    "linear SVDD": (SVDD(kernel="linear", nu=0.3), None),
    "InputMarginSVC": (InputMarginSVC(n_steps=2), SIDES),
    "IncrementalSVC": (adatron.IncrementalSVC(decision_function_shape="ovo"), FOUR),
    "IncrementalNuSVC": (adatron.IncrementalNuSVC(nu=0.2), SIDES),
    "IncrementalSVR": (adatron.IncrementalSVR(), VALUE),
    "IncrementalOneClassSVM": (adatron.IncrementalOneClassSVM(nu=0.3), None),
    "IncrementalSVDD": (adatron.IncrementalSVDD(nu=0.3), NEGATIVE),
}
METHODS = ("predict", "decision_function", "predict_proba", "score_samples")
every = pytest.mark.parametrize("name", EVERY)


def made(name, rows=X, some=slice(None), weight=None, **parameters):
    """Fit an estimator to some rows, as tightly as it can be."""
    machine, y = EVERY[name]
    known = machine.get_params()
    tight = {"tol": 1e-8, "gap_tol": 1e-8, "precision": "double", **parameters}
    model = clone(machine).set_params(**{key: value for key, value in tight.items() if key in known})
    return model.fit(rows[some], None if y is None else y[some], sample_weight=weight)


def same(one, other, rows=X, rows_of_other=X, atol=0.0):
    """Compare decision values, or predictions where there are none, and probabilities; to the bit without ``atol``."""
    for method in [method for method in METHODS if hasattr(one, method)]:
        a, b = getattr(one, method)(rows), getattr(other, method)(rows_of_other)
        if a.dtype.kind == "f":
            # The slope of probabilities is known to a hundredth, as its folds are: that moves them by up to 0.0023.
            near = max(atol, 0.0023) if method == "predict_proba" and atol > 1e-9 else atol
            np.testing.assert_allclose(b, a, rtol=0.0, atol=near * (1.0 + np.abs(a).max()))
        elif atol <= 1e-9:
            np.testing.assert_array_equal(a, b)


@every
def test_copies_and_files_decide_alike_whatever_is_set_after_the_fit(name, tmp_path):
    fitted = made(name)
    model, known = deepcopy(fitted), fitted.get_params()
    later = {"kernel": "precomputed" if "linear" in name else "linear", "gamma": 7.0, "degree": 5, "coef0": 3.0}
    later["multi_class"] = "ovo" if known.get("multi_class") == "ovr" and "kernel" in known else "ovr"
    model.set_params(**{key: value for key, value in later.items() if key in known})
    adatron.save(model, tmp_path / "m.adatron")
    of_pickle = pickle.loads(pickle.dumps(model))  # noqa: S301 (our own bytes)
    anew = clone(fitted).fit(X, EVERY[name][1])
    for copy in (model, adatron.load(tmp_path / "m.adatron"), of_pickle, deepcopy(model), anew):
        same(fitted, copy)
        for attribute in ("duality_gap_", "kkt_violation_", "intercept_", "support_", "coef_"):
            np.testing.assert_array_equal(getattr(copy, attribute, None), getattr(fitted, attribute, None))
    if name != "InputMarginSVC":
        same(fitted, model.compact(), atol=1e-9)
    if hasattr(svm, type(model).__name__) and name not in ("rest", "labels", "targets"):
        same(model.to_sklearn(), fitted, atol=1e-9)
        if EVERY[name][1] is FOUR or "kernel" not in known:  # LIBSVM's classes are numbers; it has no linear machines
            return
        for one, path in ((fitted, tmp_path / "before"), (model, tmp_path / "after")):
            save_libsvm(one, path)
        assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()


def test_a_class_whose_rows_have_no_weight_is_no_class_for_balanced_weights():
    y = np.where(np.arange(60) < 5, 7, SIDES)
    weight = (y != 7).astype(float)
    with_it, without = (SVC(class_weight="balanced").fit(X[some], y[some], weight[some]) for some in (y == y, y != 7))
    np.testing.assert_array_equal(with_it.class_weight_[:2], without.class_weight_)


@every
def test_a_weight_is_a_repetition_also_for_gamma_and_balanced_classes(name):
    """And a row without weight is none, whatever the order of the rows."""
    weight = np.arange(60) % 3
    rows = RNG.permutation(np.repeat(np.arange(60), weight))
    weighted, repeated = made(name, weight=weight.astype(float)), made(name, some=rows)
    assert weighted.kernel_ == repeated.kernel_
    same(weighted, repeated, atol=1e-5)
    for attribute in ("class_weight_", "classes_"):
        if hasattr(weighted, attribute):
            np.testing.assert_array_equal(getattr(weighted, attribute), getattr(repeated, attribute))


@every
def test_the_form_of_the_samples_does_not_matter(name):
    """Rows of zeros as CSR, kernels as objects and sums, kernel values from a function or given."""
    kernel, plain = (Linear(), {}) if "linear" in name else (RBF(0.3), {"gamma": 0.3})
    model, values = made(name, augment=0.5, **plain), kernel(X)
    if "kernel" not in model.get_params():
        same(model, made(name, rows=sparse.csr_matrix(X)), rows_of_other=sparse.csr_matrix(X), atol=1e-4)
        return
    forms = [(sparse.csr_matrix(X), plain), (X, {"kernel": 0.25 * kernel + 0.75 * kernel})]
    if name != "InputMarginSVC":
        forms.append((X, {"kernel": kernel.__call__}))
    if "SVDD" not in name and not name.startswith(("Incremental", "Input")):
        forms.append((values, {"kernel": "precomputed"}))
    for rows, parameters in forms:
        other = made(name, rows=rows, augment=0.5, **parameters).set_params(kernel="rbf")
        folds = parameters.get("kernel") == "precomputed" and hasattr(model, "predict_proba")
        same(model, other, rows_of_other=rows, atol=0.1 if folds else 1e-4)  # without content the folds are others
        if rows is values:
            assert other.dual_objective_ == pytest.approx(model.dual_objective_, rel=1e-5)
