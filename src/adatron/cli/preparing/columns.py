"""The columns of a table on their way to the machine: missing values filled in, text encoded, numbers scaled."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...files.tables.columns import named
from ..status import InputError

SCALE_NUMBERS = 6  # Most numbers of a scaling for each feature, used or not.
ROWS_OF_NAMES = 20  # Number of rows from which on columns of names are looked for.
DISTINCT = 0.5  # Share of distinct texts above which a column of text holds names rather than categories.
UNKNOWN_NAMED = 5  # Most unknown texts that a warning names.


def prepared(machine: Any, table: Any, scale: str, impute: str | None, sparse: float) -> Any:
    """Return the machine after the steps that its data need.

    Each category of a text becomes a feature that is 1 or 0; these are not scaled. A text that the training data lack
    is 0 in all of them.

    Parameters
    ----------
    scale : {'none', 'standard', 'minmax'}
        Mean 0 and variance 1 (sparse data: variance 1), or the range from 0 to 1 (sparse data: from -1 to 1).
    impute : {'mean', 'median', 'most_frequent'}, optional
        The value to put in the place of missing ones; in columns of text it is the most frequent one.
    sparse : float
        Share of nonzeros below which encoded data are CSR.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    steps: list[tuple[str, Any]] = [] if impute is None else [("impute", SimpleImputer(strategy=impute))]
    steps += [] if scale == "none" else [("scale", _scaler(table.X, scale))]
    if table.categorical:
        texts, encoder = list(table.categorical), OneHotEncoder(handle_unknown="ignore")
        if impute is not None:
            encoder = Pipeline([("impute", SimpleImputer(strategy="most_frequent")), ("encode", encoder)])
        parts: list[Any] = [("texts", encoder, texts)]
        numbers = sorted({*range(table.shape[1])} - {*texts})
        if numbers:
            parts.insert(0, ("numbers", Pipeline(steps) if steps else "passthrough", numbers))
        steps = [("columns", ColumnTransformer(parts, sparse_threshold=sparse))]
    return Pipeline([*steps, (type(machine).__name__.lower(), machine)]) if steps else machine


def _scaler(X: Any, scale: str) -> Any:
    """Return a scaling, which keeps the zeros of sparse data."""
    from scipy.sparse import issparse
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    from ...files.source import room
    from ...files.table import check_size

    check_size("--scale", "scales of the features", 8 * SCALE_NUMBERS * X.shape[1], room())
    if scale == "standard":
        return StandardScaler(with_mean=not issparse(X))
    return MaxAbsScaler() if issparse(X) else MinMaxScaler()


def all_parts(model: Any) -> Iterator[Any]:
    """Yield the estimators of a fitted model, also those for some of its columns."""
    from ...estimators.forms.way import way_to

    for part in way_to(model).estimators:
        yield part
        for inner, _ in branches(part):
            yield from all_parts(inner)


def branches(part: Any) -> list[tuple[Any, Sequence[int]]]:
    """Return what a fitted ColumnTransformer does, each with the numbers of its columns.

    Raises
    ------
    ValueError
        The model is damaged: its columns are not there.
    """
    known: Any = sys.modules.get("sklearn.compose")  # a model with such a part has imported it
    if known is None or not isinstance(part, known.ColumnTransformer):
        return []
    return [(one, columns) for _, one, columns in numbered(part) if not isinstance(one, str)]  # "drop"


def numbered(fitted: Any) -> list[tuple[str, Any, Sequence[int]]]:
    """Return the transformers of a ColumnTransformer, each with its name and the numbers of its columns."""
    names, width = list(getattr(fitted, "feature_names_in_", ())), fitted.n_features_in_
    try:
        return [(name, one, _positions(columns, width, names)) for name, one, columns in fitted.transformers_]
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(f"the model's ColumnTransformer has columns that are not there ({error})") from error


def imputing_of(model: Any) -> str | None:
    """Return the strategy by which a model fills missing values; None if it does not."""
    known: Any = sys.modules.get("sklearn.impute")  # a model with such a part has imported it
    if known is None:
        return None
    return next((str(part.strategy) for part in all_parts(model) if isinstance(part, known.SimpleImputer)), None)


def texts_of(model: Any) -> dict[int, list[str]]:
    """Return the features that a fitted model takes as text, with the texts that it knows."""
    from ...estimators.forms.way import way_to

    first = way_to(model).estimators[0]
    found = _texts_of(first, range(getattr(first, "n_features_in_", 0)))
    for inner, columns in branches(first):
        for part in way_to(inner).estimators:
            found |= _texts_of(part, columns)
    return dict(sorted(found.items()))


