"""Full conformal prediction: the same as fits with each candidate, its coverage, its costs, and its errors."""

import threading
from itertools import count

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

from adatron import SVC, IncrementalSVC
from adatron.intervals import FullConformal, full
from adatron.intervals.conformity import scores_of
from adatron.intervals.full import Candidates
from adatron.solvers.path import Homotopy, Stalled
from moments import at, raising

THREE = [(0, 0), (2, 0), (1, 2)]


def moons(seed, n):
    return make_moons(n, noise=0.35, random_state=seed)


def blobs(seed, n):
    return make_blobs(n, centers=THREE, random_state=seed)


def by_fits(machine, X, y, Z, kind):
    """p-values by a fit with each candidate."""
    n, k = len(y), len(np.unique(y))
    found = np.empty((len(Z), k))
    for place in np.ndindex(found.shape):
        rows, labels = np.vstack([X, Z[place[0]]]), np.append(y, place[1])
        values = clone(machine).fit(rows, labels).decision_function(rows)
        scores = scores_of(kind, values, k)[np.arange(n + 1), labels]
        found[place] = np.mean(scores >= scores[-1] - 1e-5)
    return found


@pytest.mark.parametrize("draw", [moons, blobs])
@pytest.mark.parametrize("kind", ["margin", "adaptive"])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"multi_class": "ovr"}, {"bias": "augmented", "class_weight": {0: 2.0}}, {"kernel": "linear", "C": 0.1}],
    ids=str,
)
def test_p_values_are_those_of_fits_with_each_candidate(draw, kind, parameters):
    X, y = draw(0, 60)
    Z, parameters = np.vstack([X[:2], X[2:6] + 0.4]), {"C": 3.0, "gamma": 0.5, **parameters}
    model = FullConformal(IncrementalSVC(**parameters), conformity_score=kind, verbose=0).fit(X, y)
    wanted = by_fits(SVC(**parameters, tol=1e-10, gap_tol=1e-10), X, y, Z, kind)
    np.testing.assert_allclose(model.p_values(Z), wanted, atol=1e-12)
    np.testing.assert_array_equal(model.predict_set(Z), wanted > 0.1)
    assert model.estimator_.store.n == 60  # the model has learned nothing


def test_sparse_rows():
    X, y = moons(1, 50)
    machine = IncrementalSVC(C=3.0, gamma=0.5)
    dense = FullConformal(machine, verbose=0).fit(X, y).p_values(X[:3] + 0.2)
    rows = sparse.csr_matrix(X)
    for new in (sparse.csr_matrix(X[:3] + 0.2), X[:3] + 0.2):
        np.testing.assert_array_equal(FullConformal(machine, verbose=0).fit(rows, y).p_values(new), dense)


@pytest.mark.parametrize(("step", "verbose", "told"), [(2.0, 1, True), (0.5, 1, False), (2.0, 0, False)])
def test_a_cost_of_seconds_is_told_before_the_work(step, verbose, told, monkeypatch, capsys):
    X, y = moons(2, 50)
    model = FullConformal(IncrementalSVC(gamma=0.5), verbose=verbose).fit(X[:40], y[:40])
    monkeypatch.setattr(full, "monotonic", count(0.0, step).__next__)  # the first sample takes a step
    model.predict_set(X[40:])
    line = "FullConformal: 10 samples with 2 classes each, about 18 s\n"
    assert (line in capsys.readouterr().err) == told


@pytest.mark.parametrize("draw", [moons, blobs])
def test_tiny_decision_values_tell_classes_apart(draw):
    """With a tiny C all decision values of a program lie within some 1e-10, far more than rounding."""
    X, y = draw(3, 60)
    machine = IncrementalSVC(C=1e-10, gamma=0.5)
    model = FullConformal(machine, verbose=0).fit(X[:40], y[:40])
    found = model.p_values(X[40:])
    assert (found.min(axis=1) < 0.3).mean() > 0.5
    sizes = model.set_params(alpha=0.3).predict_set(X[40:]).sum(axis=1)
    assert sizes.mean() < 0.8 * found.shape[1]


def test_samples_of_a_count_are_strange_together():
    """A sample equal to all others of its class is as strange as they are, though rounding differs."""
    X = np.repeat([[0.1, 0.2], [0.7, 0.4]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    for C in (1e-10, 1.0, 1e6):
        model = FullConformal(IncrementalSVC(C=C, gamma=1.0), verbose=0).fit(X, y)
        np.testing.assert_array_equal(model.p_values(X[[0, 39]]).diagonal(), 1.0)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6, 1e12])
def test_units_of_the_features_do_not_matter(scale):
    X, y = blobs(5, 40)
    plain = FullConformal(IncrementalSVC(kernel="linear", C=1.0), verbose=0).fit(X[:36], y[:36]).p_values(X[36:])
    machine = IncrementalSVC(kernel="linear", C=1.0 / scale**2)
    scaled = FullConformal(machine, verbose=0).fit(scale * X[:36], y[:36]).p_values(scale * X[36:])
    np.testing.assert_allclose(scaled, plain, rtol=0, atol=1e-12)


def test_samples_without_time_keep_all_classes():
    X, y = moons(3, 60)
    model = FullConformal(IncrementalSVC(gamma=0.5), max_time=1e-9, verbose=0).fit(X, y)
    with pytest.warns(UserWarning, match="60 of 60 samples have no p-values; all classes stay"):
        assert model.predict_set(X).all()
    with pytest.warns(UserWarning, match="max_time"):
        assert np.isnan(model.p_values(X)).all()


def test_it_waits_for_its_turn():
    X, y = moons(5, 40)
    model = FullConformal(IncrementalSVC(gamma=0.5), verbose=0).fit(X, y)
    wanted, found = model.predict_set(X[:2]), []
    other = threading.Thread(target=lambda: found.append(model.predict_set(X[:2])))
    with model.estimator_.lock:
        other.start()
        other.join(0.5)
        assert not found
    other.join()
    np.testing.assert_array_equal(found[0], wanted)


def test_the_time_of_a_step_does_not_end_a_solution_from_nothing():
    X, y = make_blobs(60, centers=[(0, 0), (2, 0)], random_state=0)
    model = IncrementalSVC(C=3.0, gamma=0.5).fit(X, y)
    candidates = Candidates(model.learner, model.class_weight_)
    candidates.meet(np.array([[0.5, 0.5]]))
    wanted = candidates.values(1)
    candidates.learner = model.set_params(max_time=1e-9).learner
    with at(Homotopy.including, raising(Stalled)):
        np.testing.assert_allclose(candidates.values(1), wanted, atol=1e-8)
