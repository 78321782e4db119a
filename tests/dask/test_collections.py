"""Dask arrays and frames, and arrays in memory: as training sets, and as samples to predict."""

from pickle import dumps

import numpy as np
import pandas as pd
import pytest

from adatron import SVC
from adatron import dask as ad
from clusters import alone, bits, blobs
from dask import array as da

dd = pytest.importorskip("dask.dataframe")
X, Y = blobs()
FRAME = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])


def unknown(values, chunks):
    """A Dask array whose chunks have unknown lengths."""
    values = da.from_array(values, chunks=chunks)
    return values[da.from_array(np.ones(len(values), bool), chunks=values.chunks[0])]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (lambda: X, lambda: Y),
        (lambda: FRAME, lambda: pd.Series(Y)),
        (lambda: dd.from_pandas(FRAME, npartitions=4), lambda: dd.from_pandas(pd.Series(Y), npartitions=4)),
        (lambda: unknown(X, (900, 5)), lambda: unknown(Y, 900)),
        (lambda: unknown(X, (900, 5)), lambda: Y),
        (lambda: da.from_array(X, chunks=(900, 2)), lambda: da.from_array(Y, chunks=1000)),
    ],
    ids=["arrays", "pandas", "frames", "unknown lengths", "unknown lengths of rows", "split features"],
)
def test_all_give_the_same_bits(client, rows, labels):
    assert bits(ad.DaskSVC().fit(rows(), labels())) == alone("SVC", X, Y)


def test_names_of_features_are_kept(client):
    model = ad.DaskSVC().fit(dd.from_pandas(FRAME, npartitions=2), dd.from_pandas(pd.Series(Y), npartitions=2))
    assert list(model.feature_names_in_) == list(FRAME.columns)
    assert (model.to_local().predict(FRAME[:20]) == model.predict(FRAME[:20])).all()


def test_predictions_are_lazy_and_have_the_chunks_of_the_rows(client):
    model, local = ad.DaskSVC().fit(X, Y), SVC().fit(X, Y)
    rows = da.from_array(X, chunks=((1000, 0, 2000), 5))
    found = model.predict(rows)
    assert isinstance(found, da.Array)
    assert found.chunks == ((1000, 0, 2000),)
    assert (found.compute() == local.predict(X)).all()
    assert (model.decision_function(rows).compute() == local.decision_function(X)).all()


def test_a_frame_gives_a_series(client):
    model, frame = ad.DaskSVC().fit(FRAME, Y), FRAME.set_index(np.arange(len(FRAME)) + 7)
    found = model.predict(dd.from_pandas(frame, npartitions=3)).compute()
    assert isinstance(found, pd.Series)
    assert (found.index == frame.index).all()
    assert (found.to_numpy() == SVC().fit(X, Y).predict(X)).all()


def test_a_large_model_is_not_in_the_graph(client):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(2500, 60)), rng.integers(0, 2, 2500)
    model = ad.DaskSVC().fit(rows, y)
    assert model.support_vectors_.nbytes > 1 << 20
    found = model.predict(da.from_array(rows[:50], chunks=(20, 60)))
    assert len(dumps(found.dask)) < 1 << 18
    assert (found.compute() == model.to_local().predict(rows[:50])).all()


def test_lengths_must_agree(client):
    with pytest.raises(ValueError, match="equal lengths"):
        ad.DaskSVC().fit(unknown(X, ((1000, 2000), 5)), unknown(Y, ((1001, 1999),)))
