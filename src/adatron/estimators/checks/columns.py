"""Notes to errors about columns that are no numbers, with the pipeline that makes numbers of them.

The error itself stays in the words of scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LISTED = 10  # Most columns that a message names.
LONGEST = 60  # Characters of an estimator from which on only its name is shown.
ENCODER = 'OneHotEncoder(handle_unknown="ignore")'
MOST_FREQUENT = 'SimpleImputer(strategy="most_frequent")'


def advice(model: Any, X: Any, error: ValueError) -> str | None:
    """Return a note to scikit-learn's error about text or missing values in X; None if the error is another one."""
    said = str(error)
    text, gaps = "could not convert string" in said, said.startswith("Input X contains NaN")
    columns = _columns(X) if text or gaps else None
    if columns is None:
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
    return f"columns {_short(columns)}" if len(columns) > 1 else f"column {columns[0]!r}"


def _short(columns: list[Any]) -> str:
    return repr(columns) if len(columns) <= LISTED else f"[{', '.join(map(repr, columns[:LISTED]))}, ...]"


def _columns(X: Any) -> list[tuple[Any, NDArray[Any]]] | None:
    """Return the columns of a data frame with their names, or those of an array with their numbers."""
    if hasattr(X, "columns"):
        return [(name, np.asarray(X[name])) for name in list(X.columns)]
    try:
        values = X if isinstance(X, np.ndarray) else np.asarray(X, object)
    except ValueError:  # rows of different lengths
        return None
    return list(enumerate(values.T)) if values.ndim == 2 else None


def _has_gaps(column: NDArray[Any]) -> bool:
    if column.dtype.kind in "biufc":
        return bool(np.isnan(column).any())
    return any(map(_is_missing, column))


def _is_missing(one: Any) -> bool:
    return one is None or type(one).__name__ in ("NAType", "NaTType") or (isinstance(one, float) and one != one)


def _is_text(one: Any) -> bool:
    """Return whether a value is text that is no number."""
    if not isinstance(one, (str, bytes)):
        return False
    try:
        float(one)
    except ValueError:
        return True
    return False
