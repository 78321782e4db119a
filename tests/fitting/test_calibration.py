"""Class probabilities: out of fold, cheap, the same every time, and of one mind with predict."""

import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from adatron import SVC, NuSVC
from adatron.estimators.base import classifier
from adatron.fitting import calibration, engine, samples
from adatron.model.readout import agreeing, coupled
from machines import altered, four_classes, two_moons
from moments import calls


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def noisy(n=300):
    return make_classification(n, 20, flip_y=0.1, random_state=0)


def iris():
    return load_iris(return_X_y=True)


def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    return X[:450], y[:450]


@pytest.fixture
def division():
    """How fits divide their samples."""
    with calls(samples.divide, keep=lambda _, division: division) as seen:
        yield seen


@pytest.fixture
def slopes():
    """The values that slopes are fitted to."""
    with calls(classifier.slope, keep=lambda given, _: given["margins"]) as seen:
        yield seen


# out of fold


@pytest.mark.parametrize(
    "model",
    [
        SVC(C=2.0),
        SVC(bias="augmented"),
        SVC(C=float("inf"), gamma=3.0),
        SVC(C=2.0, multi_class="ovr"),
        NuSVC(nu=0.3),
        NuSVC(nu=0.3, bias="none"),
    ],
    ids=lambda model: "".join(str(model).split()),
)
@pytest.mark.parametrize("data", [two_moons, four_classes])
def test_values_are_those_of_fits_without_the_sample(model, data, division, slopes):
    """As far as problems of folds are solved: to a part of the margin."""
    X, y = data()
    model = clone(model).set_params(tol=1e-7, decision_function_shape="ovo")
    model.set_params(gamma=3.0 if model.gamma == 3.0 else 0.3)
    clone(model).set_params(probability=True).fit(X, y)
    (division,), (values,) = division, slopes
    rows = division.samples.rows
    assert sorted(rows) == list(range(len(y)))
    np.testing.assert_array_equal(np.unique(y)[division.classes], y[rows])
    for fold in range(5):
        train, test = rows[division.out != fold], division.out == fold
        expected = model.fit(X[train], y[train]).decision_function(X[rows[test]])
        own = division.classes[test]
        if expected.ndim == 1:
            expected = np.where(own == 1, expected, -expected)[:, None]
        elif model.multi_class == "ovo":
            expected = in_favour(expected, own)
        else:
            others = np.arange(4) != own[:, None]
            expected = (expected[np.arange(len(own)), own][:, None] - expected)[others].reshape(len(own), 3)
        np.testing.assert_allclose(
            values[test], expected, atol=3 * calibration.SLOPE_ERROR * max(1.0, np.abs(expected).max())
        )


def in_favour(values, own):
    """The values of the pairs of each sample's own class, positive for this class."""
    pairs = np.array(list(combinations(range(4), 2)))
    signed = [np.where(pairs[:, 0] == c, row, -row) for row, c in zip(values, own, strict=True)]
    return np.array([row[(pairs == c).any(axis=1)] for row, c in zip(signed, own, strict=True)])


def test_noise_is_not_learnt_by_heart():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), (rng.random(300) < 0.3).astype(int)
    model = SVC(C=100.0, gamma=10.0, probability=True).fit(X, y)
    assert model.score(X, y) == 1.0  # in the sample all is known
    p = model.predict_proba(rng.normal(size=(300, 5)))[:, 1]
    assert np.quantile(np.abs(p - 0.3), 0.95) < 0.1  # the rest are close to a training sample
    assert model.predict_proba(X).max() < 0.9


def test_folds_are_stratified_and_keep_equal_samples_together(division):
    X, y = four_classes()
    SVC(probability=True).fit(np.vstack([X, X[:50]]), np.concatenate([y, y[:50]]))
    (division,) = division
    assert len(division.out) == len(y)
    counts = np.bincount(division.classes * 5 + division.out).reshape(4, 5)
    assert (np.ptp(counts, axis=1) <= 1).all()


# cheap


@pytest.mark.parametrize(
    ("model", "data", "most"),
    [
        (SVC(), cancer, 0.6),
        (SVC(C=0.1), lambda: noisy(1000), 0.4),
        (NuSVC(nu=0.2), cancer, 0.6),
        (SVC(solver="smo"), noisy, 0.4),
        (SVC(), digits, 0.6),
    ],
    ids=["small", "noisy", "nu", "smo", "many"],
)
def test_folds_start_from_the_full_solution(model, data, most):
    with calls(engine.solve) as fits:
        clone(model).set_params(probability=True).fit(*data())
    [(given, solved)] = [one for one in fits if one[0]["start"] is not None]
    cold = engine.solve(given["X"], given["samples"], given["programs"], replace(given["settings"], tol=1e-3))
    warm, cold = (sum(one.n_iter for one in some) for some in (solved, cold))
    assert warm < most * cold


