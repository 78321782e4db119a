"""Lazy predictions say beforehand which type their parts have."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adatron import dask as ad
from clusters import blobs
from dask import array as da

pytestmark = pytest.mark.usefixtures("inside")
dd = pytest.importorskip("dask.dataframe")
X, Y = blobs(90, 4, 3)
LABELS = {
    "text": np.array(["a", "bb", "ccc"])[Y],
    "objects": np.array(["a", "bb", "ccc"], object)[Y],
    "numbers": Y,
    "int8": Y.astype(np.int8),
    "float32": Y.astype(np.float32),
    "bool": Y > 0,
    "measured": X[:, 0],
    "novelty": None,
}
KINDS = {
    "array": lambda: da.from_array(X, chunks=((40, 0, 50), (2, 2))),
    "float32": lambda: da.from_array(X.astype(np.float32), chunks=(40, 4)),
    "objects": lambda: da.from_array(X.astype(object), chunks=(40, 4)),
    "frame": lambda: dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2),
    "frame of float32": lambda: dd.from_pandas(pd.DataFrame(X.astype(np.float32), columns=list("abcd")), npartitions=2),
    "an empty part": lambda: empty_first(dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2)),
}


def empty_first(frame):
    return frame.map_partitions(lambda part: part[part.index >= 45])


def machine(name):
    """A fitted machine, and its methods."""
    if name == "measured":
        return ad.DaskSVR().fit(X, LABELS[name]), ("predict",)
    if name == "novelty":
        return ad.DaskOneClassSVM().fit(X), ("predict", "decision_function", "score_samples")
    return ad.DaskSVC().fit(X, LABELS[name]), ("predict", "decision_function")


def types(values):
    return list(values.dtypes) if values.ndim == 2 and hasattr(values, "dtypes") else values.dtype


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LABELS)
def test_the_type_is_that_of_the_parts(name, kind):
    model, methods = machine(name)
    rows = KINDS[kind]()
    local, whole = model.to_local(), rows.compute()
    for method in methods:
        found, wanted = getattr(model, method)(rows), getattr(local, method)(whole)
        values = found.compute()
        assert type(values) is type(found._meta)
        assert found.ndim == values.ndim == wanted.ndim
        assert types(found) == types(found._meta) == types(values)
        assert (np.asarray(values) == wanted).all()
        for part in found.to_delayed().ravel() if isinstance(found, da.Array) else found.to_delayed():
            assert types(part.compute()) == types(found)
        if isinstance(found, da.Array):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
        else:
            assert (values.index == whole.index).all()


def test_pairs_of_classes_are_columns():
    model = ad.DaskSVC(decision_function_shape="ovo").fit(X, np.arange(len(X)) % 4)
    assert model.decision_function(KINDS["array"]()).shape == (90, 6)


def test_sparse_rows():
    model = ad.DaskSVC().fit(sparse.csr_matrix(X), LABELS["text"])
    rows = da.from_array(X, chunks=(40, 4)).map_blocks(sparse.csr_matrix, meta=sparse.csr_matrix((0, 4)))
    found = model.predict(rows)
    assert found.dtype == found.compute().dtype
    assert (found.compute() == model.to_local().predict(sparse.csr_matrix(X))).all()


def test_rows_of_unknown_shape():
    model = ad.DaskSVC().fit(X, LABELS["text"])
    whole = da.from_array(X, chunks=(40, 4))
    found = model.predict(whole[whole[:, 0] > 0.0])
    assert found.dtype == LABELS["text"].dtype
    assert (found.compute() == model.to_local().predict(X[X[:, 0] > 0.0])).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["text", "objects", "numbers", "measured", "novelty"])
def test_predictions_are_written_to_parquet(name, tmp_path):
    pytest.importorskip("pyarrow")
    model, methods = machine(name)
    rows = KINDS["frame"]()
    predicted = model.predict(rows)
    predicted.to_frame("label").to_parquet(tmp_path / "labels")
    rows.assign(label=predicted).to_parquet(tmp_path / "rows")
    wanted = model.to_local().predict(pd.DataFrame(X, columns=list("abcd")))
    for path in ("labels", "rows"):
        assert (dd.read_parquet(tmp_path / path)["label"].compute().to_numpy() == wanted).all()
    for method in methods[1:]:
        values = getattr(model, method)(rows)
        values = values.to_frame("value") if values.ndim == 1 else values.rename(columns=str)
        values.to_parquet(tmp_path / method)
        assert (dd.read_parquet(tmp_path / method).compute().to_numpy() == values.compute().to_numpy()).all()
