"""Which samples each slab has."""

import numpy as np

from adatron.dask.far import SlabLayout, layout_joined


def test_every_sample_is_in_one_place():
    layout = SlabLayout(np.array([[3, 0, 2], [0, 4, 1], [5, 1, 0]]), np.zeros(0, np.int64))
    slab, row = layout.where(np.arange(layout.samples))
    assert layout.samples == 16
    assert sorted(zip(slab.tolist(), row.tolist(), strict=True)) == [
        (j, i) for j, n in enumerate(layout.counts.sum(axis=1)) for i in range(n)
    ]
    parts = [np.array([np.flatnonzero((slab == j) & (row == i))[0] for i in range(n)])
             for j, n in enumerate(layout.counts.sum(axis=1))]  # fmt: skip
    assert (layout_joined(layout, parts) == np.arange(layout.samples)).all()


def test_samples_are_divided_by_slabs():
    layout = SlabLayout(np.array([[2, 2], [2, 2]]), np.zeros(0, np.int64))
    wanted = np.array([7, 0, 3, 4])
    found = {j: (rows.tolist(), places.tolist()) for j, rows, places in layout.divided(wanted)}
    assert found == {0: ([0, 2], [1, 3]), 1: ([3, 1], [0, 2])}
