"""Machines that others write: outside of the package, from its bases, a problem and nothing else.

Also tested here: ``classifier``, ``parameters`` and ``regressor``.
"""

import warnings
from dataclasses import dataclass, field
from numbers import Real
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, InvalidParameterError

from adatron import SVC
from adatron.estimators.base.classifier import Classifier
from adatron.problems import CClassification, Dual
from adatron.quoted import upward
from machines import four_classes, two_moons

FRACTION = Interval(Real, 0.0, 1.0, closed="neither")


@dataclass(frozen=True)
class Uneven(CClassification):
    """The program whose targets are ``ease`` and -1."""

    ease: float = field(kw_only=True)

    def dual(self, y, weight, diagonal):
        plain = super().dual(y, weight, diagonal)
        return Dual(np.where(y > 0, self.ease, -1.0), plain.lower, plain.upper, totals=plain.totals)


class UnevenSVC(Classifier):
    """An SVC that asks less of the second class's samples: their margin is ``ease``."""

    max_iter = -1
    _parameter_constraints: ClassVar = {**Classifier._parameter_constraints, "ease": [FRACTION]}

    def __init__(self, *, C=1.0, ease=0.5, kernel="rbf", gamma="scale", tol=1e-3, class_weight=None, probability=False):
        self._keep(locals())

    def problem(self, augment):
        return Uneven(self.C, ease=self.ease)


@pytest.mark.parametrize("data", [two_moons, four_classes])
def test_a_classifier_of_one_problem_is_certified(data):
    X, y = data()
    model = UnevenSVC(C=3.0, ease=0.3, class_weight="balanced", probability=True, tol=1e-4).fit(X, y)
    assert np.max(model.kkt_violation_) <= 1e-4
    assert np.max(model.duality_gap_) <= 1e-3
    assert model.score(X, y) > 0.8
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
    plain = SVC(C=3.0, class_weight="balanced", tol=1e-4).fit(X, y)
    assert np.all(np.asarray(model.dual_objective_) < plain.dual_objective_)  # less is asked


class Named(SVC):
    """A user's own SVC with one more parameter, and fewer of the others."""

    def __init__(self, *, C=1.0, gamma="scale", label="mine"):
        super().__init__(C=C, gamma=gamma)
        self.label = label


def test_a_subclass_of_svc_has_the_parameters_of_its_own_constructor():
    X, y = four_classes()
    model = Named(C=2.0, label="hers").fit(X, y)
    plain = SVC(C=2.0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.get_params() == {"C": 2.0, "gamma": "scale", "label": "hers"}
    assert set(plain.get_params()) > {"C", "gamma", "kernel"}
    assert clone(model).set_params(label="his").get_params()["label"] == "his"
    assert repr(model) == "Named(C=2.0, label='hers')"
    with pytest.raises(InvalidParameterError, match="'C' parameter of Named"):
        model.set_params(C=-1.0).fit(X, y)


def far_by_tol_alone():
    return make_classification(400, 20, n_informative=10, flip_y=0.05, random_state=0)


def test_a_fit_goes_on_to_a_gap_of_one_in_a_thousand():
    X, y = far_by_tol_alone()
    by_tol, default = SVC(C=1e4, gap_tol=None).fit(X, y), SVC(C=1e4).fit(X, y)
    assert by_tol.certificate_.gap > 1e-3  # or this tests nothing
    assert default.certificate_.gap <= 1e-3
    assert all(model.certificate_.converged and model.kkt_violation_ <= 1e-3 for model in (by_tol, default))


@pytest.mark.parametrize(("gap_tol", "fails"), [(1e-3, False), (1e-4, True)])
def test_a_limit_that_only_the_gap_meets_is_no_failure_unless_the_user_gave_the_gap(gap_tol, fails):
    X, y = far_by_tol_alone()
    enough = int(SVC(C=1e4, gap_tol=None).fit(X, y).n_iter_[0]) + 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = SVC(C=1e4, gap_tol=gap_tol, max_iter=enough).fit(X, y)
    assert model.kkt_violation_ <= 1e-3
    assert model.certificate_.gap > 1e-3
    assert model.certificate_.converged is not fails
    assert [issubclass(one.category, ConvergenceWarning) for one in caught] == [True] * fails
    assert repr(model.certificate_).startswith("<not converged: " if fails else "<proven: ")
    assert repr(model.certificate_).endswith("; no gap below 1e-03 is proven>") is not fails


def test_the_certificate_is_that_of_the_worst_problem():
    X, y = four_classes()
    model = SVC().fit(X, y)
    worst = model.certificate_
    assert (worst.gap, worst.violation) == (model.duality_gap_.max(), model.kkt_violation_.max())
    assert (worst.problems, worst.converged) == (6, True)
    assert repr(worst) == f"<proven: {worst}>"
    assert upward(worst.gap) in str(worst)
    assert "6 problems" in str(worst)
    assert "<=" not in worst._repr_html_()
    with pytest.raises(AttributeError, match="belongs to the fitted model"):
        model.certificate_ = worst
