"""Notes to errors about text and missing values: they name the columns, and their line of code works."""

import re
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import adatron
from adatron import SVC, SVR, IncrementalSVC, OneClassSVM

NAMES = {one.__name__: one for one in (make_column_transformer, SimpleImputer, make_pipeline, OneHotEncoder)} | {
    name: getattr(adatron, name) for name in adatron.__all__ if name[0].isupper()
}
y = np.array([0, 1, 0, 1])
WORDS = ["a", "b", "a", "b"]


def refused(call):
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the texts follow)
        call()
    return "\n".join([str(error.value), *getattr(error.value, "__notes__", [])])


def suggested(message):
    return eval(re.search(r"^    (make_pipeline\(.*\))$", message, re.MULTILINE)[1], NAMES)  # noqa: S307


def mixed(kind):
    pandas = pytest.importorskip("pandas") if kind in ("frame", "categories", "gaps") else None
    if kind == "frame":
        return pandas.DataFrame({"size": [1.0, 2, 3, 4], "colour": WORDS}), "column 'colour'"
    if kind == "categories":
        return pandas.DataFrame({"colour": pandas.Categorical(WORDS), "x": [1, 2, 3, 4]}), "column 'colour'"
    if kind == "gaps":
        return pandas.DataFrame({"colour": ["a", None, "a", "b"], "x": [1, np.nan, 3, 4]}), "column 'colour'"
    if kind == "texts":
        return np.array([WORDS, list("xyxz")]).T, "columns [0, 1]"
    columns = np.array([[1.0, 2, 3, 4], WORDS], object).T
    return (columns if kind == "objects" else columns.tolist()), "column 1"


@pytest.mark.parametrize("kind", ["objects", "lists", "texts", "frame", "categories", "gaps"])
@pytest.mark.parametrize("model", [SVC(C=2), SVR(), IncrementalSVC()], ids=lambda model: type(model).__name__)
def test_text_is_refused_with_the_line_to_write(model, kind):
    X, named = mixed(kind)
    message = refused(lambda: model.fit(X, y))
    assert message.startswith("could not convert string to float: ")
    assert f"\nX holds text in {named}. " in message
    pipeline = suggested(message)
    assert repr(pipeline[-1]) == repr(model)
    assert pipeline.fit(X, y).predict(X).shape == (4,)


def test_missing_values_are_refused_with_the_line_to_write():
    X = np.array([[1, np.nan], [2, 3], [3, 4], [4, 5]])
    message = refused(lambda: SVC().fit(X, y))
    assert message.startswith("Input X contains NaN.\nSVC does not accept missing values")
    assert "\nX lacks values in column 1. " in message
    assert suggested(message).fit(X, y).predict(X).shape == (4,)
    assert "X lacks values in column 1" in refused(lambda: OneClassSVM().fit(X))
    assert "X lacks values in column 1" in refused(lambda: SVC().fit(X[1:], y[1:]).predict(X))


def test_other_errors_stay_scikit_learn_s():
    X = np.eye(4)
    assert refused(lambda: SVR().fit(X, WORDS)).startswith("could not convert string to float: ")
    assert "X holds" not in refused(lambda: SVR().fit(X, WORDS))
    assert refused(lambda: SVC().fit([[1, 2], [3]], [0, 1])).startswith("setting an array element")
    assert "infinity" in refused(lambda: SVC().fit(X + np.inf, y))


def test_sparse_and_large_data_have_scikit_learn_s_error():
    message = refused(lambda: SVC().fit(sparse.csr_matrix([[1, np.nan], [2, 3], [3, 4], [4, 5]]), y))
    assert message.startswith("Input X contains NaN.")
    X = np.zeros((10**5, 8), np.float32)
    X[7, 3] = np.nan
    tracemalloc.start()
    assert "X lacks values in column 3" in refused(lambda: OneClassSVM().fit(X))
    assert tracemalloc.get_traced_memory()[1] < 2 * X.nbytes
    tracemalloc.stop()
