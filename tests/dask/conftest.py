"""A cluster of three processes for the tests of a session, and one that tests may harm."""

import pytest

distributed = pytest.importorskip("distributed")

from clusters import cluster_of  # noqa: E402


@pytest.fixture(scope="session")
def client():
    with cluster_of(3) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def inside():
    """A client of two workers in threads of this process."""
    with cluster_of(2, processes=False) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def harmed():
    """A client of a cluster of its own."""
    with cluster_of(3) as cluster, distributed.Client(cluster) as client:
        yield client
