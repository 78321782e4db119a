"""Borders between classes: points next to a border are asked anew, and all are as if all had been asked."""

import numpy as np

from adatron.insight.plane import FINER, finely


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
