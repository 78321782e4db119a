"""Jackknife+ and CV+: the same as refits, the coverage that the papers promise, and errors that say what to do.

Also tested here: ``left_out``.
"""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, NuSVC, NuSVR, QuantileSVR
from adatron.intervals import CVPlus, JackknifePlus
from adatron.intervals.conformity import interval, members, scores_of
from adatron.intervals.left_out import Followed, LeftOutModels, Refitted, independent_of_samples, left_out_of
from adatron.kernels import RBF
from adatron.learning import leave_out
from adatron.solvers.path import Stalled
from moments import at, raising

EXACT = {"tol": 1e-9, "gap_tol": 1e-9}
DRAWS, ALPHA = 200, 0.2


def sine(rng, n):
    """Noise that grows."""
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(X[:, 0]) + rng.normal(size=n) * (0.1 + 0.1 * abs(X[:, 0]))


def heavy(rng, n):
    """Outliers on both sides."""
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] - 0.5 * X[:, 1] + 0.2 * rng.standard_t(2, n)


def skewed(rng, n):
    """Errors that are never negative."""
    X = rng.uniform(-1, 1, (n, 2))
    return X, X[:, 0] ** 2 + rng.exponential(0.5, n)


def moons(rng, n):
    return make_moons(n, noise=0.35, random_state=rng.integers(2**31))


def blobs(rng, n):
    return make_blobs(n, centers=[(0, 0), (2, 0), (1, 2)], cluster_std=1.0, random_state=rng.integers(2**31))


def least(probability):
    """The number of hits of independent draws that chance undercuts once in ten thousand times."""
    return binom.ppf(1e-4, DRAWS, probability)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [sine, heavy, skewed])
