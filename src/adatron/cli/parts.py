"""The parts of a model: the machine, the steps before it, and what the model remembers of its data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import click
import numpy as np
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils._indexing import _get_column_indices  # pyright: ignore[reportPrivateUsage]

from ..devices import resolved
from ..estimators.base.attributes import TASK_NAMES
from ..estimators.base.machine import KernelMachine
from ..files.table import shortened
from ..files.tables.columns import named
from ..pipelines import of_class, way_to
from .outputs import InputError

UNKNOWN_NAMED = 5  # Most unknown texts that a warning names.


def machine_of(model: Any) -> Any:
    """Return the machine at the end of a model."""
    last = way_to(model).machine
    if not isinstance(last, KernelMachine):
        raise InputError(f"the model is a {type(last).__name__}; this command is for support vector machines")
    return last


def task_of(model: Any) -> str:
    """Return what a model was made for: classification, regression or novelty."""
    return TASK_NAMES[str(get_tags(machine_of(model)).estimator_type)]


def names_of(model: Any) -> tuple[str, ...] | None:
    """Return the names of a model's features, if it knows any."""
    names = vars(way_to(model).estimators[0]).get("feature_names_in_")
    return None if names is None else tuple(map(str, names))


def take_names(model: Any) -> tuple[str, ...] | None:
    """Return the names of a model's features, which it then forgets: scikit-learn would miss them in sparse data."""
    names = names_of(model)
    vars(way_to(model).estimators[0]).pop("feature_names_in_", None)
    return names


def counting_of(model: Any) -> int | None:
    """Return the number from which a model's features are counted in LIBSVM text; None if it was not told."""
    return vars(way_to(model).machine).get("first_index_")


def label_of(model: Any) -> str | None:
    """Return where a model's labels came from; None if it was not told."""
    found = vars(way_to(model).machine).get("label_")
    return found if isinstance(found, str) else None


def framed(X: Any, names: tuple[str, ...] | None) -> Any:
    """Return samples under the names of their features, which scikit-learn compares; CSR has no names."""
    if names is None or sparse.issparse(X):
        return X
    from pandas import DataFrame

    columns_first = np.asfortranarray(X) if X.dtype == object else X  # sums of columns of an array ran in this order
    return DataFrame(columns_first, columns=list(names), dtype=X.dtype, copy=False)


def all_parts(model: Any) -> Iterator[Any]:
    """Yield the estimators of a fitted model, also those for some of its columns."""
    for part in way_to(model).estimators:
        yield part
        for inner, _ in branches(part):
            yield from all_parts(inner)


def branches(part: Any) -> list[tuple[Any, Sequence[int]]]:
    """Return the steps of a fitted ColumnTransformer, each with the numbers of its columns, which must be there."""
    if not of_class(part, "sklearn.compose", "ColumnTransformer"):
        return []
    try:
        samples = framed(np.empty((0, part.n_features_in_)), names_of(part))
        return [
            (one, _get_column_indices(samples, columns if isinstance(columns, slice) else np.asarray(columns).tolist()))
            for _, one, columns in part.transformers_
            if not isinstance(one, str)  # "drop"
        ]
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(f"the model's ColumnTransformer has columns that are not there ({error})") from error


def imputing_of(model: Any) -> str | None:
    """Return the strategy by which a model fills missing values; None if it does not."""
    found = (str(part.strategy) for part in all_parts(model) if of_class(part, "sklearn.impute", "SimpleImputer"))
    return next(found, None)


def scaling_of(model: Any) -> str:
    """Return the name of the scaling in a model."""
    names = [type(part).__name__ for part in list(all_parts(model))[:-1]]
    others = ("ColumnTransformer", "FunctionTransformer")
    scalers = (name for name in names if name.endswith(("Scaler", "Normalizer", "Transformer")) and name not in others)
    return next(scalers, "none")


def texts_of(model: Any) -> dict[int, list[str]]:
    """Return the features that a fitted model takes as text, with the texts that it knows."""
    first = way_to(model).estimators[0]
    inner = [(part, columns) for one, columns in branches(first) for part in way_to(one).estimators]
    found: dict[int, list[str]] = {}
    for part, columns in [(first, range(getattr(first, "n_features_in_", 0))), *inner]:
        categories: Any = getattr(part, "categories_", ())  # of an encoder
        for at, known in zip(columns, categories, strict=False) if len(categories) == len(columns) else ():
            if known.dtype.kind in "OU" and any(isinstance(one, str) for one in known.tolist()):
                found[at] = known.tolist()
    return dict(sorted(found.items()))


def warn_of_unknown(path: str, table: Any, texts: dict[int, list[str]]) -> None:
    """Warn of texts that the training data lack."""
    for at, known in texts.items():
        unknown = sorted({one for one in table.X[:, at].tolist() if isinstance(one, str)} - set(known))
        if unknown:
            listed = shortened(unknown, UNKNOWN_NAMED, repr)
            what = "a category" if len(unknown) == 1 else f"{len(unknown)} categories"
            message = f"{named_in(table, at)} holds {what} that the training data lack, and counts as none: {listed}"
            warnings.warn(f"{path}: {message}", stacklevel=2)


def named_in(table: Any, at: int) -> str:
    """Return the words for a feature: its name, or its column in the file, counted as --label and --drop count."""
    if table.feature_names:
        return named(at, table.feature_names)
    return f"feature {at}" if table.columns is None else f"column {table.columns[at]}"


def check_device(name: str) -> None:
    """Fail if the computer has no such device."""
    try:
        resolved(name)
    except (ValueError, ImportError) as error:
        raise click.UsageError(f"--device: {error}") from error
