"""Means over groups never show a single sample."""

import numpy as np
import pytest

from adatron.reports.figure import GROUP, MOST_GROUPS, grouped


@pytest.mark.parametrize("n", [1, 4, 9, 10, 57, 1000])
def test_groups_of_neighbours(n):
    rng = np.random.default_rng(0)
    values, more = rng.normal(size=n), rng.normal(size=n)
    means, others = grouped(values, more)
    assert len(means) == len(others) == max(1, min(MOST_GROUPS, n // GROUP))
    assert (np.diff(means) > 0).all()
    parts = np.array_split(np.argsort(values, kind="stable"), len(means))
    assert len(means) == 1 or min(map(len, parts)) >= GROUP
    for found, given in ((means, values), (others, more)):
        np.testing.assert_allclose(found, [given[part].mean() for part in parts])