@pytest.mark.parametrize("kind", [JackknifePlus, partial(CVPlus, cv=4)], ids=["jackknife", "cv"])
def test_intervals_cover(draw, kind):
    """One new sample a draw, so that hits are independent. The papers promise 1 - 2 alpha and expect 1 - alpha."""
    rng, hits = np.random.default_rng(5), 0
    model = kind(SVR(C=1.0, gamma=0.5), alpha=ALPHA)
    for _ in range(DRAWS):
        X, y = draw(rng, 41)
        low, high = model.fit(X[:-1], y[:-1]).predict_interval(X[-1:])[0]
        hits += low <= y[-1] <= high
    assert least(1 - ALPHA) <= hits < DRAWS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "how"),
    [
        (SVR(C=5, gamma=0.5, **EXACT), "path"),
        (SVR(C=5, gamma=0.5, bias="augmented", augment=2.0, **EXACT), "path"),
        (SVR(C=5, **EXACT), "fits"),  # gamma='scale' depends on the samples
        (NuSVR(C=5, gamma=0.5, **EXACT), "fits"),
        (QuantileSVR(quantile=0.3, gamma=0.5, **EXACT), "fits"),
        (make_pipeline(StandardScaler(), SVR(gamma=0.5, **EXACT)), "fits"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_intervals_are_those_of_refits(machine, how):
    X, y = sine(np.random.default_rng(0), 50)
    Z = np.linspace(-3, 3, 5)[:, None]
    found = JackknifePlus(machine, alpha=0.1).fit(X, y)
    refits = [clone(machine).fit(np.delete(X, i, 0), np.delete(y, i)) for i in range(50)]
    residuals = np.array([abs(y[i] - one.predict(X[i : i + 1])[0]) for i, one in enumerate(refits)])
    wanted = interval(np.stack([one.predict(Z) for one in refits], axis=1), residuals, 0.1)
    assert found.left_out_ == how
    assert found.left_out_violation_ < 1e-8
    np.testing.assert_allclose(found.scores_, residuals, atol=1e-6)
    np.testing.assert_allclose(found.predict_interval(Z), wanted, atol=1e-6)
    np.testing.assert_array_equal(found.predict(Z), clone(machine).fit(X, y).predict(Z))


@pytest.mark.slow
@pytest.mark.parametrize("draw", [moons, blobs])
@pytest.mark.parametrize(
    ("machine", "how"),
    [
        (SVC(gamma=0.5, **EXACT), "path"),
        (SVC(gamma=0.5, multi_class="ovr", class_weight={0: 2.0}, **EXACT), "path"),
        (NuSVC(nu=0.2, gamma=0.5, **EXACT), "path"),
        (SVC(gamma=0.5, class_weight="balanced", **EXACT), "fits"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_sets_are_those_of_refits(machine, how, draw):
    X, y = draw(np.random.default_rng(1), 45)
    Z, k = X[:6] + 0.3, y.max() + 1
    found = JackknifePlus(machine).fit(X, y)
    refits = [clone(machine).fit(np.delete(X, i, 0), np.delete(y, i)) for i in range(45)]
    own = np.array([one.decision_function(X[i : i + 1])[0] for i, one in enumerate(refits)])
    wanted = scores_of("margin", own, k)[np.arange(45), y]
    there = scores_of("margin", np.stack([one.decision_function(Z) for one in refits], axis=1), k)
    assert found.left_out_ == how
    np.testing.assert_allclose(found.scores_, wanted, atol=1e-5)
    for alpha in (0.05, 0.3, 0.6):
        sets = found.set_params(alpha=alpha).predict_set(Z)
        np.testing.assert_array_equal(sets, members(there, wanted, alpha, 1e-8))


def test_parts_of_the_samples():
    X, y = heavy(np.random.default_rng(2), 60)
    machine, Z = SVR(**EXACT), X[:4] + 0.1
    folds = list(KFold(5).split(X))
    found = CVPlus(machine, cv=5, alpha=0.1).fit(X, y)
    refits, number = [clone(machine).fit(X[train], y[train]) for train, _ in folds], np.arange(60) // 12
    residuals = np.concatenate([abs(y[t] - one.predict(X[t])) for one, (_, t) in zip(refits, folds, strict=True)])
    values = np.stack([one.predict(Z) for one in refits], axis=1)[:, number]
    np.testing.assert_array_equal(found.predict_interval(Z), interval(values, residuals, 0.1))
    assert found.left_out_ == "fits"
    assert CVPlus(SVR(gamma=1.0), cv=LeaveOneOut()).fit(X, y).left_out_ == "path"


def test_sparse_rows():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = heavy(np.random.default_rng(3), 40)
    dense = JackknifePlus(SVR(gamma=0.5)).fit(X, y)
    found = JackknifePlus(SVR(gamma=0.5)).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(found.predict_interval(sparse.csr_matrix(X)), dense.predict_interval(X), atol=1e-5)


def test_a_pickle_predicts_the_same_sets():
    X, y = blobs(np.random.default_rng(4), 60)
    model = JackknifePlus(SVC(gamma=0.5), conformity_score="adaptive").fit(X, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 (our own)
    np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))
    assert model.predict_set(X)[np.arange(60), model.predict(X)].all()


def lengths(some, others):
    return np.exp(-0.1 * np.subtract.outer([len(one) for one in some], [len(one) for one in others]) ** 2.0)


@pytest.mark.parametrize("lists", [[[0.0] * k for k in range(1, 13)], ["a" * k for k in range(1, 13)]])
def test_objects_of_different_lengths(lists):
    found = JackknifePlus(SVR(kernel=lengths), alpha=0.2).fit(lists, np.arange(12.0))
    assert found.left_out_ == "fits"
    assert np.isfinite(found.predict_interval(lists[:3])).all()
    sets = CVPlus(SVC(kernel=lengths), cv=3).fit(lists, np.arange(12) > 6).predict_set(lists[:3])
    assert sets.shape == (3, 2)


@pytest.mark.parametrize("rows", [np.empty((0, 1)), [], 3, np.array(3.0), [1.0], [[1.0], [2.0, 3.0]]], ids=repr)
def test_the_machine_says_what_is_wrong_with_rows(rows):
    X, y = sine(np.random.default_rng(11), 30)
    for model, name in (JackknifePlus(SVR(gamma=1.0)), "interval"), (CVPlus(SVC(), cv=3), "set"):
        model.fit(X, y if name == "interval" else y > 0)
        with pytest.raises(ValueError) as wanted:  # noqa: PT011 (the words are compared)
            model.estimator_.predict(rows)
        with pytest.raises(ValueError) as found:  # noqa: PT011
            getattr(model, f"predict_{name}")(rows)
        assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize(("alpha", "needed"), [(0.1, 9), (0.07, 14), (0.05, 19)])
def test_too_few_samples_are_warned_of(alpha, needed):
    X, y = sine(np.random.default_rng(12), needed)
    model = JackknifePlus(SVR(gamma=1.0), alpha=alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(model.fit(X, y).predict_interval(X)).all()
    model.fit(X[1:], y[1:])
    with pytest.warns(UserWarning, match=f"alpha={alpha} needs {needed} training samples or more, and there are"):
        assert np.isinf(model.predict_interval(X)).all()


def test_no_lower_end_is_above_its_upper_end():
    """With alpha > 1/2 the ends of the definition cross for some samples, and meet in the middle then."""
    rng = np.random.default_rng(1)
    X, y = sine(rng, 18)
    model = CVPlus(SVR(C=3, gamma=0.5), cv=KFold(3), alpha=0.9).fit(X, y)
    Z = np.linspace(-3, 3, 41)[:, None]
    parts = [np.setdiff1d(np.arange(18), part) for _, part in KFold(3).split(X)]
    left_out = np.repeat([SVR(C=3, gamma=0.5).fit(X[kept], y[kept]).predict(Z) for kept in parts], 6, axis=0)
    low = np.sort(left_out - model.scores_[:, None], axis=0)[16]  # floor(0.9 * 19) - 1
    high = np.sort(left_out + model.scores_[:, None], axis=0)[1]  # ceil(0.1 * 19) - 1
    crossed = low > high
    assert 0 < crossed.sum() < len(Z)
    wanted = np.where(crossed, (low + high) / 2, [low, high]).T
    np.testing.assert_allclose(model.predict_interval(Z), wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("C", [1e-10, 1.0])
def test_sets_do_not_depend_on_the_size_of_decision_values(C):
    """A tiny C gives tiny decision values; their order tells classes apart all the same."""
    X, y = moons(np.random.default_rng(2), 60)
    sets = JackknifePlus(SVC(C=C, gamma=0.5, gap_tol=None), alpha=0.2).fit(X[:40], y[:40]).predict_set(X[40:])
    assert sets.sum() < 1.7 * len(sets)
    assert sets[np.arange(20), y[40:]].sum() >= 12


def test_a_class_that_a_model_would_lack_is_refused_before_the_fit():
    class Unfit(SVC):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError

    with pytest.raises(ValueError, match="class True has too few of them"):
        JackknifePlus(Unfit()).fit(np.arange(30.0)[:, None], np.arange(30) == 3)
    with pytest.raises(ValueError, match="Unknown label type"):
        JackknifePlus(Unfit()).fit(np.arange(30.0)[:, None], np.linspace(0, 1, 30))


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = sine(np.random.default_rng(13), 30)
    model = JackknifePlus(SVR(gamma=1.0)).fit(X, y)
    before = model.predict_interval(X)
    with pytest.raises(ValueError, match="use CVPlus"):
        model.set_params(estimator__cache_size=0.001).fit(X, y + 1.0)
    np.testing.assert_array_equal(model.predict_interval(X), before)


def test_features_are_those_of_the_machine():
    frame = pd.DataFrame(sine(np.random.default_rng(14), 30)[0], columns=["width"])
    model = CVPlus(SVR(), cv=3)
    assert not hasattr(model, "n_features_in_")
    assert model.fit(frame, frame["width"]).n_features_in_ == 1
    assert model.feature_names_in_.tolist() == ["width"]
    assert not hasattr(model.fit(frame.to_numpy(), frame["width"]), "feature_names_in_")


X, Y = make_moons(40, noise=0.3, random_state=0)
ALONE = list(np.arange(40)[:, None])


@pytest.mark.parametrize(
    ("machine", "wanted"),
    [
        (SVC(), False),
        (SVC(kernel="linear"), True),
        (SVC(gamma="auto"), True),
        (SVC(kernel=RBF(gamma=0.5)), True),
        (SVC(gamma=1.0, class_weight="balanced"), False),
        (SVC(gamma=1.0, C=np.inf), False),
        (SVR(gamma=1.0, bias="augmented", augment="auto"), False),
        (SVR(gamma=1.0, augment="auto"), True),
        (NuSVC(gamma=1.0), True),
    ],
    ids=str,
)
def test_nothing_else_may_depend_on_the_samples(machine, wanted):
    assert independent_of_samples(machine) is wanted


def test_models_of_a_path_are_those_of_fits():
    machine = SVC(C=3.0, gamma=1.0, tol=1e-9, gap_tol=1e-9)
    told = []
    path = left_out_of(machine, machine.fit(X, Y), X, Y, ALONE, lambda one, total: told.append(total))
    fits = Refitted.of(machine, X, Y, ALONE, lambda one, total: None)
    assert isinstance(path, Followed)
    assert isinstance(fits, LeftOutModels)
    assert set(told) == {len(told)}
    assert len(told) < 40 == len(fits.models)  # a sample that does not decide costs nothing
    np.testing.assert_allclose(path.values(X)[:, path.number], fits.values(X), atol=1e-7)
    for models in (path, fits):
        np.testing.assert_array_equal(models.own(X), models.values(X)[np.arange(40), models.number])


@pytest.mark.filterwarnings("ignore:Not certified")
def test_without_a_path_there_are_fits():
    sigmoid = SVC(kernel="sigmoid", gamma=0.1, coef0=-1.0)  # not convex
    found = left_out_of(sigmoid, sigmoid.fit(X, Y), X, Y, ALONE, lambda one, total: None)
    assert found.how == "fits"


def test_where_rounding_leaves_no_way_there_are_fits():
    machine = SVC(gamma=1.0)
    with at(leave_out.without, raising(Stalled)):
        found = left_out_of(machine, clone(machine).fit(X, Y), X, Y, ALONE, lambda one, total: None)
    assert found.how == "fits"


def test_a_violation_that_is_no_number_is_not_lost():
    class Unproven(SVC):
        kkt_violation_ = property(lambda self: np.nan if self.shape_fit_[0] == 20 else 1e-9)

    found = Refitted.of(
        Unproven(), X, Y, [np.arange(10), np.arange(10, 30), np.arange(30, 40)], lambda one, total: None
    )
    assert np.isnan(found.violation)
