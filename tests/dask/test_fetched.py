"""Rows on the coordinator, where there is room for some, and points on slabs, which travel once.

Also tested here: ``gram/elsewhere`` and ``sent``.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from adatron.dask.far import FarRows
from adatron.dask.sent import Fetched, KeptPoints, Sent, compact


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_rows_are_right_and_few_are_kept(kind):
    rng = np.random.default_rng(0)
    X = kind(rng.normal(size=(200, 3)))
    here, come = Fetched(200, X[:0], most=50), 0
    for _ in range(60):
        wanted = rng.integers(0, 200, size=rng.integers(1, 40))
        missing = here.missing(wanted)
        if len(missing):
            come += len(missing)
            here.keep(missing, X[missing], wanted)
        found = here.rows(wanted)
        assert abs(found - X[wanted]).sum() == 0
        assert len(here.missing(np.arange(200))) >= 150
    assert come > 200


def test_a_large_request_is_met():
    X = np.arange(20.0).reshape(10, 2)
    here, everything = Fetched(10, X[:0], most=3), np.arange(10)
    here.keep(everything[:2], X[:2], everything[:2])
    missing = here.missing(everything)
    here.keep(missing, X[missing], everything)
    assert (here.rows(everything) == X).all()


def test_rows_asked_for_lately_stay():
    X = np.arange(20.0).reshape(10, 2)
    here = Fetched(10, X[:0], most=4)
    here.keep(np.arange(4), X[:4], np.arange(4))
    here.rows(np.array([1, 3]))
    here.keep(np.array([7]), X[7:8], np.array([7]))
    assert set(here.missing(np.arange(10)).tolist()) == {0, 2, 4, 5, 6, 8, 9}


@pytest.mark.slow
def test_problems_side_by_side_get_their_own_rows():
    """Threads ask for rows while those of others come, and while some go."""
    X = np.arange(3000.0).reshape(1000, 3)

    def ask(calls):
        time.sleep(1e-4)
        return [X[call.arguments[0]] for call in calls]

    layout = SimpleNamespace(samples=1000, divided=lambda ids: [(0, ids, np.arange(len(ids)))])
    far = FarRows(SimpleNamespace(ask=ask), X.shape, False, float, layout, None, None, room=24.0 * 120)

    def problem(seed):
        rng = np.random.default_rng(seed)
        asked = [rng.integers(0, 1000, 50) for _ in range(300)]
        return all((far.samples(ids) == X[ids]).all() for ids in asked)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(problem, range(6)))


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
