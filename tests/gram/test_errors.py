"""Tables of proven errors: a class is never better than its rows; rows of K, checks of a device.

Also tested here: ``compiled/precision``, ``row_cache`` and ``backends/device``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.devices.rows import checked_rows, refuse_different
from adatron.gram.backends.row_store import RowStore
from adatron.gram.errors import MOST_CLASSES, USUAL_CLASSES, SizeClasses
from adatron.gram.view import RowCache
from adatron.kernels import RBF, Linear, Polynomial
from problems import view_of

KERNELS = [RBF(0.5), Linear(), Polynomial(0.5, 3, 1.0)]


@pytest.mark.plain
@given(
    st.floats(1e-6, 1e6),
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2),
    st.sampled_from([USUAL_CLASSES, MOST_CLASSES]),
)
def test_sizes_are_rounded_up(top, shares, count):
    by_size, sizes = SizeClasses.below(top, count), top * np.array(shares)
    classes = by_size.of(sizes)
    tops = np.array(by_size.tops)[classes]
    assert (tops >= sizes * (1.0 - 1e-12)).all()
    last = classes == count - 1
    assert (tops <= 1.1 * np.maximum(sizes, 0.0))[~last].all()  # and no further than a class
    (mean,) = by_size.table(lambda size: size)[classes[:1], classes[1:]]
    assert mean >= 0.5 * sizes.sum() * (1.0 - 1e-9)


@pytest.mark.plain
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_table_has_the_bounds_of_the_mean_size(kernel):
    by_size, sizes = SizeClasses.below(9.0), np.array([9.0, 4.0, 0.3, 1e-9, 0.0])
    table = by_size.table(lambda size: kernel.error_parts(size, 8, 2.0**-24))
    assert table.shape == (USUAL_CLASSES, USUAL_CLASSES, 2)
    classes = by_size.of(sizes)
    for a, i in zip(sizes, classes, strict=True):
        for b, j in zip(sizes, classes, strict=True):
            assert (table[i, j] >= kernel.error_parts(0.5 * (a + b), 8, 2.0**-24)).all()


@pytest.mark.plain
def test_rows_of_zeros_have_one_class():
    assert SizeClasses.below(0.0).of(np.zeros(3)).tolist() == [0, 0, 0]


def test_some_rows_from_the_first_to_the_last_are_checked():
    assert checked_rows(1).tolist() == [0]
    assert checked_rows(5).tolist() == [0, 1, 2, 3, 4]
    some = checked_rows(1000)
    assert len(some) == 16
    assert {0, 999} <= set(some.tolist())


def test_a_difference_beyond_the_errors_of_both_is_an_error():
    truth, errors = np.array([1.0, 2.0]), np.array([1e-12, 1e-12])
    refuse_different("twin", truth + 1.5e-12, truth, errors)
    for wrong in (truth + 3e-12, np.array([1.0, np.nan])):
        with pytest.raises(RuntimeError, match="twin returned a sum of kernel values that is off by"):
            refuse_different("twin", wrong, truth, errors)


N, KERNEL = 24, RBF(0.5)
X = np.random.default_rng(0).normal(size=(N, 3))


def rows_for(capacity, dtype=np.float64):
    view = view_of(X, KERNEL, dtype)
    width = RowCache(view, 0.0).store.values.shape[1]
    return RowCache(view, capacity * width * np.dtype(dtype).itemsize), view.rows(np.arange(N))


@pytest.mark.plain
@given(st.integers(0, N), st.lists(st.integers(0, N - 1), max_size=40))
@settings(max_examples=30, deadline=None)
def test_a_row_is_right_and_the_longest_unused_goes(capacity, asked):
    rows, K = rows_for(capacity)
    room = len(rows.store)
    assert room == max(2, capacity)
    for i in asked:
        np.testing.assert_array_equal(rows.row(i), K[i])
    recent = list(dict.fromkeys(reversed(asked)))[:room]
    assert set(np.flatnonzero(rows.store.slot >= 0)) == set(recent)


@pytest.mark.plain
def test_rows_are_made_together_and_copied_for_a_part():
    rows, K = rows_for(10)
    missing = rows.missing(np.arange(N))
    assert len(missing) == 5  # half of the room
    rows.fetch(missing)
    assert not np.isin(missing, rows.missing(np.arange(N))).any()
    part = rows.among(np.arange(1, N, 2), 1e6)
    there = np.flatnonzero(part.store.slot >= 0)
    assert np.array_equal(1 + 2 * there, missing[missing % 2 == 1])
    for i in range(N // 2):
        np.testing.assert_array_equal(part.row(i), K[1 + 2 * i, 1::2])


@pytest.mark.plain
def test_slots_that_could_not_be_filled_hold_nothing():
    store = RowStore(3, 1, np.float64, 9)
    with store.leased(np.array([1])):
        pass
    with pytest.raises(MemoryError), store.leased(np.array([1, 2, 3])):
        raise MemoryError
    assert np.flatnonzero(store.slot >= 0).tolist() == [1]
    with store.leased(np.array([4, 5, 6])) as lease:  # every slot is free again
        assert sorted(lease.slots) == [0, 1, 2]
