"""Wrong input is an error that names the argument, what was given, and what is allowed."""

import numpy as np
import pandas as pd
import pytest
from distributed import Client
from scipy import sparse
from sklearn.exceptions import NotFittedError

import adatron
from adatron import dask as ad
from clusters import alone, bits, blobs, cluster_of
from dask import array as da
from dask import bag, delayed

dd = pytest.importorskip("dask.dataframe")
X, Y = blobs(60, 2)
FRAME = pd.DataFrame(X, columns=["a", "b"])
DATES = FRAME.assign(when=pd.Timestamp("2020-01-01"))
DAYS = np.datetime64("2020-01-01", "us") + np.arange(60)
TWO = np.column_stack([DAYS, DAYS])
WORDS = FRAME.assign(word="yes")


def rows():
    return da.from_array(X, chunks=(20, 2))


def labels(values=Y):
    return da.from_array(values, chunks=20)


def frame(values):
    return dd.from_pandas(values, npartitions=3)


def together(*parts):
    """A Dask array whose metadata knows only the first part."""
    shape = parts[0].shape[1:]
    return da.concatenate([da.from_delayed(delayed(p), (p.shape[0], *shape), meta=parts[0][:0]) for p in parts])


def a_bag():
    return bag.from_sequence(X.tolist(), npartitions=2)


@pytest.fixture(scope="module", autouse=True)
def client():
    with cluster_of(2, processes=False) as cluster, Client(cluster) as client:
        yield client