def test_the_main_fit_is_the_same_with_and_without_probabilities():
    X, y = four_classes()
    plain, model = SVC().fit(X, y), SVC(probability=True).fit(X, y)
    assert plain.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    for name in ("duality_gap_", "kkt_violation_", "n_iter_", "dual_objective_"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(model, name))


# the same every time


def test_probabilities_are_the_same_every_time():
    X, y = four_classes()
    first = SVC(probability=True).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    again = [
        SVC(probability=True).fit(X, y),
        SVC(probability=True, n_jobs=1).fit(X, y),
        SVC(probability=True).fit(X[order], y[order]),
    ]
    for model in again:
        assert model._slope == first._slope
        # The sum over the support vectors runs in the order of the rows.
        np.testing.assert_allclose(model.predict_proba(X), first.predict_proba(X), rtol=1e-9)
    seeded = [SVC(probability=True, random_state=seed).fit(X, y).predict_proba(X) for seed in (1, 1, 2)]
    assert seeded[0].tobytes() == seeded[1].tobytes() != seeded[2].tobytes()


# of one mind with predict


def variants(classes):
    yield from (SVC(), SVC(class_weight="balanced"), SVC(kernel="linear"), NuSVC(nu=0.2), SVC(bias="none"))
    if classes > 2:
        yield from (SVC(break_ties=True), SVC(multi_class="ovr"), NuSVC(nu=0.2, multi_class="ovr"))
        yield from (SVC(decision_function_shape="ovo"), NuSVC(nu=0.2, break_ties=True))


@pytest.mark.parametrize("data", [cancer, two_moons, four_classes, iris])
def test_the_predicted_class_has_the_largest_probability(data):
    X, y = data()
    rng = np.random.default_rng(0)
    new = rng.normal(X.mean(axis=0), 2.0 * X.std(axis=0), size=(1000, X.shape[1]))
    for model in variants(len(np.unique(y))):
        model.set_params(probability=True).fit(X, y)
        p = model.predict_proba(new)
        np.testing.assert_array_equal(model.classes_[np.argmax(p, axis=1)], model.predict(new))
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
        assert ((p >= 0) & (p <= 1)).all()
        np.testing.assert_array_equal(model.predict_log_proba(new), np.log(p))
        assert list(model.classes_) == sorted(set(y))


def test_ties_go_where_predict_sends_them():
    # A linear machine through 0, a tie of two classes; three classes in a circle, each beaten by the next one.
    model = SVC(kernel="linear", probability=True).fit([[-2.0], [-1.0], [1.0], [2.0]], ["a", "a", "b", "b"])
    model = altered(model, intercepts=np.zeros(1))
    assert model.predict([[0.0]]) == "b"
    assert model.classes_[np.argmax(model.predict_proba([[0.0]]))] == "b"
    angles = np.repeat([0.0, 2.0, 4.0], 20) + np.random.default_rng(0).normal(0, 0.8, 60)
    X, y = np.c_[np.cos(angles), np.sin(angles)], np.repeat([0, 1, 2], 20)
    model = SVC(kernel="linear", C=0.1, probability=True).fit(X, y)
    new = np.random.default_rng(1).normal(0, 0.1, (3000, 2))
    counts = np.sort(np.stack([np.sum(vote, axis=1) for vote in three_votes(model, new)], axis=1), axis=1)
    assert (counts[:, 0] == counts[:, 2]).any()  # ties of votes
    np.testing.assert_array_equal(np.argmax(model.predict_proba(new), axis=1), model.predict(new))


def three_votes(model, X):
    won = model.set_params(decision_function_shape="ovo").decision_function(X) > 0
    return won[:, [0, 1]], np.c_[~won[:, 0], won[:, 2]], ~won[:, [1, 2]]


