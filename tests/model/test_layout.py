"""Hundreds of classes: what is kept and shared for them changes no result.

Also tested here: the pairs of ``gram/sums`` and ``fits``.
"""

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.utils.multiclass import _ovr_decision_function

import adatron
from adatron import SVC
from adatron.kernels import RBF
from adatron.model import layout
from adatron.model.readout import Classes
from machines import spread
from problems import Never, csvc
from twins import programs


def blobs(classes, each=4, d=8, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    centers, y = rng.normal(size=(classes, d)), np.repeat(np.arange(classes), each)
    return centers[y] + spread * rng.normal(size=(len(y), d)), y


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("storage", ["dense", "sparse", "float32", "given", "function"])
def test_values_of_pairs_need_no_table_of_them(storage, shape):
    X, y = blobs(130)
    new = blobs(130, 1, seed=1, spread=2.0)[0]
    new[:3] *= 50.0  # far rows need float64
    kernel = RBF(0.1)
    forms = {"sparse": sparse.csr_matrix, "float32": np.float32, "given": lambda rows: kernel(rows, X)}
    form = forms.get(storage, np.asarray)
    own = {"given": "precomputed", "function": kernel.__call__}.get(storage, kernel)
    models = SVC(C=3.0, kernel=own, decision_function_shape=shape), SVC(C=3.0, kernel=own, break_ties=True)
    for model in models:
        broken = model.break_ties
        if broken and shape == "ovo":
            continue
        model.fit(form(X), y)
        assert len(model.intercept_) * len(model.support_) > layout.TABLE
        table = layout.from_dual_coef(model.dual_coef_, y[model.support_], 130)
        rows = new.astype(np.float32).astype(float) if storage == "float32" else new
        vectors = X.astype(np.float32).astype(float) if storage == "float32" else X
        values = kernel(rows, vectors[model.support_]) @ table.T + model.intercept_
        found = model.set_params(decision_function_shape="ovo", break_ties=False).decision_function(form(new))
        np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9)
        model.set_params(decision_function_shape=shape, break_ties=broken)
        if shape == "ovr":
            counted = ovr_values(found, 130)
            np.testing.assert_allclose(model.decision_function(form(new)), counted, rtol=1e-9, atol=1e-9)
        labels = np.argmax(ovr_values(found, 130), axis=1) if broken else Classes(np.arange(130), True).codes(found)
        np.testing.assert_array_equal(model.predict(form(new)), labels)


def ovr_values(values, n_classes):
    """scikit-learn's: votes, and sums of values that settle ties."""
    return _ovr_decision_function(values < 0, -values, n_classes)


def test_values_of_pairs_do_not_depend_on_the_rows_beside_them():
    X, y = blobs(130)
    model = SVC(decision_function_shape="ovo").fit(X, y)
    assert len(model.intercept_) * len(model.support_) > layout.TABLE
    new = blobs(130, 1, seed=1)[0]
    together_, alone = model.decision_function(new), [model.decision_function(row[None])[0] for row in new]
    np.testing.assert_array_equal(together_, alone)
    np.testing.assert_array_equal(SVC(decision_function_shape="ovo", n_jobs=1).fit(X, y).decision_function(new), alone)


@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
@pytest.mark.parametrize(("classes", "each"), [(30, 5), (12, 100)])
def test_one_against_the_rest_shares_one_matrix(bias, classes, each):
    """Below and above 1,000 samples: no problem makes kernel values of its own."""
    X, y = blobs(classes, each)
    model = SVC(C=2.0, multi_class="ovr", bias=bias, gamma=0.1, solver=Never()).fit(X, y)
    assert model.route_.shared
    assert model.kkt_violation_.max() <= 1e-3
    for c, beta in enumerate(spread(model, len(y))):
        dual = csvc(np.where(y == c, 1.0, -1.0), np.full(len(y), 2.0), bias)
        assert dual.contains(beta)
        assert programs.kkt(RBF(0.1)(X), dual, beta) <= 1e-3 + 1e-9


def test_labels_and_values_of_many_classes_are_those_of_scikit_learn():
    X, y = blobs(130, 4, spread=0.5)
    new = blobs(130, 3, seed=0, spread=0.7)[0]
    ours, theirs = SVC(C=10.0, tol=1e-6).fit(X, y), svm.SVC(C=10.0, tol=1e-6).fit(X, y)
    assert len(ours.intercept_) * len(ours.support_) > layout.TABLE
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    for model in (ours, theirs):
        model.decision_function_shape = "ovo"  # a value of almost 0 may be another vote
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-4)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)


def test_traces_and_proofs_of_many_problems(tmp_path):
    X, y = blobs(40)
    model = SVC().fit(X, y)
    pairs = 40 * 39 // 2
    assert len(model.trace_) == len(model.duality_gap_) == len(model.n_iter_) == pairs
    for again in (copy.deepcopy(model), saved(model, tmp_path / "model")):
        for number in (0, 17, pairs - 1, -1):
            trace = again.trace_[number]
            assert trace["n_iter"][-1] == model.n_iter_[number]
            assert trace["duality_gap"][-1] == model.duality_gap_[number]
            assert trace["kkt_violation"][-1] == model.kkt_violation_[number]
        assert len(again.trace_[:5]) == 5
    with pytest.raises(IndexError):
        model.trace_[pairs]


def saved(model, path):
    adatron.save(model, path)
    return adatron.load(path)


def test_files_grow_with_the_coefficients(tmp_path):
    X, y = blobs(100)
    model = SVC().fit(X, y)
    saved(model, tmp_path / "model")
    numbers = model.dual_coef_.size + model.support_vectors_.size + 16 * len(model.intercept_)
    assert (tmp_path / "model").stat().st_size < 8 * numbers + 20_000
