"""Equal samples, which are merged, and the coefficients of their members, against plain loops.

Also tested here: ``hash`` and ``shares``.
"""

from math import fsum

import numpy as np
import pytest
from scipy import sparse

from adatron.compiled.merge import alike, hash_dense, hash_sparse, merge
from adatron.compiled.shares import arrange, share_out
from twins.tiles import row_hash

pytestmark = pytest.mark.plain


def test_places_that_may_be_equal_to_the_one_before():
    order, keys, codes = np.array([3, 0, 2, 1]), np.array([7, 8, 7, 7], np.uint64), np.array([0, 1, 1, 0])
    assert alike(order, keys, codes).tolist() == [1]
    assert alike(np.array([3, 1, 2, 0]), keys, codes).tolist() == []


def test_weights_and_members_are_those_of_the_distinct_samples():
    rng = np.random.default_rng(0)
    order, first = rng.permutation(50)[:40], rng.random(40) < 0.4
    first[0] = True
    codes, weight = rng.integers(0, 3, 50), rng.random(50)
    rows, sizes, total, group, own = merge(order, first, codes, 3, weight)
    np.testing.assert_array_equal(rows, order[first])
    np.testing.assert_array_equal(sizes, np.bincount(codes[rows], minlength=3))
    np.testing.assert_array_equal(group, np.cumsum(first) - 1)
    np.testing.assert_array_equal(own, weight[order])
    np.testing.assert_allclose(total, np.bincount(group, own))


def test_a_thousand_members_weigh_the_sum_of_their_weights():
    weight = np.full(1000, 0.1)
    first = np.arange(1000) == 0
    total = merge(np.arange(1000), first, np.zeros(1000, np.int64), 1, weight)[2]
    assert total[0] == fsum(weight) == 100.0


def test_row_hashes_agree_for_dense_and_sparse(rng):
    X = rng.normal(size=(12, 6)) * (rng.random((12, 6)) < 0.5)
    X[0] = -0.0
    for dtype, bits in ((np.float64, np.uint64), (np.float32, np.uint32)):
        Z = X.astype(dtype)
        S = sparse.csr_matrix(Z)
        sign = np.array(-0.0, dtype).view(bits)[()]
        dense, csr = np.empty(12, np.uint64), np.empty(12, np.uint64)
        hash_dense(Z.view(bits), dense)
        hash_sparse(S.data.view(bits), sign, S.indices, S.indptr.astype(np.int64), csr)
        assert dense.tolist() == csr.tolist() == [row_hash(row) for row in Z]


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


def test_members_share_a_coefficient_by_their_weights():
    """As errors that cost their square want it; the parts add up to the coefficient in spite of rounding."""
    group, own = np.array([0, 0, 0, 1]), np.array([1.0, 1e6, 0.3, 2.0])
    members, weight, values = np.array([4, 9, 2, 7]), np.bincount(group, own), np.array([-0.7, 0.1])
    ends, samples = np.array([2]), np.array([0, 1])
    data, rows, _ = share_out(ends, samples, values, np.inf, np.inf, weight, group, own, members, True)
    found = dict(zip(rows.tolist(), data.tolist(), strict=True))
    assert fsum([found[4], found[9], found[2]]) == values[0]
    for member, share in zip([4, 9, 2], own, strict=False):
        assert found[member] == pytest.approx(values[0] * share / weight[0], rel=1e-15)
    assert found[7] == values[1]


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
