"""scikit-learn's checks of samples and targets, skipped for plain arrays in which they would find nothing.

These checks take a seventh to a fifth of a small fit, and two fifths of the prediction of a single sample.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _get_feature_names, validate_data  # pyright: ignore[reportPrivateUsage]

from ...arrays import is_sparse
from ...model.checks import invalid_csr
from .columns import advice, as_numbers, refuse_dates, refuse_masked

FEW_ROWS = 256  # Rows of a frame up to which its checks take longer than a prediction.


def checked(model: Any, X: Any, dtype: tuple[type, ...], reset: bool = True, **others: Any) -> Any:
    """Return X, or X and y if there is one, as ``validate_data`` does.

    Finite C-ordered arrays and CSR matrices of the right type and shape are returned as they are, lists of numbers
    and a frame of floats to predict as arrays. scikit-learn converts or refuses everything else.
    """
    targets = (_of_list(others["y"]),) if "y" in others else ()
    attributes = vars(model)
    names = None if reset else attributes.get("feature_names_in_")
    values: Any = (
        _of_list(X, dtype[0]) if names is None else _of_frame(X, names)
    )  # it warns of other names, and of none
    plain = (_is_plain(values, 2) or _is_csr(values)) and values.dtype in dtype and 0 not in values.shape
    plain = plain and all(_is_plain(y, 1) and y.dtype.kind in "biuf" and len(y) == values.shape[0] for y in targets)
    plain = plain and (reset or attributes.get("n_features_in_") == values.shape[1])
    if plain and all(map(_is_finite, (values.data if is_sparse(values) else values, *targets))):
        found = (values, *targets) if targets else values
        if reset:
            attributes.pop("feature_names_in_", None)
            attributes["n_features_in_"] = values.shape[1]
    else:
        X = as_numbers(X)
        refuse = refuse_dates if others.get("y_numeric") else refuse_masked
        refuse(others.get("y"), "y")
        try:
            found = validate_data(model, X, dtype=dtype, accept_sparse="csr", reset=reset, **others)
        except ValueError as error:
            note = None if _misnamed(X, names) else advice(model, X)
            if note is not None:
                error.add_note(note)
            raise
        X = found[0] if targets else found
        if is_sparse(X) and (fault := invalid_csr(X)):
            raise ValueError(f"X {fault}.")
    if reset:
        for name in ("first_index_", "label_"):  # they belong to other data, which the command line read
            attributes.pop(name, None)
    return found


def _is_plain(values: Any, ndim: int) -> bool:
    return type(values) is np.ndarray and values.ndim == ndim and values.flags.c_contiguous


def _is_csr(values: Any) -> bool:
    return type(values) in (sparse.csr_matrix, sparse.csr_array) and not invalid_csr(values)


def _of_list(values: Any, dtype: type | None = None) -> Any:
    """Return a list as an array, whole numbers converted to ``dtype``; anything else, and a ragged list, as it is."""
    if type(values) is not list:
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        return values
    return array.astype(dtype) if dtype is not None and array.dtype.kind in "iu" else array


def _of_frame(X: Any, names: NDArray[Any]) -> Any:
    """Return the numbers of a small frame of pandas that has columns of floats with these names, else None."""
    pandas = sys.modules.get("pandas")
    if pandas is None or type(X) is not pandas.DataFrame or len(X) > FEW_ROWS or X.columns.tolist() != names.tolist():
        return None
    floats = all(kind in (np.float64, np.float32) for kind in X.dtypes.tolist())
    return np.ascontiguousarray(X.to_numpy()) if floats else None


def _misnamed(X: Any, names: Any) -> bool:
    """Return whether the columns of X have other names than in the fit, which is then the error."""
    given: Any = None if names is None else _get_feature_names(X)
    return given is not None and not np.array_equal(given, np.asarray(names))


def _is_finite(values: NDArray[Any]) -> bool:
    """Return whether a sum shows that all values are finite; the sum may overflow although they are."""
    return bool(np.isfinite(values.sum()))
