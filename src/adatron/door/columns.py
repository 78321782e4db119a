"""Columns of tables: those that are not numbers, such as dates, are an error that names them.

Errors about text and missing values stay in the words of scikit-learn. Their notes name the columns, and show the
pipeline that makes numbers of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import is_sparse
from ..quoted import quoted

COLUMNS_NAMED = 10  # Most columns that a message names.
LONGEST_ESTIMATOR = 60  # Characters of an estimator from which on only its name is shown.
ENCODER = 'OneHotEncoder(handle_unknown="ignore")'  # Code in messages.
MOST_FREQUENT = 'SimpleImputer(strategy="most_frequent")'
NUMBER_KINDS = "biuf"  # Kinds of NumPy's types.
PLAIN_KINDS = "biufc"  # Those of arrays whose columns need no look, as scikit-learn refuses complex ones.


class NoNumbersError(ValueError, TypeError):
    """Columns hold neither numbers nor text; also a TypeError, as which scikit-learn refuses such objects."""


def as_numbers(X: Any) -> Any:
    """Return a table whose numbers scikit-learn reads rightly; text and missing values are left to scikit-learn.

    scikit-learn would warn of sparse columns beside others, and read sparse whole numbers as such.

    Raises
    ------
    ValueError
        Columns hold something else, such as dates; the message names them. Or some values are masked.
    """
    refuse_masked(X, "X")
    if is_sparse(X):
        return X
    if _is_frame(X):
        _refuse(X, "X")
        return _without_sparse_columns(X) if hasattr(X, "dtypes") else X
    table = _array(X)
    _refuse(table, "X")
    read = table is not None and table.ndim == 2 and table.dtype.kind in PLAIN_KINDS  # once is enough
    return table if read and not hasattr(X, "__array_namespace__") else X


def refuse_masked(values: Any, name: str) -> None:
    """Fail if NumPy has masked some values: whoever reads the array without its mask computes with them."""
    masked = isinstance(values, np.ma.MaskedArray)
    if masked and (many := np.count_nonzero(np.ascontiguousarray(np.ma.getmaskarray(values)).view(bool))):
        raise ValueError(
            f"Input {name} contains masked values ({many:,} of {values.size:,}), which are missing. Fill them in by "
            f"{name}.filled(...), or drop these samples."
        )


def refuse_dates(values: Any, name: str) -> None:
    """Fail if a column, such as targets of a regression, holds dates, of which scikit-learn would make numbers."""
    refuse_masked(values, name)
    column = None if _is_frame(values) else _array(values)
    _refuse(column[:, None] if column is not None and column.ndim == 1 else values, name)


def are_numbers(X: Any) -> bool:
    """Return whether X is a data frame whose columns all hold numbers."""
    return _is_frame(X) and all(
        kind in NUMBER_KINDS or (kind == "O" and all(_is_number(one) for one in np.asarray(values)))
        for _, values, kind in _kinds(X)
    )


def first_text(X: Any) -> tuple[Any, Any] | None:
    """Return the name of the first column with text that is not a number, and this text; None if no column has any."""
    found = ((name, one) for name, values, kind in _kinds(X) if kind in "OSUT" for one in np.asarray(values))
    return next((pair for pair in found if _is_text(pair[1])), None)


def _refuse(table: Any, name: str) -> None:
    """Fail if columns of a table hold something that is neither a number nor text."""
    odd: dict[str, list[Any]] = {}
    for column, values, kind in _kinds(table):
        if what := _odd(values, kind):
            odd.setdefault(what, []).append(column)
    if not odd:
        return
    kinds = " and ".join(f"{what} in {_listed(columns)}" if name == "X" else what for what, columns in odd.items())
    if all(what.startswith("complex") for what in odd):
        raise ValueError(f"Complex data not supported: {name} holds {kinds}.")
    raise NoNumbersError(
        f"{name} must hold numbers. Got {kinds}; an argument must be a string or a number. Convert these to numbers, "
        "such as days since a date, or leave them out."
    )


def _odd(values: Any, kind: str) -> str:
    """Return the type of something in a column that is neither number nor text; "" if every entry is one of them.

    Values of one type are all numbers, all text, or all something else, so one of each type tells.
    """
    if np.ndim(values) != 1:
        return "several values a row"
    if kind in "mMcV":
        return str(values.dtype)
    some = {type(one): one for one in np.asarray(values)}.values() if kind == "O" else ()
    return next((type(one).__name__ for one in some if not (_is_missing(one) or _is_number(one) or _is_text(one))), "")


def _kinds(X: Any) -> Iterator[tuple[Any, Any, str]]:
    """Yield name, values and the letter of the kind of each column that need not hold numbers, as NumPy has it."""
    for name, values in _columns(X, besides=NUMBER_KINDS):
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


def advice(model: Any, X: Any) -> str | None:
    """Return a note about text or missing values in X, which scikit-learn has refused; None if X has neither."""
    columns = [(name, np.asarray(values)) for name, values in _columns(X)]
    texts = [name for name, values in columns if values.dtype.kind not in PLAIN_KINDS and any(map(_is_text, values))]
    missing = [name for name, values in columns if _has_gaps(values)]
    if texts:
        line = f"make_pipeline({_encoding(texts, len(columns), missing)}, {_shown(model)})"
        return (
            f"X holds text in {_listed(texts)}. A pipeline turns text into numbers, also in new data:\n    {line}\n"
            f"from sklearn.pipeline, sklearn.compose, sklearn.preprocessing{', sklearn.impute' * bool(missing)}. "
            "The manual's page docs/pandas.md shows such pipelines."
        )
    if missing:
        line = f"make_pipeline(SimpleImputer(), {_shown(model)})"
        return (
            f"X lacks values in {_listed(missing)}. A pipeline fills them in, also in new data:\n    {line}\n"
            "from sklearn.pipeline, sklearn.impute"
        )
    return None


def _shown(model: Any) -> str:
    return repr(model) if len(repr(model)) <= LONGEST_ESTIMATOR else f"{type(model).__name__}()"


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
    return quoted(columns) if len(columns) <= COLUMNS_NAMED else f"{quoted(columns[:COLUMNS_NAMED])[:-1]}, ...]"


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") or hasattr(X, "column_names")


def _columns(X: Any, besides: str = "") -> list[tuple[Any, Any]]:
    """Return the columns of a data frame with their names, or those of an array with their numbers.

    besides : kinds of types whose columns may be left out
    """
    if hasattr(X, "iloc") and _is_frame(X):  # of pandas, where two columns may have one name
        named = enumerate(zip(X.columns, X.dtypes, strict=True))
        return [(name, X.iloc[:, k]) for k, (name, dtype) in named if dtype.kind not in besides]
    if _is_frame(X):
        return [(name, X[name]) for name in list(getattr(X, "column_names", None) or X.columns)]
    values = _array(X)
    if values is None or (besides and values.dtype.kind in PLAIN_KINDS):
        return []
    if values.dtype.names:
        return [(name, values[name]) for name in values.dtype.names]
    return list(enumerate(values.T)) if values.ndim == 2 else []


def _array(values: Any) -> NDArray[Any] | None:
    """Return the NumPy array of an X that is not a frame; None if NumPy cannot read it."""
    with suppress(TypeError, ValueError, RuntimeError):  # rows of different lengths, and arrays on a GPU
        return np.asarray(values)
    return None


def _has_gaps(column: NDArray[Any]) -> bool:
    if column.dtype.kind in PLAIN_KINDS:
        return bool(np.isnan(column).any())
    return any(map(_is_missing, column))


def _is_missing(one: Any) -> bool:
    return one is None or type(one).__name__ == "NAType" or (isinstance(one, float) and one != one)


def _is_text(one: Any) -> bool:
    """Return whether a value is text that is not a number."""
    return isinstance(one, (str, bytes)) and not _is_number(one)


def _is_number(one: Any) -> bool:
    """Return whether a value is a number, or text that is one."""
    if isinstance(one, (np.datetime64, np.timedelta64, complex)):  # NumPy would make floats of some of these
        return False
    try:
        float(one)
    except OverflowError:  # a whole number
        return True
    except (TypeError, ValueError):
        return False
    return True
