"""scikit-learn's estimators around one of ours: the results of its own machines, or better ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn import svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

import adatron

GAMMA = 0.1
X, y = make_classification(90, 6, n_informative=4, n_classes=3, random_state=1)
K = rbf_kernel(X, gamma=GAMMA)
TARGET = X[:, 0] + 0.3 * X[:, 1] ** 2
BOTH = np.c_[y, y > 0]
SORTED, RARE = np.sort(y), np.repeat([0, 1, 2], [60, 28, 2])
SPARSE, WEIGHT = csr_matrix(X), np.linspace(0.5, 2.0, 90)
NOTHING_OF_2 = (y != 2) * 1.0  # weights
UNSHUFFLED = KFold(3)
ONE_CLASS = PredefinedSplit(np.repeat([0, 1], [30, 60]))  # its first training part has one class


def classifier(package, kernel="rbf"):
    return package.SVC(kernel=kernel, gamma=GAMMA, tol=1e-6)


def regressor(package, kernel="rbf"):
    return package.SVR(kernel=kernel, gamma=GAMMA, tol=1e-6)


def given(package):
    return classifier(package, "precomputed")


ALIKE = {
    "bagging, rare class": lambda p: (
        BaggingClassifier(classifier(p), 8, max_samples=0.1, random_state=0).fit(X, RARE).predict(X)
    ),
    "bagging, weights": lambda p: (
        BaggingClassifier(classifier(p), 5, random_state=0).fit(X, y, sample_weight=NOTHING_OF_2).predict(X)
    ),
    "stacking, missing class": lambda p: StackingClassifier([("a", classifier(p))], cv=UNSHUFFLED).fit(X, SORTED),
    "outputs, given": lambda p: MultiOutputClassifier(given(p)).fit(K, BOTH).predict(K),
    "outputs, one class": lambda p: MultiOutputClassifier(classifier(p)).fit(X, np.c_[y, 0 * y]),
    "outputs, weights": lambda p: (
        MultiOutputClassifier(classifier(p)).fit(X, BOTH, sample_weight=NOTHING_OF_2).predict(X)
    ),
    "chain, given": lambda p: ClassifierChain(given(p)).fit(K, BOTH),
    "chain, one class": lambda p: ClassifierChain(classifier(p)).fit(X, np.c_[y, 0 * y]),
    "one against rest, given": lambda p: OneVsRestClassifier(given(p)).fit(K, y).decision_function(K),
    "one against one, given": lambda p: OneVsOneClassifier(given(p)).fit(K, y).decision_function(K),
    "calibration, given": lambda p: CalibratedClassifierCV(given(p), cv=3).fit(K, y).predict_proba(K),
    "calibration, sparse, weights": lambda p: (
        CalibratedClassifierCV(classifier(p), ensemble=False).fit(SPARSE, y, WEIGHT).predict_proba(SPARSE)
    ),
    "calibration of nu": lambda p: (
        CalibratedClassifierCV(p.NuSVC(nu=0.3, gamma=GAMMA, tol=1e-7), ensemble=False).fit(X, y).predict_proba(X)
    ),
    "calibration, missing class": lambda p: (
        CalibratedClassifierCV(classifier(p), cv=UNSHUFFLED).fit(X, SORTED).predict_proba(X)
    ),
    "calibration, rare class": lambda p: CalibratedClassifierCV(classifier(p), cv=3).fit(X, RARE),
    "folds, given": lambda p: cross_val_predict(given(p), K, y, cv=3, method="decision_function"),
    "folds, missing class": lambda p: cross_val_predict(
        classifier(p), X, SORTED, cv=UNSHUFFLED, method="decision_function"
    ),
    "folds, one class": lambda p: cross_val_predict(classifier(p), X, SORTED > 0, cv=ONE_CLASS),
    "scores, one class": lambda p: cross_val_score(classifier(p), X, SORTED > 0, cv=ONE_CLASS),
    "search, given": lambda p: GridSearchCV(given(p), {"C": [0.1, 1.0]}, cv=3).fit(K, y).predict(K),
    "weights, missing class": lambda p: classifier(p).fit(X, y, sample_weight=NOTHING_OF_2).predict(X),
    "weights, one class": lambda p: classifier(p).fit(X, y, sample_weight=(y == 0) * 1.0),
    "weights, nothing": lambda p: classifier(p).fit(X, y, sample_weight=0.0 * y),
    "weights, nothing, regression": lambda p: regressor(p).fit(X, TARGET, sample_weight=0.0 * y),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ALIKE.values(), ids=ALIKE)
def test_wrapped_machines_do_what_scikit_learns_do(case):
    results = []
    for package in (svm, adatron):
        try:
            results.append(case(package))
        except Exception as error:
            results.append(type(error))
    theirs, ours = results
    if isinstance(theirs, type):
        assert ours is theirs
    elif isinstance(theirs, np.ndarray):
        assert theirs.dtype == ours.dtype
        assert_allclose(ours, theirs, atol=1e-2)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_samples_of_weight_0_are_left_out_of_given_kernels(kernel):
    """scikit-learn then numbers the support vectors of a given kernel among the samples that are left."""
    rows, weight = (X if kernel == "rbf" else K), (np.arange(90) % 3 > 0) * 1.0
    found = classifier(adatron, kernel).fit(rows, y, sample_weight=weight)
    assert_array_equal(found.predict(rows), classifier(adatron).fit(X[weight > 0], y[weight > 0]).predict(X))
    bags = [BaggingClassifier(classifier(adatron, k), 3, random_state=0) for k in ("rbf", "precomputed")]
    assert_array_equal(bags[0].fit(X, y).predict(X), bags[1].fit(K, y).predict(K))


def test_kernel_matrices_are_told_by_a_tag():
    for wrapped in (given(adatron), OneVsRestClassifier(given(adatron)), OneVsOneClassifier(given(adatron))):
        assert wrapped.__sklearn_tags__().input_tags.pairwise
    assert not OneVsRestClassifier(classifier(adatron)).__sklearn_tags__().input_tags.pairwise
