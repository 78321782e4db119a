"""Rows that do not fit into the coordinator's memory stay on the workers, and the bits stay."""

import numpy as np
import pytest

from adatron import dask as ad
from clusters import alone, bits, blobs


@pytest.mark.slow
def test_parts_stay_on_the_cluster(client):
    X, y = blobs(1600, 100)
    y = np.where(np.arange(len(y)) % 11 == 0, 1 - y, y)
    for machine, target, parameters in (("SVC", y, {}), ("SVR", X[:, 0], {"epsilon": 0.3})):
        model = getattr(ad, f"Dask{machine}")(cache_size=0.3, **parameters).fit(X, target)
        assert bits(model) == alone(machine, X, target, cache_size=0.3, **parameters)
        assert "a program of their own" in str(model.route_)


@pytest.mark.slow
def test_small_problems_with_too_many_rows_are_refused(client):
    X, y = np.random.default_rng(0).normal(size=(900, 100)), np.arange(900) % 30
    with pytest.raises(ValueError, match=r"900 rows take 1 MB there; cache_size allows 0 MB"):
        ad.DaskSVC(cache_size=0.3).fit(X, y)
