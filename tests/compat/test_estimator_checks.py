"""scikit-learn's checks of any estimator's conventions, with rows of numbers and with given kernel values."""

import pytest
import sklearn.svm
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from adatron import (
    SVDD,
    IncrementalNuSVC,
    IncrementalOneClassSVM,
    IncrementalSVC,
    IncrementalSVDD,
    IncrementalSVR,
    InputMarginSVC,
    LinearSVC,
    LinearSVR,
    QuantileSVR,
)
from compat.drop_in import CLASSES

MODELS = [(name, {"kernel": kernel}) for name in CLASSES for kernel in ("rbf", "precomputed")]
MODELS[MODELS.index(("NuSVC", {"kernel": "precomputed"}))][1]["nu"] = 0.2  # many checks make 0.5 infeasible

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
NU = {
    "check_classifiers_one_label_sample_weights": "the weights make nu infeasible",
    "check_class_weight_classifiers": "the class weights make nu infeasible; scikit-learn's NuSVC ignores them",
}
NO_VALUES = "the check fits rows, not kernel values"
# Checks that scikit-learn's class fails as well, and why.
EXPECTED = {(name, kernel): {} for name in CLASSES for kernel in ("rbf", "precomputed")}
EXPECTED |= {
    ("NuSVC", "rbf"): NU | dict.fromkeys(WEIGHTS, "the weights make nu infeasible"),
    ("NuSVC", "precomputed"): NU,
    ("OneClassSVM", "precomputed"): dict.fromkeys(("check_outliers_fit_predict", "check_outliers_train"), NO_VALUES),
}
LINEAR = [LinearSVC(), LinearSVC(loss="hinge", bias="explicit"), LinearSVR()]
INCREMENTAL = [
    IncrementalSVC(),
    IncrementalNuSVC(nu=0.2),
    IncrementalSVR(),
    IncrementalOneClassSVM(),
    IncrementalSVDD(),
]
NOT_THEIRS = [
    QuantileSVR(),
    QuantileSVR(kernel="precomputed"),
    InputMarginSVC(algorithm="full", kernel="linear", n_steps=2),  # distances from a plane are quick
    InputMarginSVC(algorithm="simplified", n_steps=2),
    CLASSES["SVC"](gamma=0.5, probability=True),  # 'scale' does not know the weights
]
EXPECTED |= {(type(one).__name__, one.kernel): {} for one in NOT_THEIRS}
BALLS = [SVDD(), SVDD(kernel="linear"), IncrementalSVDD(kernel="linear")]
EXPECTED |= {(type(one).__name__, one.kernel): {} for one in (*INCREMENTAL, *BALLS)}
EXPECTED |= {(type(one).__name__, "linear"): {} for one in LINEAR}
EXPECTED["IncrementalNuSVC", "rbf"] = NU
EXPECTED |= dict.fromkeys(
    [("IncrementalOneClassSVM", "rbf"), ("IncrementalSVDD", "rbf"), ("IncrementalSVDD", "linear")],
    dict.fromkeys(WEIGHTS, "the decision value of a sample on the boundary is 0, and rounding is its sign"),
)
EXPECTED["SVDD", "linear"] = {"check_outliers_train": "decision values on the boundary are 0 up to rounding"}


def expected(estimator):
    return EXPECTED[type(estimator).__name__, getattr(estimator, "kernel", "linear")]


@pytest.mark.slow
@parametrize_with_checks(
    [*(CLASSES[name](**params) for name, params in MODELS), *INCREMENTAL, *NOT_THEIRS, *BALLS, *LINEAR],
    expected_failed_checks=expected,
)
def test_conventions(estimator, check):
    check(estimator)  # asserts by itself


FAILING = [(name, params, check) for name, params in MODELS for check in EXPECTED[name, params["kernel"]]]


@pytest.mark.parametrize(("name", "params", "check"), FAILING)
def test_scikit_learn_fails_the_same_checks(name, params, check):
    with pytest.raises((AssertionError, ValueError)):
        getattr(estimator_checks, check)(name, getattr(sklearn.svm, name)(**params))
