"""The way to a machine passes by what works in fits alone; models of more features.

Also tested here: ``widen``.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron import SVC, SVR, InputMarginSVC
from adatron.conversions.adopt import widened
from adatron.insight import leave_one_out
from adatron.pipelines import way_to
from adatron.plots import BoundaryPlaneDisplay, InputMarginDisplay
from adatron.selection import GridSearchCV
from problems import samples
from resampling import Balance, Resampling

X, y = make_classification(80, 2, n_informative=2, n_redundant=0, weights=[0.8], random_state=0)
BALANCE, SCALE = ("balance", Balance()), ("scale", StandardScaler())


def fitted(*steps):
    return Resampling([*steps, ("svm", SVC(gamma=0.2))]).fit(X, y)


@pytest.mark.parametrize("steps", [[BALANCE, SCALE], [SCALE, BALANCE], [("inner", Pipeline([BALANCE, SCALE]))]])
def test_a_resampler_is_no_step_of_predictions(steps):
    way = way_to(Pipeline([*steps, ("svm", SVC())]))
    assert [type(step) for _, step in way.steps] == [StandardScaler]
    assert [name for name, _ in way.resamplers] == ["balance"]


def test_distances_and_pictures_pass_it_by():
    model = fitted(SCALE, BALANCE)
    plain = Pipeline([(name, step) for name, step in model.steps if name != "balance"])
    found, wanted = (adatron.input_margin(one, X) for one in (model, plain))
    np.testing.assert_array_equal(found.distance, wanted.distance)
    first = InputMarginDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(first.ax_.get_xlim(), InputMarginDisplay.from_estimator(plain, X, y).ax_.get_xlim())
    assert BoundaryPlaneDisplay.from_estimator(model, X, y).ax_ is not None


@pytest.mark.parametrize("ask", [adatron.report, leave_one_out])
def test_what_needs_the_samples_of_the_fit_names_the_step(ask):
    with pytest.raises(ValueError, match=r"'balance' \(Balance\).*changes which samples.*Resample first"):
        ask(fitted(BALANCE, SCALE), X, y)


def test_a_search_fits_every_candidate_alone():
    grid = {"svm__C": [0.1, 10.0], "balance": [Balance(), "passthrough"]}
    search = GridSearchCV(Resampling([BALANCE, SCALE, ("svm", SVC(gamma=0.2))]), grid, cv=3)
    search.fit(X, y)
    for number, params in enumerate(search.cv_results_["params"]):
        scores = [search.cv_results_[f"split{fold}_test_score"][number] for fold in range(3)]
        assert scores == alone(params), params
    assert GridSearchCV(search.estimator, {"svm__C": "auto"}, cv=2).fit(X, y).best_params_["svm__C"] > 0.0


def alone(params):
    steps = [BALANCE, SCALE] if isinstance(params["balance"], Balance) else [SCALE]
    scores = []
    for train, test in StratifiedKFold(3).split(X, y):
        model = Resampling([*steps, ("svm", SVC(gamma=0.2, C=params["svm__C"]))]).fit(X[train], y[train])
        scores.append(model.score(X[test], y[test]))
    return scores


MACHINES = {
    "dense": SVC(gamma=0.5),
    "sparse": SVC(gamma=0.5),
    "regression": SVR(gamma=0.5),
    "tilted": InputMarginSVC(C=10.0, gamma=0.5, algorithm="full"),
}


@pytest.mark.parametrize("kind", MACHINES)
def test_added_features_only_shrink_the_values_of_a_gaussian(kind):
    X, y = samples(0, 60, 3, noise=0.5)
    new = np.random.default_rng(1).normal(size=(20, 5))
    shrink = np.exp(-0.5 * np.square(new[:, 3:]).sum(axis=1))  # k(x, z) has this factor more, and so have its slopes
    as_rows = sparse.csr_matrix if kind == "sparse" else np.asarray
    model = MACHINES[kind].fit(as_rows(X), y)
    values = "predict" if kind == "regression" else "decision_function"
    expected = shrink * (getattr(model, values)(as_rows(new[:, :3])) - model.intercept_) + model.intercept_
    wide = widened(model, 5)
    assert wide.n_features_in_ == 5
    assert_allclose(getattr(wide, values)(as_rows(new)), expected, rtol=1e-9, atol=1e-9)
