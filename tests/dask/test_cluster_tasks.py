"""Fits and searches inside tasks, side by side, and on clusters whose workers are few, many, or still to come."""

import threading
from contextvars import copy_context

import numpy as np
import pytest
from distributed import Client, get_client

from adatron import SVC
from adatron import dask as ad
from adatron.selection import GridSearchCV
from clusters import alone, bits, blobs, cluster_of
from dask import array as da

X, Y = blobs(2600, 5)  # more than one block
Y = np.where(np.arange(len(Y)) % 7 == 0, 1 - Y, Y)
FEW, OF_FEW = X[:240], Y[:240]
GRID = {"C": [0.5, 5.0], "gamma": [0.05, 0.5]}
PATIENCE = 300.0  # seconds after which a test takes a wait for endless
MEETING = {}


def inside(workers, **how):
    """A cluster in this process."""
    return cluster_of(workers, processes=False, **how)


def meet(key):
    """Wait until as many tasks as there are threads have begun: then they hold all of them."""
    MEETING[key].wait(PATIENCE)


def fitted(key, collections):
    meet(key)
    rows, y = (da.from_array(X, chunks=(900, 5)), da.from_array(Y, chunks=900)) if collections else (X, Y)
    return bits(ad.DaskSVC(C=3.0).fit(rows, y))


def scores(search, rows, y):
    return search.fit(rows, y).cv_results_["mean_test_score"].tolist()


def searched(key, collections):
    meet(key)
    rows, y = (da.from_array(FEW, chunks=(100, 5)), da.from_array(OF_FEW, chunks=100)) if collections else (FEW, OF_FEW)
    return scores(ad.DaskGridSearchCV(SVC(), GRID, cv=3), rows, y)


@pytest.mark.slow
@pytest.mark.parametrize("collections", [False, True], ids=["in memory", "collections"])
@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (1, 2), (2, 1)])
def test_tasks_that_hold_all_threads_fit_and_search(workers, threads, collections):
    many, key = workers * threads, (workers, threads, collections)
    with inside(workers, threads_per_worker=threads) as cluster, Client(cluster) as client:
        for function, wanted in (
            (fitted, alone("SVC", X, Y, C=3.0)),
            (searched, scores(GridSearchCV(SVC(), GRID, cv=3), FEW, OF_FEW)),
        ):
            MEETING[key] = threading.Barrier(many)
            tasks = [client.submit(function, key, collections, pure=False) for _ in range(many)]
            assert [task.result(PATIENCE) == wanted for task in tasks] == [True] * many


def fits_of_a_task(C):
    """Fit three times inside a task; one fit is an error."""
    with pytest.raises(ValueError, match="requires y"):
        ad.DaskSVC().fit(X, None)
    first = bits(ad.DaskSVC(C=C).fit(X, Y))
    return first == bits(ad.DaskSVC(C=C, client=get_client()).fit(X, Y))


def test_a_task_may_fit_again():
    with inside(1) as cluster, Client(cluster) as client:
        assert client.submit(fits_of_a_task, 1.0).result(PATIENCE)


@pytest.mark.slow
def test_fits_at_once_of_the_same_and_of_other_data():
    found, rows, y = {}, da.from_array(X, chunks=(900, 5)), da.from_array(Y, chunks=900)

    def fit(number):
        C, data = (1.0, 10.0)[number % 2], ((rows, y), (X, Y), (rows[:2400], y[:2400]))[number % 3]
        found[number] = C, len(data[0]), bits(ad.DaskSVC(C=C, client=client).fit(*data))

    with inside(2) as cluster, Client(cluster) as client:
        threads = [threading.Thread(target=fit, args=(number,), daemon=True) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    wanted = {(C, n): alone("SVC", X[:n], Y[:n], C=C) for C in (1.0, 10.0) for n in (2400, 2600)}
    assert sorted(found) == list(range(6))
    assert all(one == wanted[C, n] for C, n, one in found.values())


@pytest.mark.parametrize("collections", [False, True], ids=["in memory", "collections"])
def test_an_adaptive_cluster_begins_without_workers(collections):
    rows, y = (da.from_array(X, chunks=(900, 5)), da.from_array(Y, chunks=900)) if collections else (X, Y)
    with inside(0) as cluster, Client(cluster):
        cluster.adapt(minimum=0, maximum=2, interval="100ms")
        assert bits(ad.DaskSVC().fit(rows, y)) == alone("SVC", X, Y)


def test_a_search_on_an_adaptive_cluster():
    with inside(0) as cluster, Client(cluster):
        cluster.adapt(minimum=0, maximum=1, interval="100ms")
        wanted = scores(GridSearchCV(SVC(), GRID, cv=3), FEW, OF_FEW)
        assert scores(ad.DaskGridSearchCV(SVC(), GRID, cv=3), FEW, OF_FEW) == wanted


def test_a_time_limit_holds_where_nobody_works():
    with inside(0) as cluster, Client(cluster):
        for rows, y in ((X, Y), (da.from_array(X, chunks=(900, 5)), da.from_array(Y, chunks=900))):
            with pytest.raises(TimeoutError, match="max_time"):
                ad.DaskSVC(max_time=0.5).fit(rows, y)


@pytest.fixture(scope="module")
def one():
    with inside(1) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("estimator", [ad.DaskSVC, lambda client: ad.DaskGridSearchCV(SVC(), GRID, client=client)])
def test_a_client_must_be_connected(one, estimator):
    closed = Client(one.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(ValueError, match=r"client must be connected to a scheduler.*is closed"):
        estimator(client=closed).fit(FEW, OF_FEW)


def fit_now():
    try:
        ad.DaskSVC().fit(FEW, OF_FEW)
    except ValueError as error:
        return str(error)


def test_a_fit_in_the_event_loop_is_refused(one):
    # Another client of this process, if there is one, serves such a fit.
    assert all(said is None or "must not be asynchronous" in said for said in one.run(fit_now).values())


def elsewhere(key, kind):
    """Fit or search in a thread that the task starts, while tasks hold all threads of the workers."""
    meet(key)
    found, client = [], get_client()

    def work():
        if kind == "fit":
            found.append(bits(ad.DaskSVC(C=3.0, client=client).fit(X, Y)))
        elif kind == "search":
            found.append(scores(ad.DaskGridSearchCV(SVC(), GRID, cv=3, client=client), FEW, OF_FEW))
        else:
            found.append(bits(SVC(C=3.0).fit(X, Y)))

    # A copy of the context knows the worker, and is still no thread of its pool.
    thread = threading.Thread(
        target=copy_context().run if kind == "search" else work, args=(work,) * (kind == "search")
    )
    thread.start()
    thread.join(PATIENCE)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fit", "search", "fit of one machine"])
@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (2, 2)])
def test_a_thread_of_a_task_fits_while_tasks_hold_all_threads(workers, threads, kind):
    many, key = workers * threads, (workers, threads, kind)
    search = kind == "search"
    wanted = scores(GridSearchCV(SVC(), GRID, cv=3), FEW, OF_FEW) if search else alone("SVC", X, Y, C=3.0)
    with inside(workers, threads_per_worker=threads) as cluster, Client(cluster) as client:
        for _ in range(2):
            MEETING[key] = threading.Barrier(many)
            tasks = [client.submit(elsewhere, key, kind, pure=False) for _ in range(many)]
            assert [task.result(PATIENCE) == [wanted] for task in tasks] == [True] * many
