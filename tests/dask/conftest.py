"""A cluster of three processes for the tests of a session, and one that tests may harm."""

import logging

import pytest

distributed = pytest.importorskip("distributed")


def cluster_of(workers, **how):
    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL, **how}
    return distributed.LocalCluster(n_workers=workers, **how)


@pytest.fixture(scope="session")
def client():
    with cluster_of(3) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def harmed():
    """A client of a cluster of its own."""
    with cluster_of(3) as cluster, distributed.Client(cluster) as client:
        yield client
