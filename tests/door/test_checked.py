"""Plain arrays are not looked at by scikit-learn, and what comes of them is the same."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from adatron import SVC, SVR
from adatron.door.arrays import checked
from covering import parametrized
from moments import calls

FLOATS = (np.float64, np.float32)
X = np.random.default_rng(0).normal(size=(20, 3))
y = np.arange(20) % 2


def holed(values, hole):
    out = values.copy()
    out.flat[3] = hole
    return out


SAMPLES = {
    "float64": X,
    "float32": X.astype(np.float32),
    "huge": np.abs(X) / np.abs(X).max() * 1e308,
    "Fortran": np.asfortranarray(X),
    "truth": X > 0,
    "part": X[:, :2],
    "big-endian": X.astype(">f8"),
    "whole numbers": np.arange(60).reshape(20, 3),
    "list": X.tolist(),
    "list of whole numbers": np.arange(60).reshape(20, 3).tolist(),
    "list of arrays": list(X),
    "list of text": [["a", "b"]] * 20,
    "list with nan": holed(X, np.nan).tolist(),
    "list with None": [[1.0, None]] * 20,
    "list of bool": (X > 0).tolist(),
    "ragged list": [[1.0], *X.tolist()[1:]],
    "empty list": [],
    "nan": holed(X, np.nan),
    "inf": holed(X, np.inf),
    "both": holed(holed(X, np.inf)[::-1].copy(), -np.inf),
    "one dimension": X[0],
    "series": pd.Series(X[:, 0]),
    "three dimensions": X[None],
    "no rows": X[:0],
    "no columns": np.empty((20, 0)),
    "matrix": np.asmatrix(X),
    "complex": X + 0j,
    "text": np.full((20, 3), "a"),
    "objects": X.astype(object),
    "frame": pd.DataFrame(X, columns=list("abc")),
    "frame of float32": pd.DataFrame(X.astype(np.float32), columns=list("abc")),
    "frame of two types": pd.DataFrame(X, columns=list("abc")).astype({"b": np.float32}),
    "frame of whole numbers": pd.DataFrame(np.arange(60).reshape(20, 3), columns=list("abc")),
    "frame with a number as text": pd.DataFrame(X, columns=list("abc")).astype({"b": str}),
    "frame of pandas' floats": pd.DataFrame(X, columns=list("abc")).astype("Float64"),
    "frame with nan": pd.DataFrame(holed(X, np.nan), columns=list("abc")),
    "frame in another order": pd.DataFrame(X, columns=list("bac")),
    "frame of numbered columns": pd.DataFrame(X),
    "no rows of a frame": pd.DataFrame(X[:0], columns=list("abc")),
    "CSR": sparse.csr_matrix(X),
    "CSR array": sparse.csr_array(X),
    "CSR of float32": sparse.csr_matrix(X.astype(np.float32)),
    "CSR with nan": sparse.csr_matrix(holed(X, np.nan)),
    "no rows of CSR": sparse.csr_matrix(X[:0]),
    "CSC": sparse.csc_matrix(X),
    "None": None,
}
TARGETS = {
    "int": y,
    "bool": y > 0,
    "float": y * 0.5,
    "text": np.where(y > 0, "a", "b"),
    "nan": holed(y * 1.0, np.nan),
    "inf": holed(y * 1.0, np.inf),
    "column": y[:, None],
    "every other": np.repeat(y, 2)[::2],
    "list": y.tolist(),
    "list of text": ["a", "b"] * 10,
    "list with None": [None, *y.tolist()[1:]],
    "too few": y[:5],
    "objects": y.astype(object),
    "complex": y + 0j,
    "series": pd.Series(y),
    "None": None,
}


def outcome(check, model, *given, **options):
    """What comes out, or the error, with warnings but those of NumPy's, and what the model remembers."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = check(model, *given, **options)
        except (ValueError, TypeError) as error:
            return type(error), str(error)
    found = found if isinstance(found, tuple) else (found,)
    kinds = [(type(one), one.dtype, one.shape) for one in found]
    values = [one.toarray() if sparse.issparse(one) else one for one in found]
    names = vars(model).get("feature_names_in_")
    return kinds, [v.tobytes() for v in values], model.n_features_in_, None if names is None else names.tolist(), [
        str(one.message) for one in said if one.category is not RuntimeWarning
    ]  # fmt: skip


def theirs(model, X, dtype, **options):
    return validate_data(model, X, dtype=dtype, accept_sparse="csr", **options)


@parametrized(samples=SAMPLES, targets=[*TARGETS, "no"], numeric=[False, True])
def test_the_outcome_is_that_of_scikit_learn(samples, targets, numeric):
    options = {} if targets == "no" else {"y": TARGETS[targets], "multi_output": True, "y_numeric": numeric}
    kind = SVR if numeric else SVC
    one, other = kind(), kind()
    mine = outcome(checked, one, SAMPLES[samples], FLOATS, order="C", **options)
    assert mine == outcome(theirs, other, SAMPLES[samples], FLOATS, order="C", **options)


@pytest.mark.parametrize("samples", SAMPLES)
@pytest.mark.parametrize("begun", ["float64", "frame", "part"])
def test_new_samples_have_the_features_of_the_first(samples, begun):
    """As many, of these names; that there are none any more is said."""
    one, other = SVC(), SVC()
    for check, model in ((checked, one), (theirs, other)):
        check(model, SAMPLES[begun], FLOATS)
    options = {"reset": False, "ensure_min_features": 1}
    mine = outcome(checked, one, SAMPLES[samples], FLOATS, **options)
    assert mine == outcome(theirs, other, SAMPLES[samples], FLOATS, **options)


def test_names_are_forgotten_by_a_fit_to_an_array():
    model = SVC().fit(SAMPLES["frame"], y)
    assert model.feature_names_in_.tolist() == list("abc")
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def test_plain_arrays_are_not_looked_at_again():
    with calls(validate_data) as looks:
        for samples in ("float64", "float32", "list"):
            SVC().fit(SAMPLES[samples], y).predict(SAMPLES[samples])
        SVC().fit(SAMPLES["CSR"], TARGETS["list"]).predict(SAMPLES["CSR"])
        assert not looks
        checked(BaseEstimator(), SAMPLES["Fortran"], FLOATS)
        assert looks


def test_frames_with_the_names_of_the_fit_are_not_looked_at_again():
    model = SVC().fit(SAMPLES["frame"], y)
    with calls(validate_data) as looks:
        for samples in ("frame", "frame of float32"):
            model.predict(SAMPLES[samples][:1])
        assert not looks
        model.predict(SAMPLES["frame of whole numbers"])
        assert looks


def test_two_columns_with_one_name_are_an_error_before_the_fit():
    X = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=["u", "w", "u"])
    for model in (SVC(), SVR()):
        with pytest.raises(ValueError, match=r"unique column names(.|\n)*'u' 2 times"):
            model.fit(X, [0, 1, 0, 1])
    assert SVC().fit(X.to_numpy(), [0, 1, 0, 1]).predict(X.to_numpy()).shape == (4,)
