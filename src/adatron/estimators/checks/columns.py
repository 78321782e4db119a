"""Columns of tables: those that are no numbers, such as dates, are an error that names them.

Errors about text and missing values stay in the words of scikit-learn. Their notes name the columns, and show the
pipeline that makes numbers of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...quoted import quoted

LISTED = 10  # Most columns that a message names.
LONGEST = 60  # Characters of an estimator from which on only its name is shown.
ENCODER = 'OneHotEncoder(handle_unknown="ignore")'
MOST_FREQUENT = 'SimpleImputer(strategy="most_frequent")'


NUMBERS = "biuf"  # Kinds of NumPy's types.


def numbers(X: Any) -> Any:
    """Return a table whose numbers scikit-learn reads rightly; text and missing values are left to scikit-learn.

    scikit-learn would warn of sparse columns beside others, and read sparse whole numbers as such.

    Raises
    ------
    ValueError
        Columns hold something else, such as dates; the message names them.
    """
    odd = _odd_columns(X)
    if odd:
        told = " and ".join(f"{what} in {_listed(names)}" for what, names in odd.items())
        if all(what.startswith("complex") for what in odd):
            raise ValueError(f"Complex data not supported: X holds {told}.")
        raise ValueError(
            f"X must hold numbers. Got {told}. Make numbers of them, such as days since a date, or leave them out."
        )
    return _without_sparse_columns(X) if hasattr(X, "dtypes") and hasattr(X, "columns") else X


def refuse_dates(y: Any) -> None:
    """Fail if targets of a regression are dates or times, which scikit-learn would make numbers of."""
    kind = getattr(getattr(y, "dtype", None), "kind", None)
    if isinstance(kind, str) and kind in "mM":
        raise ValueError(f"y must hold numbers. Got {y.dtype}. Make numbers of them, such as days since a date.")


def are_numbers(X: Any) -> bool:
    """Return whether X is a data frame whose columns all hold numbers."""
    return _is_frame(X) and all(
        kind in NUMBERS or (kind == "O" and all(_is_number(one) for one in np.asarray(values)))
        for _, values, kind in _kinds(X)
    )


def _odd_columns(X: Any) -> dict[str, list[Any]]:
    """Return the types that are neither numbers nor text, and the names of the columns that hold each."""
    out: dict[str, list[Any]] = {}
    for name, values, kind in () if sparse.issparse(X) else _kinds(X):
        what = "" if kind in NUMBERS and np.ndim(values) == 1 else _odd(values, kind)
        if what:
            out.setdefault(what, []).append(name)
    return out


def _odd(values: Any, kind: str) -> str:
    """Return the type of something in a column that is neither number nor text; nothing if there is none."""
    if np.ndim(values) != 1:
        return "several values a row"
    if kind in "mMcV":
        return str(values.dtype)
    one = next((one for one in np.asarray(values) if not (_is_missing(one) or _is_number(one) or _is_text(one))), None)
    return "" if one is None else type(one).__name__


def _kinds(X: Any) -> Iterator[tuple[Any, Any, str]]:
    """Yield name, values and the letter of the kind of each column, as NumPy has it."""
    if isinstance(X, np.ndarray) and X.dtype.kind in f"{NUMBERS}c":  # scikit-learn refuses complex arrays
        return
    for name, values in _columns(X) or ():
        kind = getattr(getattr(values, "dtype", None), "kind", None)
        if isinstance(kind, str) and kind != "O":  # NumPy's and pandas' types
            yield name, values, kind
        else:
            plain = np.asarray(values)
            yield name, plain, plain.dtype.kind


def _without_sparse_columns(X: Any) -> Any:
    """Return a frame of pandas whose columns are all sparse floats, or none is sparse."""
    kinds = [dtype for dtype in X.dtypes if type(dtype).__name__ == "SparseDtype"]
    if not kinds:
        return X
    if len(kinds) == X.shape[1]:
        return X.astype(type(kinds[0])(np.float64, 0.0))
    return X.apply(lambda column: column.astype(np.float64) if type(column.dtype) is type(kinds[0]) else column)


def advice(model: Any, X: Any, error: ValueError) -> str | None:
    """Return a note to scikit-learn's error about text or missing values in X; None if the error is another one."""
    said = str(error)
    text, gaps = "could not convert string" in said, said.startswith("Input X contains NaN")
    columns = [(name, np.asarray(values)) for name, values in (_columns(X) if text or gaps else None) or ()]
    if not columns:
        return None
    shown = repr(model) if len(repr(model)) <= LONGEST else f"{type(model).__name__}()"
    texts = [name for name, values in columns if values.dtype.kind not in "biufc" and any(map(_is_text, values))]
    missing = [name for name, values in columns if _has_gaps(values)]
    if text and texts:
        line = f"make_pipeline({_encoding(texts, len(columns), missing)}, {shown})"
        return (
            f"X holds text in {_listed(texts)}. A pipeline makes numbers of text, also in new data:\n    {line}\n"
            f"from sklearn.pipeline, sklearn.compose, sklearn.preprocessing{', sklearn.impute' * bool(missing)}"
        )
    if gaps and missing:
        line = f"make_pipeline(SimpleImputer(), {shown})"
        return (
            f"X lacks values in {_listed(missing)}. A pipeline fills them in, also in new data:\n    {line}\n"
            "from sklearn.pipeline, sklearn.impute"
        )
    return None


def _encoding(texts: list[Any], width: int, missing: list[Any]) -> str:
    """Return the code of the step that encodes columns of text."""
    encoder = f"make_pipeline({MOST_FREQUENT}, {ENCODER})" if set(missing) & set(texts) else ENCODER
    if len(texts) == width:
        return encoder
    rest = "SimpleImputer()" if set(missing) - set(texts) else '"passthrough"'
    return f"make_column_transformer(({encoder}, {_short(texts)}), remainder={rest})"


def _listed(columns: list[Any]) -> str:
    return f"columns {_short(columns)}" if len(columns) > 1 else f"column {quoted(columns[0])}"


def _short(columns: list[Any]) -> str:
    return quoted(columns) if len(columns) <= LISTED else f"{quoted(columns[:LISTED])[:-1]}, ...]"


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "column_names")


def _columns(X: Any) -> list[tuple[Any, Any]] | None:
    """Return the columns of a data frame with their names, or those of an array with their numbers."""
    if hasattr(X, "iloc") and _is_frame(X):  # of pandas, where two columns may have one name
        return [(name, X.iloc[:, k]) for k, name in enumerate(X.columns)]
    if _is_frame(X):
        return [(name, X[name]) for name in list(getattr(X, "column_names", None) or X.columns)]
    try:
        values = X if isinstance(X, np.ndarray) else np.asarray(X, object)
    except ValueError:  # rows of different lengths
        return None
    if values.dtype.names:
        return [(name, values[name]) for name in values.dtype.names]
    return list(enumerate(values.T)) if values.ndim == 2 else None


def _has_gaps(column: NDArray[Any]) -> bool:
    if column.dtype.kind in "biufc":
        return bool(np.isnan(column).any())
    return any(map(_is_missing, column))


def _is_missing(one: Any) -> bool:
    return one is None or type(one).__name__ in ("NAType", "NaTType") or (isinstance(one, float) and one != one)


def _is_text(one: Any) -> bool:
    """Return whether a value is text that is no number."""
    return isinstance(one, (str, bytes)) and not _is_number(one)


def _is_number(one: Any) -> bool:
    """Return whether a value is a number, or text that is one."""
    if isinstance(one, (np.datetime64, np.timedelta64, complex)):  # NumPy would make floats of some of these
        return False
    try:
        float(one)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
