"""scikit-learn's checks of any estimator's conventions."""

import pytest
import sklearn.svm
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from compat.drop_in import CLASSES

SCALE = "gamma='scale' is taken from X alone, without the weights, as in scikit-learn"
WEIGHTS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), SCALE
)
INFEASIBLE = "the weights make nu infeasible, as in scikit-learn"
EXPECTED = dict.fromkeys(CLASSES, WEIGHTS) | {
    "NuSVC": WEIGHTS
    | {
        "check_classifiers_one_label_sample_weights": INFEASIBLE,
        "check_class_weight_classifiers": "the class weights make nu infeasible; scikit-learn's NuSVC ignores them",
    }
}


def expected(estimator):
    return EXPECTED[type(estimator).__name__]


@parametrize_with_checks([one() for one in CLASSES.values()], expected_failed_checks=expected)
def test_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("name", "check"), [(name, check) for name, checks in EXPECTED.items() for check in checks])
def test_scikit_learn_fails_the_same_checks(name, check):
    with pytest.raises((AssertionError, ValueError)):
        getattr(estimator_checks, check)(name, getattr(sklearn.svm, name)())


@pytest.mark.parametrize("check", WEIGHTS)
@pytest.mark.parametrize("name", CLASSES)
def test_weights_are_repetitions_with_a_given_gamma(name, check):
    model = CLASSES[name](gamma=0.5)
    if name == "NuSVC":
        model.set_params(nu=0.2)  # the check's weights make 0.5 infeasible
    getattr(estimator_checks, check)(name, model)
