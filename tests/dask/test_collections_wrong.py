"""Wrong input is an error that names the argument, what was given, and what is allowed: the table ``refused.txt``."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import adatron
from adatron import dask as ad
from clusters import alone, bits, blobs
from dask import array as da
from dask import bag, delayed
from tables import untrue

pytestmark = pytest.mark.usefixtures("inside")
dd = pytest.importorskip("dask.dataframe")
X, Y = blobs(60, 2)
FRAME = pd.DataFrame(X, columns=["a", "b"])
DAYS = np.datetime64("2020-01-01", "us") + np.arange(60)


def lazy(frame, parts=3):
    return dd.from_pandas(frame, npartitions=parts)


def together(*parts):
    """A Dask array whose metadata knows only the first part."""
    shape = parts[0].shape[1:]
    return da.concatenate([da.from_delayed(delayed(p), (p.shape[0], *shape), meta=parts[0][:0]) for p in parts])


def names():
    """What a call may name."""
    own = {
        "np": np, "pd": pd, "sparse": sparse, "da": da, "delayed": delayed, "lazy": lazy, "together": together,
        "X": X, "Y": Y, "FRAME": FRAME, "DAYS": DAYS, "TWO": np.column_stack([DAYS, DAYS]),
        "DATES": FRAME.assign(when=pd.Timestamp("2020-01-01")),
        "rows": da.from_array(X, chunks=(20, 2)), "labels": da.from_array(Y, chunks=20),
        "a_bag": bag.from_sequence(X.tolist(), npartitions=2), "SVC": adatron.SVC, "save": adatron.save,
    }  # fmt: skip
    return own | {name: getattr(ad, name) for name in ad.__all__}


def test_wrong_input_is_refused_in_these_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert untrue(Path(__file__).with_name("refused.txt"), names()) == []


READ = (
    "X, labels",
    "X, lazy(pd.Series(Y), 2)",
    "FRAME, lazy(pd.Series(Y))",
    "lazy(FRAME.astype(object)), Y",
    "rows.astype(object), labels",
    'rows, lazy(pd.DataFrame({"y": Y}))',
    'rows, lazy(pd.Series(Y, dtype="Int64"))',
)


@pytest.mark.parametrize("call", READ)
def test_what_can_be_read_is_no_error(call):
    assert bits(ad.DaskSVC().fit(*eval(call, names()))) == alone("SVC", X, Y)  # noqa: S307


def test_one_weight_for_all_is_allowed():
    assert bits(ad.DaskSVC().fit(X, Y, 2.0)) == alone("SVC", X, Y, np.full(60, 2.0))


def test_text_of_two_types_is_text():
    named = np.array([np.str_("a") if one == Y[0] else "b" for one in Y], object)
    assert ad.DaskSVC().fit(X, named).classes_.tolist() == ["a", "b"]


def test_a_file_holds_the_model_of_one_machine(tmp_path):
    model = ad.DaskSVC().fit(X, Y)
    adatron.save(model.to_local(), tmp_path / "model.adatron")
    assert bits(adatron.load(tmp_path / "model.adatron")) == bits(model)
