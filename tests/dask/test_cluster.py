"""What ends a fit on a cluster; workers die, leave and stop in the middle of one, and the bits stay."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from adatron import SVC
from adatron import dask as ad
from adatron.dask.cluster import error_of
from adatron.selection import GridSearchCV
from clusters import alone, bits, blobs
from dask import array as da
from dask import delayed

X, Y = blobs(900, 5)


def deadly(values, path):
    """End the worker without a word about its memory."""
    with path.open("a") as stream:
        stream.write("x")
    time.sleep(1.0)  # a nanny whose worker ends at once gives up
    os._exit(1)
    return values


@pytest.mark.slow
def test_a_partition_that_ends_workers_is_named(harmed, tmp_path):
    """Memory is blamed only where Dask says so."""
    path = tmp_path / "deaths"
    parts = [X[:300], delayed(deadly)(X[300:600], path), X[600:]]
    rows = da.concatenate([da.from_delayed(delayed(part), (300, 5), float) for part in parts])
    with pytest.raises(RuntimeError, match=r"Partition 1: at least 15 workers ended.*the log of the last") as caught:
        ad.DaskSVC().fit(rows, da.from_array(Y, chunks=300))
    assert "memory" not in str(caught.value)
    assert len(path.read_text()) <= 18


@pytest.mark.slow
def test_a_cluster_that_was_closed_ends_a_fit(harmed):
    rows, y = blobs(6000, 8)
    y = np.where(np.arange(6000) % 7 == 0, 1 - y, y)
    with pytest.raises(RuntimeError, match="client was closed"):
        ad.DaskSVC(C=10.0, callback=lambda _: harmed.cluster.close() and False).fit(rows, y)


class BegunAgain:
    """A task that Dask begins again between two questions; it may end later than anybody waits."""

    status = "error"

    def __init__(self, ends):
        self.ends = ends

    def exception(self, timeout=None):
        if not self.ends:
            raise TimeoutError
        return  # as that of Dask, if the status is no longer 'error'


@pytest.mark.parametrize("ends", [True, False])
def test_a_task_that_is_begun_again_has_no_error(ends):
    assert error_of(BegunAgain(ends)) is None


MANY, LABELS = blobs(6000, 8)
LABELS = np.where(np.arange(6000) % 7 == 0, 1 - LABELS, LABELS)


def kill(client):
    workers = client.run(os.getpid)
    os.kill(next(iter(workers.values())), signal.SIGKILL)


def retire(client):
    client.retire_workers([next(iter(client.scheduler_info()["workers"]))])


def halt(client):
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGSTOP)
    threading.Thread(target=lambda: (time.sleep(4.0), os.kill(pid, signal.SIGCONT))).start()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has other signals")
@pytest.mark.parametrize("harm", [kill, retire, halt])
def test_the_bits_stay(harmed, harm):
    done = []

    def harm_once(_):
        if len(done) < 2:
            done.append(harm)
            if len(done) == 1:
                harm(harmed)

    model = ad.DaskSVC(C=10.0, callback=harm_once)
    model.fit(da.from_array(MANY, chunks=(2000, 8)), da.from_array(LABELS, chunks=2000))
    assert done
    assert bits(model) == alone("SVC", MANY, LABELS, C=10.0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has other signals")
@pytest.mark.parametrize("moment", [0.03, 0.15])
def test_workers_die_while_the_samples_of_a_search_are_sent(harmed, moment):
    rows, y, grid = MANY[:400], LABELS[:400], {"C": [1e-3, 1.0]}
    scores = GridSearchCV(SVC(kernel="linear"), grid, cv=2, refit=False).fit(rows, y).cv_results_["mean_test_score"]
    dying = list(harmed.run(os.getpid).values())[:2]

    def end_two():
        time.sleep(moment)
        for pid in dying:
            os.kill(pid, signal.SIGKILL)
            time.sleep(0.03)

    thread = threading.Thread(target=end_two)
    thread.start()
    search = ad.DaskGridSearchCV(SVC(kernel="linear"), grid, cv=2, refit=False, client=harmed).fit(rows, y)
    thread.join()
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], scores)
