"""Points stay at their places on slabs: each travels once while there is room."""

import numpy as np
import pytest
from scipy import sparse

from adatron.dask.sent import KeptPoints, Sent, compact


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("most", [5, 60, 1000])
def test_rows_at_their_places_are_those_of_the_points(kind, most):
    rng = np.random.default_rng(0)
    X = kind(rng.normal(size=(200, 3)))
    sent, kept, travelled = Sent(200, most), KeptPoints(), 0
    for _ in range(40):
        ids = rng.permutation(200)[: rng.integers(1, 30)]
        new = sent.new(ids)
        before = sent.count
        sent.put(new)
        if len(new):
            kept.add(before, [X[new[:4]], X[new[4:]]])
        travelled += len(new)
        assert abs(kept.take(sent.places(ids)) - X[ids]).sum() == 0
    assert (travelled <= 200) == (most == 1000)


def test_places_that_were_forgotten_are_given_again():
    sent = Sent(10, 10)
    sent.put(np.array([3, 5]))
    sent.forget()
    assert sent.new(np.array([5, 3])).tolist() == [5, 3]
    assert sent.count == 0


def test_numbers_take_few_bytes():
    for largest, kind in ((255, np.uint8), (65_535, np.uint16), (65_536, np.uint32), (2**40, np.uint64)):
        found = compact(np.array([0, largest]))
        assert found.dtype == kind
        assert found.tolist() == [0, largest]
    assert compact(np.zeros(0, np.int64)).dtype == np.uint8
