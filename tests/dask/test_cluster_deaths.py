"""Workers die, leave and stop in the middle of a fit; the bits stay."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from adatron import SVC
from adatron import dask as ad
from adatron.selection import GridSearchCV
from clusters import alone, bits, blobs
from dask import array as da

X, Y = blobs(6000, 8)
Y = np.where(np.arange(6000) % 7 == 0, 1 - Y, Y)


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
    model.fit(da.from_array(X, chunks=(2000, 8)), da.from_array(Y, chunks=2000))
    assert done
    assert bits(model) == alone("SVC", X, Y, C=10.0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has other signals")
@pytest.mark.parametrize("moment", [0.03, 0.15])
def test_workers_die_while_the_samples_of_a_search_are_sent(harmed, moment):
    rows, y, grid = X[:400], Y[:400], {"C": [1e-3, 1.0]}
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