def _texts_of(encoder: Any, columns: Sequence[int]) -> dict[int, list[str]]:
    """Return the texts that an encoder knows, by column; it may as well be another estimator, which knows none."""
    categories: Any = getattr(encoder, "categories_", ())
    if len(categories) != len(columns):
        return {}
    pairs = zip(columns, categories, strict=True)
    listed = {at: known.tolist() for at, known in pairs if known.dtype.kind in "OU"}
    return {at: known for at, known in listed.items() if any(isinstance(one, str) for one in known)}


def _positions(columns: Any, width: int, names: list[Any]) -> Sequence[int]:
    """Return the numbers of the columns of a ColumnTransformer, which may be names, numbers, a mask or a slice."""
    import numpy as np

    if isinstance(columns, slice):
        return range(*columns.indices(width))
    listed = np.atleast_1d(np.asarray(columns))
    if listed.dtype.kind in "OU":
        return [names.index(one) for one in listed.tolist()]
    numbers = (np.flatnonzero(listed) if listed.dtype.kind == "b" else listed).astype(np.int64)
    if len(numbers) and not (-width <= numbers.min() and numbers.max() < width):
        raise IndexError(f"{width} columns, and not one with the number {numbers.max()}")
    return (numbers % width).tolist() if width else []


def warn_of_names(path: str, table: Any) -> None:
    """Warn of columns of text in which most rows have a text of their own."""
    n = table.shape[0]
    for at in table.categorical if n >= ROWS_OF_NAMES else ():
        distinct = len(set(table.X[:, at].tolist()))
        if distinct > DISTINCT * n:
            what = f"{_named(table, at)} holds {distinct:,} different texts in {n:,} rows, as names do"
            warnings.warn(f"{path}: {what}: --drop leaves it out", stacklevel=2)


def warn_of_unknown(path: str, table: Any, texts: dict[int, list[str]]) -> None:
    """Warn of texts that the training data lack."""
    for at, known in texts.items():
        unknown = sorted({one for one in table.X[:, at].tolist() if isinstance(one, str)} - set(known))
        if unknown:
            listed = ", ".join(map(repr, unknown[:UNKNOWN_NAMED])) + ", ..." * (len(unknown) > UNKNOWN_NAMED)
            what = "a category" if len(unknown) == 1 else f"{len(unknown)} categories"
            message = f"{_named(table, at)} holds {what} that the training data lack, and counts as none: {listed}"
            warnings.warn(f"{path}: {message}", stacklevel=2)


def _named(table: Any, at: int) -> str:
    """Return the words for a feature: its name, or its column in the file, counted as --label and --drop count."""
    if table.feature_names:
        return named(at, table.feature_names)
    return f"feature {at}" if table.columns is None else f"column {table.columns[at]}"


def with_surplus(model: Any, table: Any, file: Any, most: int | None) -> tuple[Any, Any]:
    """Return a model and data with the same features: the model as if its training samples had 0 in the others.

    svm-predict does the same: a Gaussian kernel counts such features in distances, products leave them out. A scaling
    leaves these features as they are, as it does with features that are always 0.
    """
    import numpy as np
    from scipy import sparse
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    from ...estimators.forms.way import way_to
    from ...estimators.forms.widen import widened
    from ...files.source import room
    from ...files.table import check_size

    X: Any = table.X
    way = way_to(model)
    last = way.machine
    n = getattr(model, "n_features_in_", X.shape[1])
    if X.shape[1] <= n:
        return model, table
    if not sparse.issparse(last.support_vectors_):
        size = 8 * len(last.support_vectors_) * X.shape[1]
        check_size(file, f"support vectors with {X.shape[1]} features", size, most or room())
    if model is not last:
        others = [step for _, step in way.steps if not isinstance(step, (StandardScaler, MinMaxScaler, MaxAbsScaler))]
        if others:
            raise InputError(
                f"the data have {X.shape[1]} features and the model has {n}: train it with --features {X.shape[1]}, as "
                "these data use features that the training data lack"
            )
        head, rest = way.taken(X[:, :n]), X[:, n:]
        X = sparse.csr_matrix(sparse.hstack([head, rest])) if sparse.issparse(X) else np.hstack([head, rest])
    return widened(last, table.shape[1]), replace(table, X=X)
