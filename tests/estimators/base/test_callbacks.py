"""scikit-learn's callbacks, and what a notebook shows of a fitted model, from scikit-learn 1.9 on.

Also tested here: ``shown``.
"""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron.quoted import upward

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
X, y = load_iris(return_X_y=True)
MODELS = [
    adatron.SVC(), adatron.NuSVC(nu=0.1), adatron.SVR(), adatron.NuSVR(), adatron.OneClassSVM(),
    adatron.InputMarginSVC(n_steps=1), adatron.IncrementalSVC(), adatron.IncrementalNuSVC(nu=0.1),
    adatron.IncrementalSVR(), adatron.IncrementalOneClassSVM(),
]  # fmt: skip


class Listener:
    """Counts tasks, and asks to stop after some."""

    def __init__(self, most=np.inf):
        self.begun, self.ended, self.most, self.last, self.torn = 0, 0, most, {}, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.torn += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.ended += 1
        self.last = {"X": X, "y": y, "metadata": metadata, "fitted_estimator": fitted_estimator}
        return self.ended > self.most


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_estimator_tells_its_callbacks(model, tmp_path):
    model, ear, weight = clone(model), Listener(), np.ones(len(X))
    assert model.set_callbacks(ear) is model
    model.fit(X, y, sample_weight=weight)
    assert ear.begun == ear.ended >= 1
    assert ear.torn == 1
    assert ear.last["X"] is X
    assert ear.last["metadata"]["sample_weight"] is weight
    np.testing.assert_array_equal(ear.last["fitted_estimator"].predict(X), model.predict(X))
    plain = clone(model).set_callbacks().fit(X, y)
    np.testing.assert_array_equal(plain.dual_coef_, model.dual_coef_)
    path = tmp_path / "model.adatron"
    adatron.save(model, path)  # callbacks are in no file
    np.testing.assert_array_equal(adatron.load(path).predict(X), model.predict(X))


def test_a_long_fit_has_parts_and_can_be_stopped():
    A, b = make_classification(6000, 20, random_state=0, flip_y=0.05)
    ear = Listener()
    adatron.SVC(C=100).set_callbacks(ear).fit(A, b)
    assert 2 < ear.ended <= 101
    stopping, own = Listener(most=0), []
    model = adatron.SVC(C=100, callback=own.append).set_callbacks(stopping)
    with pytest.warns(UserWarning, match="the callback asked to stop"):
        model.fit(A, b)
    assert own
    assert not hasattr(model, "_fit_parts")


def test_searches_have_callbacks_too():
    pytest.importorskip("rich", reason="scikit-learn's ProgressBar needs rich")
    bar = callback.ProgressBar(max_propagation_depth=None)
    search = GridSearchCV(make_pipeline(StandardScaler(), adatron.SVC()), {"svc__C": [1, 10]}).set_callbacks(bar)
    assert search.fit(X, y).best_score_ > 0.9


class Failing(Listener):
    """Fails at the end of a fit."""

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        if X is not None:
            raise RuntimeError("the disk is full")


def test_a_callback_that_fails_after_the_fit_leaves_the_new_model_whole():
    model = adatron.SVC().fit(X[:, :1], y).set_callbacks(Failing())
    with pytest.raises(RuntimeError, match="disk"):
        model.fit(X, y)
    assert model.n_features_in_ == X.shape[1] == model.support_vectors_.shape[1]
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_scikit_learns_own_callbacks_work_on_every_estimator(model):
    pytest.importorskip("rich", reason="scikit-learn's ProgressBar needs rich")
    name = "r2" if is_regressor(model) else "accuracy"
    monitor = callback.ScoringMonitor(scoring=name)
    targets = np.ones(len(X)) if "OneClass" in type(model).__name__ else y
    model = clone(model).set_callbacks(callback.ProgressBar(), monitor).fit(X, targets)
    scores = [row[name] for row in monitor.get_logs().data]
    assert scores == [get_scorer(name)(model, X, targets)]


SHOWN = [*MODELS, adatron.SVC(kernel="linear")]


@pytest.mark.parametrize("model", SHOWN, ids=lambda model: type(model).__name__)
def test_the_certificate_comes_first(model):
    model.fit(X, y)
    tight = [] if isinstance(model, adatron.InputMarginSVC) else [model.compact()]
    for one in (model, *tight):
        shown = one._repr_html_()
        table = shown[shown.index("Fitted attributes") :]
        places = [table.index(name) for name in ("duality_gap_", "kkt_violation_", "support_vectors_")]
        assert places == sorted(places)
        assert ("coef_</a>" in table.replace("dual_coef_", "")) is (one.kernel == "linear")


def test_the_table_shows_the_worst_of_several_problems():
    model = adatron.SVC().fit(X, y)
    shown = model._repr_html_()
    table = shown[shown.index("Fitted attributes") :]
    assert f"{upward(model.duality_gap_.max())} (worst of 3)" in table
    assert f"{upward(model.kkt_violation_.max())} (worst of 3)" in table
    assert f"gap ≤ {upward(model.certificate_.gap)}, KKT ≤ {upward(model.certificate_.violation)}" in table
