"""Exact influence: the model without a sample is the one fitted without it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_blobs, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVDD, SVR, IncrementalSVC, NuSVC, OneClassSVM
from adatron.insight import influence, label_issues, leave_one_out
from adatron.insight.leave_one_out import along_C, refitted
from adatron.insight.subject import Subject
from adatron.insight.twin import twin_of

X, y = make_moons(80, noise=0.25, random_state=0)
Z, z = make_moons(50, noise=0.25, random_state=1)
D, d = (part[:80] for part in load_diabetes(return_X_y=True))


@pytest.mark.parametrize(
    ("model", "data", "probes"),
    [
        (SVC(C=5, gamma=1.0), (X, y), Z),
        (NuSVC(nu=0.2, gamma=1.0), (X, y), Z),
        (SVR(C=100, epsilon=10, gamma=2.0), (D, d), D[:20]),
        (OneClassSVM(nu=0.2, gamma=1.0), (X,), Z),
        (SVDD(nu=0.3, gamma=0.5), (X, np.where(np.arange(80) < 6, -1, 1)), Z),
    ],
    ids=lambda value: type(value).__name__,
)
def test_it_is_the_change_by_a_fit_without_the_sample(model, data, probes):
    model = clone(model).set_params(gap_tol=1e-9).fit(*data)
    found = influence(model, *data, **({} if len(data) == 2 else {"y": None}), X_test=probes)
    assert found.complete
    assert (found.path_violation < 1e-8).all()
    assert np.nanmax(found.proven) < 1e-6
    assert np.isfinite(found.proven).sum() == min(10, len(found.numbers))
    of = getattr(model, "decision_function", model.predict)
    for k in (0, len(found.numbers) // 2):
        kept = np.arange(len(data[0])) != found.numbers[k]
        other = clone(model).fit(*(part[kept] for part in data))
        change = np.abs(getattr(other, of.__name__)(probes) - of(probes)).mean()
        assert found.change[k] == pytest.approx(change, rel=1e-3, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(
    "model",
    [SVC(), SVC(class_weight={0: 2.0}), SVR(epsilon=0.1), NuSVC(), OneClassSVM(), SVDD()],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'class_weight', None)}",
)
def test_each_sample_of_a_small_problem_changes_what_a_fit_without_it_changes(model, kernel):
    """Most of these have no free support vector, so that b is the middle of an interval."""
    for seed in (*range(4), 41):
        random = np.random.default_rng(seed)
        t = np.arange(12) % 2
        A = random.normal(size=(12, 2)) + t[:, None]
        name, value = ("nu", (0.25, 0.4)[seed % 2]) if hasattr(model, "nu") else ("C", (0.05, 0.1)[seed % 2])
        model = clone(model).set_params(kernel=kernel, gamma=1.0, gap_tol=1e-9, **{name: value})
        data = (A,) if isinstance(model, (OneClassSVM, SVDD)) else (A, A[:, 0] if isinstance(model, SVR) else t)
        of = model.fit(*data).predict if isinstance(model, SVR) else model.fit(*data).decision_function
        found, left_out = influence(model, *data), leave_one_out(model, *data)
        for i in range(12):
            kept = np.arange(12) != i
            other = clone(model).fit(*(part[kept] for part in data))
            value = getattr(other, of.__name__)(A)
            change = found.change[found.numbers == i]
            np.testing.assert_allclose(change if len(change) else 0.0, np.abs(value - of(A)).mean(), atol=1e-5)
            np.testing.assert_allclose(left_out.values[i, 0], value[i], atol=1e-5)


def test_the_median_sample_decides_although_its_coefficient_is_0():
    random = np.random.default_rng(1)
    A, t = random.normal(size=(9, 2)), random.normal(size=9)
    model = SVR(C=1e-3, epsilon=0.0, gamma=0.5, tol=1e-9).fit(A, t)
    (median,) = np.setdiff1d(np.arange(9), model.support_)
    kept = np.arange(9) != median
    other = clone(model).fit(A[kept], t[kept])
    found, left = influence(model, A, t), leave_one_out(model, A, t)
    change = found.change[found.numbers == median]
    np.testing.assert_allclose(change, [np.abs(other.predict(A) - model.predict(A)).mean()], atol=1e-8)
    np.testing.assert_allclose(left.predicted[median], other.predict(A[[median]])[0], atol=1e-8)


def test_scores_and_flips_are_those_of_the_model_without_the_sample():
    model = SVC(C=5, gamma=1.0).fit(X, y)
    found = influence(model, X, y, Z, z)
    assert found.base == model.score(Z, z)
    kept = np.arange(len(X)) != found.numbers[0]
    other = clone(model).fit(X[kept], y[kept])
    assert found.score[0] == pytest.approx(other.score(Z, z) - found.base)
    assert found.flips[0] == np.sum(other.predict(Z) != model.predict(Z))
    assert set(found.numbers) == set(model.support_)


def test_a_subset_is_the_same_each_time_and_says_so():
    model = SVC(C=0.1).fit(X, y)
    first, second = (influence(model, X, y, max_deletions=5) for _ in range(2))
    np.testing.assert_array_equal(first.numbers, second.numbers)
    assert not first.complete
    assert len(first.numbers) == 5 < first.n_candidates


def test_leave_one_out_agrees_with_the_incremental_model_and_with_fits():
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    scaled = make_pipeline(StandardScaler(), SVC(C=2, class_weight={0: 2.0}))
    scaled.fit(X, y, svc__sample_weight=weights)
    found = leave_one_out(scaled, X, y, sample_weight=weights)
    np.testing.assert_array_equal(found.numbers, np.flatnonzero(weights))
    assert found.difference < 0.01
    one = int(found.numbers[np.argmin(np.abs(found.values[:, 0]))])
    kept = np.arange(len(X)) != one
    other = clone(scaled[-1]).set_params(gamma=scaled[-1]._gamma, gap_tol=1e-9)
    rows = scaled[:-1].transform(X)
    other.fit(rows[kept], y[kept], weights[kept])
    value = found.values[found.numbers == one, 0][0]
    assert value == pytest.approx(other.decision_function(rows[[one]])[0], abs=1e-4)
    incremental = IncrementalSVC(C=2, gamma=1.0).fit(X, y)
    assert leave_one_out(incremental, X, y).error == incremental.loo_error()
    some = leave_one_out(incremental, X, y, max_samples=30)
    assert len(some.numbers) == 30
    assert some.uncertainty > 0.0
    assert leave_one_out(incremental, X, y).complete


def test_a_part_without_an_error_is_not_exact():
    A, b = make_blobs(80, centers=2, random_state=0, cluster_std=0.3)
    some = leave_one_out(SVC().fit(A, b), A, b, max_samples=10)
    assert some.error == 0.0
    assert some.uncertainty > 0.0
    assert not some.complete


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_changed_label_is_the_most_suspicious_one(multi_class):
    A, b = load_iris(return_X_y=True)
    b = b.copy()
    b[7] = 2
    found = label_issues(SVC(multi_class=multi_class).fit(A, b), A, b)
    assert (found.numbers[0], found.given[0], found.proposed[0]) == (7, 2, 0)
    assert (found.score <= 0.0).all()
    assert (b[found.opponents[0]] == 0).all()


def test_left_out_weights_are_warned_of():
    weights = np.where(y == 1, 20.0, 1.0)
    model = SVC(C=0.1).fit(X, y, weights)
    with pytest.warns(UserWarning, match="Pass the weights of the samples"):
        leave_one_out(model, X, y)


@pytest.mark.parametrize("kind", [SVC, IncrementalSVC])
def test_weights_of_classes_count_once_along_C(kind):
    model = kind(C=1, class_weight={0: 3.0}).fit(X, y)
    subject = Subject.of(model, X, y)
    twin = twin_of(subject)
    assert along_C(subject, twin, [1.0]).error[0] == leave_one_out(model, X, y).error
    other = refitted(subject, twin, C=1.0).model
    np.testing.assert_allclose(other.decision_function(Z), model.decision_function(Z), atol=1e-2)
    with pytest.raises(ValueError, match="'factors' parameter"):
        along_C(subject, twin, [])


def test_an_incremental_model_keeps_the_order_of_its_ids():
    model = IncrementalSVC().fit(X, y)
    model.forget([3])
    assert leave_one_out(model, X[model.ids_], y[model.ids_]).error == model.loo_error()
