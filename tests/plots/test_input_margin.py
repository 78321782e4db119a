"""Displays draw what was computed."""

import numpy as np
import pytest
from benchmarks.margins import attack
from sklearn import svm
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, InputMarginSVC, input_margin
from adatron.plots.input_margin import InputMarginDisplay, MarginDisplay, MarginPathDisplay

X, y = make_moons(40, noise=0.15, random_state=0)


@pytest.fixture(scope="module")
def model():
    return InputMarginSVC(C=10.0, gamma=1.0, n_steps=2).fit(X, y)


def test_boundary(model):
    for one in (model, SVC(gamma=1.0).fit(X, y)):
        display = InputMarginDisplay.from_estimator(one, X, y)
        np.testing.assert_array_equal(display.margins.distance, input_margin(one, X).distance)
        assert len(display.ax_.get_lines()) >= len(X)


def test_distances_and_steps(model):
    display = MarginDisplay.from_estimator(model, X, name="ours")
    assert [line.get_label() for line in display.ax_.get_lines()] == ["ours: distance", "ours: certified"]
    path = MarginPathDisplay.from_estimator(model)
    np.testing.assert_array_equal(path.ax_.get_lines()[0].get_ydata(), model.margin_path_)


def test_an_attack_comes_no_nearer_than_the_certificate(model):
    found = input_margin(model, X)
    attacked = attack(model, X, X)
    assert (attacked >= found.certified).all()
    assert np.median(attacked / found.distance) < 1.1
    assert (attacked >= found.distance * (1 - 1e-6)).mean() > 0.95


def test_pipelines_and_the_machines_of_scikit_learn(model):
    scaled = make_pipeline(StandardScaler(), SVC(gamma=1.0)).fit(X, y)
    for one in (scaled, svm.SVC(gamma=1.0).fit(X, y)):
        display = InputMarginDisplay.from_estimator(one, X, y)
        np.testing.assert_array_equal(display.margins.distance, input_margin(one, X).distance)
    display = InputMarginDisplay.from_estimator(scaled, X, y)
    np.testing.assert_allclose(display.support, X[scaled[-1].support_], rtol=1e-12)
    seen = InputMarginDisplay.from_estimator(scaled, X, y, space="transformed")
    np.testing.assert_array_equal(seen.X, scaled[:-1].transform(X))
    np.testing.assert_array_equal(seen.support, scaled[-1].support_vectors_)
    labels = [line.get_label() for line in MarginDisplay.from_estimator(scaled, X).ax_.get_lines()]
    assert labels == ["SVC: distance", "SVC: certified"]
    steps = make_pipeline(StandardScaler(), InputMarginSVC(n_steps=1)).fit(X, y)
    assert MarginPathDisplay.from_estimator(steps).paths
    one = make_pipeline(PCA(1), SVC()).fit(X, y)
    assert InputMarginDisplay.from_estimator(one, X, y).support.shape == (0, 2)
