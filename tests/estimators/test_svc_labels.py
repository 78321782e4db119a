"""Several labels of 0 and 1 for each sample: one fit, with the solutions of a classifier for each label."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils import get_tags

from adatron import SVC
from adatron.selection import GridSearchCV


def labelled(n=150, d=4, many=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[-20:] = X[:20]  # equal samples, some of them with other labels
    values = np.sin(2.0 * X @ rng.normal(size=(d, many)) / np.sqrt(d)) + 0.3 * rng.normal(size=(n, many))
    return X, (values > 0.1).astype(int)


X, Y = labelled()
FORMS = {
    "dense": {},
    "sparse": {},
    "weights": {},
    "precomputed": {"kernel": "precomputed"},
    "linear": {"kernel": "linear"},
    "augmented": {"bias": "augmented"},
    "no bias": {"bias": "none"},
    "smo": {"solver": "smo"},
    "ovr": {"multi_class": "ovr", "decision_function_shape": "ovo"},
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_each_label_has_the_solution_of_a_classifier_of_its_own(form):
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if form == "weights" else None
    A = X @ X.T if form == "precomputed" else sparse.csr_matrix(X) if form == "sparse" else X
    machine = SVC(C=3.0, tol=1e-6, gap_tol=1e-7, **FORMS[form])
    model = clone(machine).fit(A, Y, sample_weight=weight)
    wrapped = MultiOutputClassifier(machine).fit(A, Y, sample_weight=weight)
    values = np.stack([one.decision_function(A) for one in wrapped.estimators_], axis=1)
    np.testing.assert_allclose(model.decision_function(A), values, atol=1e-4)
    clear = np.abs(values) > 1e-3
    np.testing.assert_array_equal(model.predict(A)[clear], wrapped.predict(A)[clear])
    for name in ("primal_objective_", "dual_objective_"):
        np.testing.assert_allclose(getattr(model, name), [getattr(one, name) for one in wrapped.estimators_], rtol=1e-6)
    assert model.certificate_.converged
    assert model.certificate_.problems == len(model.trace_) == len(model.n_iter_) == Y.shape[1]
    assert (model.duality_gap_ <= 1e-7).all()
    assert (model.kkt_violation_ <= 1e-6).all()
    assert model.dual_coef_.shape == (Y.shape[1], len(model.support_))
    assert model.n_support_.sum() == len(model.support_)


@pytest.mark.parametrize(("n", "many"), [(150, 70), (3000, 3)], ids=["many labels", "more samples than one block"])
def test_programs_of_other_sizes(n, many):
    A, B = labelled(n, many=many)
    model = SVC(C=10.0).fit(A, B)
    for column in (0, many - 1):
        alone = SVC(C=10.0).fit(A, B[:, column])
        low, high = model.dual_objective_[column], model.primal_objective_[column]
        assert low <= alone.primal_objective_  # both intervals hold the optimum
        assert alone.dual_objective_ <= high
        assert np.mean(model.predict(A)[:, column] == alone.predict(A)) > 0.99
    np.testing.assert_array_equal(model.predict(A), model.decision_function(A) >= 0)


@pytest.mark.parametrize("kind", [int, bool, float, list, sparse.csr_matrix])
def test_labels_of_any_kind(kind):
    given = Y.tolist() if kind is list else kind(Y) if kind is sparse.csr_matrix else Y.astype(kind)
    model = SVC().fit(X, given)
    found = model.predict(X)
    np.testing.assert_array_equal(found, SVC().fit(X, Y).predict(X))
    assert found.dtype == (Y.dtype if kind in (list, sparse.csr_matrix) else kind)
    assert model.classes_.tolist() == [0, 1]


def test_equal_and_opposite_labels():
    found = SVC().fit(X, np.c_[Y[:, 0], Y[:, 0], 1 - Y[:, 0]]).decision_function(X)
    np.testing.assert_allclose(found[:, 1], found[:, 0])
    np.testing.assert_allclose(found[:, 2], -found[:, 0], atol=1e-2)


def test_the_score_is_the_part_of_rows_without_an_error():
    model = SVC().fit(X, Y)
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X)) == np.mean((model.predict(X) == Y).all(axis=1))
    assert get_tags(model).target_tags.multi_output
    assert get_tags(model).classifier_tags.multi_label
    search = GridSearchCV(SVC(gamma=0.3), {"C": [0.1, 10.0]}, cv=KFold(3)).fit(X, Y)
    scores = [cross_val_score(SVC(gamma=0.3, C=C), X, Y, cv=KFold(3)).mean() for C in (0.1, 10.0)]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores)
    assert search.predict(X).shape == Y.shape


@pytest.mark.parametrize("columns", [2.0, True, 1, 0, -2])
def test_a_model_with_no_number_of_labels_is_refused(columns):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = SVC().fit(X, (X[:, :2] > 0).astype(int)).model_
    with pytest.raises(ValueError, match="no number of labels"):
        replace(model, readout=replace(model.readout, columns=columns))
