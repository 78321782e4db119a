"""The plane holds the sample, its nearest boundary point and a third one; it shows the model's values and borders."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from adatron import SVC, SVR, OneClassSVM, input_margin
from adatron.insight import boundary_plane, sensitivity
from adatron.insight.plane import FINER, finely

W, w = load_wine(return_X_y=True)
X, y = make_moons(60, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def wine():
    return make_pipeline(StandardScaler(), SVC(C=5)).fit(W, w)


def test_lengths_in_the_plane_are_true(wine):
    found = boundary_plane(wine, W, w, sample=3, n_points=30)
    margin = input_margin(wine[-1], wine[:-1].transform(W[[3]]))
    assert found.numbers[0] == 3
    assert found.points[1] == pytest.approx([margin.distance[0], 0.0], abs=1e-9)
    assert found.certified == margin.certified[0] <= found.points[1, 0]
    rows = wine[:-1].transform(W)
    assert np.linalg.norm(found.points[2]) == pytest.approx(np.linalg.norm(rows[found.numbers[1]] - rows[3]))
    inside = np.hypot(*np.meshgrid(*found.grid)) < found.certified
    assert (found.codes[inside] == w[3]).all()
    assert set(np.unique(found.codes)) > {w[3]}
    assert np.hypot(found.shadows.T[0], np.hypot(found.shadows.T[1], found.off)) == pytest.approx(
        np.linalg.norm(rows[found.shown] - rows[3], axis=1)
    )


def test_regression_and_novelty_have_planes_too():
    D, d = load_diabetes(return_X_y=True)
    model = SVR(C=100).fit(D, d)
    found = boundary_plane(model, D, d, n_points=20)
    assert found.values[10, -1] > found.values[10, 0]  # it ascends
    model = OneClassSVM(nu=0.2, gamma=1.0).fit(X)
    found = boundary_plane(model, X, n_points=20)
    assert set(np.unique(found.codes)) == {0, 1}
    assert found.certified > 0.0


def test_slopes_are_derivatives_at_boundary_points_in_units_of_the_features(wine):
    found = sensitivity(wine, W)
    linear = SVC(kernel="linear").fit(X, y)
    slopes = sensitivity(linear, X)
    assert slopes.slope == pytest.approx(np.abs(linear.coef_[0]))
    assert slopes.effect == pytest.approx(slopes.slope * X.std(axis=0))
    scaled = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X, y)
    assert sensitivity(scaled, X).slope == pytest.approx(np.abs(scaled[-1].coef_[0]) / scaled[0].scale_)
    assert found.space == "original"
    assert found.slope.shape == (13,)
    bent = make_pipeline(QuantileTransformer(n_quantiles=10), SVC()).fit(X, y)
    assert sensitivity(bent, X).space == "transformed"


def test_the_smallest_change_of_a_feature_changes_the_prediction():
    step = (X[:, 0] > 0.5).astype(int)
    found = sensitivity(SVC(C=100, kernel="linear").fit(X, step), X)
    assert found.flips[0] == 1.0
    assert found.smallest[0] < np.ptp(X[:, 0])
    assert not found.flips[1] > 0.2


def inside(places):
    return (np.square(places).sum(axis=1) < 1.0).astype(np.int64)


def test_a_finer_grid_is_right_everywhere_and_asks_little():
    grid = np.linspace(-2.0, 2.0, 40), np.linspace(-1.5, 1.5, 30)
    codes = inside(np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2)).reshape(30, 40)
    asked = []
    (across, up), fine = finely(grid, codes, lambda places: (asked.append(len(places)), inside(places))[1])
    assert fine.shape == (30 * FINER, 40 * FINER) == (len(up), len(across))
    whole = inside(np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)).reshape(fine.shape)
    np.testing.assert_array_equal(fine, whole)
    assert sum(asked) < 0.4 * fine.size
    np.testing.assert_allclose(across.reshape(-1, FINER).mean(axis=1), grid[0], atol=1e-12)


def test_one_class_asks_nothing():
    grid = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 1.0, 5)
    assert finely(grid, np.zeros((5, 5), np.int64), None)[1].max() == 0
