"""Incremental models: after every step the solution is that of a fit to the samples that are then in the model.

Also tested here: ``report``, and the estimators in ``estimators/incremental``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris

from adatron import SVC, SVDD, IncrementalSVC
from adatron.certificates import kkt_violation
from adatron.learning import track
from adatron.solvers.path import Stalled
from lives import KERNELS, MODELS, Life
from moments import at, raising

FORMS = [(kind, bias) for kind in ("svc", "nusvc", "svr", "svr0") for bias in ("explicit", "augmented", "none")]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize(("kind", "bias"), [*FORMS, ("oneclass", None), ("svdd", None)])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**31), C=st.sampled_from([1e-9, 0.001, 1.0, 1000.0]), equal=st.booleans())
def test_every_step_ends_at_the_solution(kind, bias, kernel, seed, C, equal):
    more = {"C": C} if kind.startswith(("svc", "svr")) or (kind == "svdd" and C == 1.0) else {}
    life = Life(seed, kind, kernel, equal, **({} if bias is None else {"bias": bias}), **more)
    life.assert_solved()
    for _ in range(4):
        life.step()
        life.assert_solved()


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("bound", [{"nu": 0.2}, {"C": 0.2}])
def test_a_ball_that_learns_and_unlearns_is_that_of_the_batch(kernel, bound):
    life = Life(7, "svdd", kernel, False, **bound)
    life.add(10)
    life.forget(15)
    model, Z = life.model, life.samples(50)[0]
    batch = SVDD(kernel=model.kernel_, tol=1e-9, gap_tol=1e-10, precision="double", **bound)
    batch.fit(model.store.X, model.store.y)
    np.testing.assert_allclose(model.decision_function(Z), batch.decision_function(Z), atol=1e-7)
    for name in ("radius_", "center_norm_", "dual_objective_", "offset_"):
        assert getattr(model, name) == pytest.approx(getattr(batch, name), rel=1e-7)
    report = model.deletion_report(refit=True)
    assert report["largest_difference"] <= 1e-9
    assert report["kkt_violation"] <= 1e-9
    for one in model.ids_[:5].tolist():
        place = model.ids_.tolist().index(one)
        x, value = model.store.X[[place]], model.loo_decision()[place]
        assert clone(model).fit(model.store.X, model.store.y, ids=model.ids_).forget(one).decision_function(x)[
            0
        ] == pytest.approx(value, abs=1e-8)


def test_a_ball_keeps_the_samples_that_its_C_needs():
    life = Life(2, "svdd", "rbf", False, C=0.1)
    ordinary = life.model.ids_[life.model.store.y > 0]
    life.model.forget(ordinary[10:])
    with pytest.raises(ValueError, match="C must be at least 1 / "):
        life.model.forget(ordinary[0])
    assert np.isin(ordinary[:10], life.model.ids_).all()


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_several_classes(multi_class, seed):
    life = Life(seed, "svc", "rbf", False, n=60, classes=4, multi_class=multi_class)
    for _ in range(4):
        life.step()
        life.assert_solved()


@pytest.mark.parametrize("kind", list(MODELS))
@pytest.mark.parametrize("count", [1, 7, 100])
def test_a_window_keeps_the_last_samples(kind, count):
    life = Life(5, kind, "rbf", False, window=40)
    for _ in range(3):
        life.add(count)
    life.kept = {one: life.kept[one] for one in sorted(life.kept)[-40:]}
    life.assert_solved()


def test_attributes_are_those_of_the_batch():
    X, y = load_iris(return_X_y=True)
    model = IncrementalSVC(gamma=0.5, C=2.0).fit(X, y)
    batch = SVC(gamma=0.5, C=2.0, tol=1e-9, precision="double").fit(X, y)
    np.testing.assert_array_equal(model.n_support_, batch.n_support_)
    np.testing.assert_allclose(model.decision_function(X), batch.decision_function(X), atol=1e-7)
    np.testing.assert_allclose(model.dual_objective_, batch.dual_objective_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), batch.predict(X))
    np.testing.assert_array_equal(model.to_sklearn().predict(X), batch.predict(X))
    model.set_params(kernel="linear", C=0.5).fit(X, y)
    assert model.coef_.shape == (3, 4)


def test_a_hard_margin_and_back():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    model = IncrementalSVC(C=1.0, gamma=0.5).fit(X[:90], y[:90]).set_C(np.inf)
    model.partial_fit(X[90:], y[90:])
    fresh = IncrementalSVC(C=np.inf, gamma=0.5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-6)
    assert model.set_C(1.0).n_refit_ >= 2


def test_a_class_may_disappear_and_come_back():
    X, y = load_iris(return_X_y=True)
    model = IncrementalSVC(gamma=0.5).fit(X, y)
    model.forget(model.ids_[model.store.y == 2])
    assert set(model.predict(X)) == {0, 1}
    model.partial_fit(X[100:], y[100:])
    np.testing.assert_allclose(
        model.decision_function(X), IncrementalSVC(gamma=0.5).fit(X, y).decision_function(X), atol=1e-8
    )


def test_classes_may_come_later():
    X, y = load_iris(return_X_y=True)
    model = IncrementalSVC(gamma=0.5).partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    assert (model.predict(X) == 0).mean() > 0.5
    for i in range(50, 150):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(
        model.decision_function(X), IncrementalSVC(gamma=0.5).fit(X, y).decision_function(X), atol=1e-8
    )


def test_rows_of_another_form_are_learned_as_those_of_the_first():
    X, y = load_iris(return_X_y=True)
    forms = [(np.asarray, np.asarray), (np.asarray, sparse.csr_matrix), (sparse.csr_matrix, np.asarray)]
    models = [IncrementalSVC(gamma=0.5).fit(a(X[::2]), y[::2]).partial_fit(b(X[1::2]), y[1::2]) for a, b in forms]
    for model in models[1:]:
        np.testing.assert_allclose(model.decision_function(X), models[0].decision_function(X), atol=1e-8)


def test_default_ids_follow_those_that_were_given():
    life = Life(9, "svc", "rbf", False)
    X, y = life.samples(10)
    model = life.model.fit(X, y, ids=np.arange(10, 20))
    for _ in range(15):
        model.partial_fit(X[:1], y[:1])
    np.testing.assert_array_equal(model.ids_, np.arange(10, 35))
    assert model.forget([34]).partial_fit(X[:1], y[:1]).ids_[-1] == 35


def test_where_rounding_leaves_no_way_the_solution_is_found_anew():
    life = Life(9, "svc", "rbf", False)
    with at(track.Homotopy.extend, raising(Stalled)):
        life.add(3)
    life.assert_solved()
    assert life.model.n_refit_ == 1


def test_a_path_that_lost_its_way_is_found_out():
    """As if rounding had moved it."""
    life = Life(9, "svc", "rbf", False)

    def astray(given):
        path = given["self"]
        path.beta[path.ids[:2]] += 1e-3
        path.g += 1e-3 * path.free.times((np.arange(len(path.ids)) < 2) * 1.0)

    with at(track.Homotopy.extend, astray, end=True):
        life.add(3)
    life.assert_solved()
    assert life.model.n_refit_ == 1


def test_the_report_compares_with_a_refit():
    life = Life(10, "svc", "rbf", False)
    life.forget(5)
    report = life.model.deletion_report(refit=True)
    assert report["samples"] == 35
    assert report["arrived"] == 40
    assert report["largest_difference"] <= 1e-8
    assert report["duality_gap"] <= 1e-10


def test_the_report_covers_the_errors_of_kernel_values():
    """Clusters so far apart that a squared distance by norms and products has few digits left."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 1e6])
    model = IncrementalSVC(C=10.0, gamma=1.0).fit(X, np.where(rng.random(120) < 0.5, 1, -1))
    (one,) = model.learner.tracks
    samples, dual = model.store.X, one.dual(model.learner.problem)
    K = np.exp(-((samples[:, np.newaxis] - samples) ** 2).sum(axis=2))
    true = kkt_violation(dual, one.beta, K @ one.beta - dual.t)
    assert model.deletion_report()["kkt_violation"] >= true