WRONG = {
    "y=None": (rows, lambda: None, ValueError, r"DaskSVC requires y to be passed"),
    "X a bag": (a_bag, labels, TypeError, r"X must be a Dask array or data frame, or be in memory\. Got a Bag"),
    "X delayed": (lambda: delayed(X), labels, TypeError, r"X must be .*Got a Delayed"),
    "X a list of delayed": (lambda: [delayed(X[:30]), delayed(X[30:])], labels, TypeError, r"X must .*list of Delayed"),
    "y a bag": (rows, a_bag, TypeError, r"y must be a Dask array .*Got a Bag"),
    "y delayed": (rows, lambda: delayed(Y), TypeError, r"y must be .*Got a Delayed"),
    "X a series": (lambda: frame(FRAME)["a"], labels, ValueError, r"2D array, got 1D Series.*Reshape X"),
    "X a series in memory": (lambda: FRAME["a"], labels, ValueError, r"2D array, got 1D Series"),
    "X a list of numbers": (lambda: [1.0, 2.0], labels, ValueError, r"2D array, got 1D list"),
    "X 3D": (lambda: da.ones((4, 2, 2)), labels, ValueError, r"2D array, got 3D Array"),
    "X=None": (lambda: None, labels, ValueError, r"2D array, got None instead"),
    "y 2D": (rows, lambda: da.ones((60, 2)), ValueError, r"y must have one dimension.*Got 2D Array"),
    "y a number": (rows, lambda: 1, ValueError, r"y must have one dimension.*Got 1\."),
    "y too short": (rows, lambda: Y[:-1], ValueError, r"X and y have inconsistent lengths: 60 rows and 59"),
    "y too short, lazy": (rows, lambda: labels()[:-1], ValueError, r"X and y have inconsistent lengths: 60 and 59"),
    "X in memory, y too short": (lambda: X, lambda: labels()[:-1], ValueError, r"inconsistent lengths: 60 rows and 59"),
    "y in other partitions": (rows, lambda: dd.from_pandas(pd.Series(Y), npartitions=2), ValueError,
                              r"X has 3 partitions and y has 2.*known lengths"),
    "partitions of other widths": (lambda: together(X[:30], X[30:, :1]), lambda: Y, ValueError,
                                   r"Partitions of X have different numbers of features: \[1, 2\]"),
    "sparse among dense": (lambda: together(X[:30], sparse.csr_matrix(X[30:])), lambda: Y, ValueError,
                           r"Partitions of X must be all dense or all sparse\. Got sparse ones \(1\)"),
    "dense among sparse": (lambda: together(sparse.csr_matrix(X[:30]), X[30:]), lambda: Y, ValueError, r"all sparse"),
    "dates": (lambda: frame(DATES), labels, ValueError, r"X must hold numbers.*datetime64.* column 'when'"),
    "dates in memory": (lambda: DATES, labels, ValueError, r"X must hold numbers.*datetime64.* column 'when'"),
    "dates of an array": (lambda: da.from_array(TWO, chunks=(20, 2)), labels, ValueError, r"Got datetime64.*\[0, 1\]"),
    "dates of an array in memory": (lambda: TWO, labels, ValueError, r"Got datetime64.* in columns \[0, 1\]"),
    "dates as objects": (lambda: frame(pd.DataFrame({"when": np.array(list(DAYS), object)})), labels, ValueError,
                         r"Got datetime64.* in column 'when'"),
    "text": (lambda: frame(WORDS), labels, ValueError, r"partition 0 .*must hold numbers\. Got 'yes' in column 'word'"),
    "one text": (lambda: np.array([["1"]] * 59 + [["foo"]], object), labels, ValueError, r"Got 'foo' in column 0"),
    "text in an array": (lambda: da.from_array(np.full((60, 2), "x"), chunks=(20, 2)), labels, ValueError,
                         r"X must hold numbers\. Got 'x' in column 0"),
    "labels of two kinds": (rows, lambda: together(np.array(["0", "1"] * 15), Y[30:]), ValueError,
                            r"Unknown label type.*\['numbers', 'text'\]"),
    "labels with None": (rows, lambda: np.array([None, "a"] * 30, object), ValueError,
                         r"Unknown label type.*\['NoneType', 'str'\]"),
    "truth as objects": (rows, lambda: (Y > 0).astype(object), ValueError, r"Unknown label type.*\['bool'\]"),
    "measurements as labels": (rows, lambda: X[:, 0], ValueError, r"Unknown label type: continuous"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_training_sets(name):
    X, y, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        ad.DaskSVC().fit(X(), y())


WEIGHTS = {
    "a bag": (a_bag, TypeError, r"sample_weight must be .*Got a Bag"),
    "2D": (lambda: np.ones((60, 2)), ValueError, r"sample_weight must have one dimension.*Got 2D ndarray"),
    "text": (lambda: "x", ValueError, r"sample_weight must have one dimension.*Got 'x'"),
    "texts": (lambda: ["x"] * 60, ValueError, r"sample_weight must hold numbers\. Got \['x', 'x', 'x'\]"),
    "dates": (lambda: DAYS, ValueError, r"sample_weight must hold numbers\. Got datetime64"),
    "too short": (lambda: np.ones(59), ValueError, r"X and sample_weight have inconsistent lengths: 60 rows and 59"),
    "by class": (lambda: {0: 1.0}, ValueError, r"sample_weight must have one dimension.*Got \{0: 1\.0\}"),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_wrong_weights(name):
    weight, kind, message = WEIGHTS[name]
    with pytest.raises(kind, match=message):
        ad.DaskSVC().fit(rows(), labels(), weight())


def test_one_weight_for_all_is_allowed():
    assert bits(ad.DaskSVC().fit(rows(), labels(), 2.0)) == alone("SVC", X, Y, np.full(60, 2.0))


def test_targets_must_be_numbers():
    with pytest.raises(ValueError, match=r"y must hold numbers\. Got \['a', 'a', 'a'\]"):
        ad.DaskSVR().fit(rows(), np.full(60, "a"))
    for dates in (DAYS, da.from_array(DAYS, chunks=20)):
        with pytest.raises(ValueError, match=r"y must hold numbers\. Got datetime64"):
            ad.DaskSVR().fit(rows(), dates)
    with pytest.raises(ValueError, match="DaskSVR requires y"):
        ad.DaskSVR().fit(rows(), None)


@pytest.mark.parametrize(
    ("rows", "y"),
    [
        (lambda: X, labels),
        (lambda: X, lambda: dd.from_pandas(pd.Series(Y), npartitions=2)),
        (lambda: FRAME, lambda: dd.from_pandas(pd.Series(Y), npartitions=3)),
        (lambda: frame(FRAME.astype(object)), lambda: Y),
        (lambda: rows().astype(object), labels),
        (rows, lambda: frame(pd.DataFrame({"y": Y}))),
        (rows, lambda: frame(pd.Series(Y, dtype="Int64"))),
    ],
    ids=["lazy y", "series of unknown lengths", "frame in memory", "objects", "array of objects", "column", "Int64"],
)
def test_what_can_be_read_is_no_error(rows, y):
    assert bits(ad.DaskSVC().fit(rows(), y())) == alone("SVC", X, Y)


def test_text_of_two_types_is_text():
    named = np.array([np.str_("a") if one == Y[0] else "b" for one in Y], object)
    assert ad.DaskSVC().fit(rows(), named).classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", [rows, lambda: frame(FRAME), lambda: X], ids=["array", "frame", "in memory"])
def test_nothing_is_predicted_before_a_fit(kind):
    for machine, methods in (
        (ad.DaskSVC, ("predict", "decision_function")),
        (ad.DaskSVR, ("predict",)),
        (ad.DaskOneClassSVM, ("predict", "decision_function", "score_samples")),
        (ad.DaskSVDD, ("predict", "decision_function", "score_samples")),
    ):
        for method in methods:
            with pytest.raises(NotFittedError, match=f"This {machine.__name__} instance is not fitted"):
                getattr(machine(), method)(kind())


def test_wrong_rows_to_predict():
    model, named = ad.DaskSVC().fit(rows(), labels()), ad.DaskSVC().fit(frame(FRAME), labels())
    for given, kind, message in (
        (a_bag(), TypeError, "X must be .*Got a Bag"),
        (delayed(X), TypeError, "X must be .*Got a Delayed"),
        (frame(FRAME)["a"], ValueError, "2D array, got 1D Series"),
        (rows()[:, :1], ValueError, "X has 1 features"),
        (frame(DATES), ValueError, "X must hold numbers.*'when'"),
    ):
        with pytest.raises(kind, match=message):
            model.predict(given)
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(frame(FRAME[["b", "a"]]))


def test_searches_say_so_too():
    for given, message in ((a_bag(), "X must be .*Got a Bag"), (delayed(X), "X must be .*Got a Delayed")):
        with pytest.raises(TypeError, match=message):
            ad.DaskGridSearchCV(adatron.SVC(), {"C": [1.0]}).fit(given, Y)


def test_a_file_holds_the_model_of_one_machine(tmp_path):
    model = ad.DaskSVC().fit(rows(), labels())
    with pytest.raises(ValueError, match=r"DaskSVC belongs to a cluster .*to_local\(\)"):
        adatron.save(model, tmp_path / "model.adatron")
    adatron.save(model.to_local(), tmp_path / "model.adatron")
    assert bits(adatron.load(tmp_path / "model.adatron")) == bits(model)
