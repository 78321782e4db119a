"""Coefficients of members of equal samples, and their arrangement, against plain loops."""

import numpy as np
import pytest

from adatron.compiled.shares import arrange, share_out

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("C", [0.7, np.inf])
def test_members_share_a_coefficient_within_their_bounds(C):
    """Distinct samples 0, 1 and 2 have two, three and one members."""
    group, own = np.array([0, 0, 1, 1, 1, 2]), np.array([1.0, 2.0, 0.5, 0.5, 1.0, 1.0])
    weight, members = np.bincount(group, own), np.array([4, 9, 2, 7, 8, 5])
    bounds = min(C, 3.0) * weight
    values = np.array([0.5 * bounds[0], -bounds[1], 0.0, 0.9 * bounds[2], -0.2 * bounds[0]])
    samples, ends = np.array([0, 1, 2, 2, 0]), np.array([3, 5])
    data, rows, problems = share_out(ends, samples, values, C, C, weight, group, own, members)
    at = np.searchsorted(np.array(ends), np.arange(5), side="right")
    for j, value in enumerate(values):
        mine = np.isin(rows, members[group == samples[j]]) & (problems == at[j])
        assert data[mine].sum() == pytest.approx(value)
        assert (np.sign(data[mine]) == np.sign(value)).all()
        limits = {m: C * o for m, o in zip(members, own, strict=True)}
        parts = [(abs(part), limits[row]) for part, row in zip(data[mine], rows[mine], strict=True)]
        assert all(part <= limit * (1 + 1e-15) for part, limit in parts)
        assert sum(part < limit * (1 - 1e-15) for part, limit in parts) <= 1
    assert (data != 0.0).all()


def test_support_vectors_stand_class_by_class():
    codes = np.array([1, 0, 2, 0, 1])
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])  # the pairs of three classes
    samples, problems = np.array([0, 3, 3, 2, 0]), np.array([0, 0, 1, 1, 2])
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    support, counts, out = arrange(values, samples, problems, codes, 3, first, second, 2)
    assert support.tolist() == [3, 0, 2]
    assert counts.tolist() == [1, 1, 1]
    assert out.tolist() == [[2.0, 1.0, 4.0], [3.0, 5.0, 0.0]]  # as scikit-learn's dual_coef_
    none = np.zeros(0, np.int64)
    support, counts, out = arrange(values, samples, problems, codes, 3, none, none, 3)
    assert out.tolist() == [[2.0, 1.0, 0.0], [3.0, 0.0, 4.0], [0.0, 5.0, 0.0]]  # a row for each problem
