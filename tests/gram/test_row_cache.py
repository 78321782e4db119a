"""Rows of K for loops over single samples: what is asked for is right, whatever is stored."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.gram.backends.row_store import RowStore
from adatron.gram.view import RowCache
from adatron.kernels import RBF
from problems import view_of

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
