"""What ends a fit on a cluster that cannot do it."""

import os
import time

import numpy as np
import pytest

from adatron import dask as ad
from adatron.dask.cluster import error_of
from clusters import blobs
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