def test_two_classes_keep_the_order_of_the_decision_values():
    X, y = two_moons()
    model = SVC(probability=True).fit(X, y)
    order = np.argsort(model.decision_function(X))
    p = model.predict_proba(X)[order, 1]
    assert (np.diff(p) >= 0).all()
    assert len(np.unique(p)) == len(np.unique(model.decision_function(X)))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_nearest_probabilities_that_agree(seed, classes):
    """Against a general optimiser of the divergence of Kullback and Leibler."""
    rng = np.random.default_rng(seed)
    p, code = rng.dirichlet(np.ones(classes)), int(rng.integers(classes))
    [mine] = agreeing(p[None], np.array([code]))
    assert np.argmax(mine) == code
    assert mine.sum() == pytest.approx(1.0, abs=1e-14)
    limits = [{"type": "ineq", "fun": lambda q, k=k: q[code] - q[k]} for k in range(classes) if k != code]
    limits.append({"type": "eq", "fun": lambda q: q.sum() - 1.0})
    best = minimize(
        lambda q: -p @ np.log(q), np.full(classes, 1.0 / classes), jac=lambda q: -p / q,
        bounds=[(1e-9, 1.0)] * classes, constraints=limits, method="SLSQP", options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert -p @ np.log(mine) <= best.fun + 1e-9


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_pairs_that_agree_give_their_probabilities_back(seed, classes):
    logits = np.random.default_rng(seed).normal(0.0, 5.0, (3, classes))
    pairs = np.stack([logits[:, i] - logits[:, j] for i, j in combinations(range(classes), 2)], axis=1)
    expected = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    np.testing.assert_allclose(coupled(pairs, classes), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("data", "multi_class"),
    [(cancer, "ovo"), (digits, "ovo"), (digits, "ovr"), (lambda: four_classes(800), "ovo")],
    ids=["cancer", "digits", "rest", "several"],
)
def test_log_loss_beside_the_documented_way(data, multi_class):
    X, y = data()
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    model = SVC(multi_class=multi_class)
    documented = CalibratedClassifierCV(model, ensemble=False).fit(train, y_train).predict_proba(test)
    own = clone(model).set_params(probability=True).fit(train, y_train).predict_proba(test)
    assert log_loss(y_test, own) < log_loss(y_test, documented) + 0.01


# errors and limits


def test_probabilities_only_on_request():
    X, y = two_moons()
    for model in (SVC(), SVC(probability=False), NuSVC()):
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError, match="predict_log_proba"):
            model.fit(X, y).predict_log_proba(X)
        with pytest.raises(NotFittedError, match="not available when fitted with probability=False"):
            model.set_params(probability=True).predict_proba(X)
    with pytest.raises(NotFittedError):
        SVC(probability=True).predict_proba(X)
    again = SVC(probability=np.True_).fit(X, y).set_params(probability=False).fit(X, y).set_params(probability=True)
    with pytest.raises(NotFittedError, match="not available when fitted with probability=False"):
        again.predict_proba(X)


def test_a_single_sample_of_each_class_is_refused_before_the_fit():
    model = SVC(probability=True, callback=lambda progress: pytest.fail("the fit began"))
    for X in ([[0.0], [1.0], [2.0]], [[0.0], [1.0], [2.0], [2.0]]):
        with pytest.raises(ValueError, match="a class with at least 2 distinct samples"):
            model.fit(X, list(range(3)) + [2] * (len(X) - 3))


def test_the_only_sample_of_a_class_is_never_left_out(division):
    X, y = four_classes()
    y[0] = "e"
    model = SVC(probability=True).fit(X, y)
    (division,) = division
    assert np.count_nonzero(division.out == -1) == 1
    assert division.samples.rows[division.out == -1] == 0
    rows = [sum(int(division.samples.sizes[s]) for s in division.kept(fold)[4]) for fold in range(5)]
    assert rows == [1] * 5
    np.testing.assert_array_equal(model.classes_[np.argmax(model.predict_proba(X), axis=1)], model.predict(X))


@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_small_classes_and_classes_without_weight(kind):
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 1, 2, 2, 2, 2])
    model = kind(probability=True, nu=1.0) if kind is NuSVC else kind(probability=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = model.fit(X[:4], y[:4]).predict_proba(X)
        assert p.shape == (8, 2)
        if kind is SVC:
            p = SVC(probability=True).fit(X, y, (y < 2).astype(float)).predict_proba(X)
            assert p.shape == (8, 3)


def test_the_largest_nu_is_still_feasible_in_the_folds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(52, 2)), np.repeat([0, 1], 26)
    X[y == 1] += 1.0
    p = NuSVC(nu=1.0, probability=True).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()


def test_folds_that_do_not_converge_are_reported():
    X, y = two_moons()
    with pytest.warns(ConvergenceWarning) as record:
        SVC(probability=True, max_iter=3).fit(X, y)
    texts = [str(one.message) for one in record]
    assert sum("of 5 problems of the folds" in text for text in texts) == 1
    assert sum("Not converged: " in text for text in texts) == 1
