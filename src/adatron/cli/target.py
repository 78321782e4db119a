"""The check of labels before a fit: what the user took for classes may be measurements, or a column of names."""

from __future__ import annotations

import warnings
from typing import Any

FEW = 20  # Number of classes up to which a class for nearly every sample is no error.
MANY = 50  # Number of classes above which whole numbers with gaps between them are taken for measurements.
LISTED = 10  # Most classes that a message names.


def label_text(table: Any) -> str | None:
    """Return where the labels of a table came from; None if there are none."""
    if table.y is None:
        return None
    if table.label_column is not None:
        return f"column {table.label_column}{f' ({table.label_name})' if table.label_name else ''}"
    return "in front of each sample" if table.first_index is not None else "an array of its own"


def check_labels(path: str, table: Any, chosen: bool) -> None:
    """Fail if the labels cannot be meant as classes, and warn of classes with one sample.

    Parameters
    ----------
    chosen : bool
        Whether the user has asked for classification; then there may be any number of classes.

    Raises
    ------
    ValueError
        The message names the file, the label's column, and the option that helps.
    """
    import numpy as np

    where = label_text(table)
    taken = f"the label is {where}"
    others = "--label names another one, " if table.label_column is not None else ""
    fractions = table.y[table.y % 1 != 0] if table.y.dtype.kind == "f" else table.y[:0]
    if len(fractions):
        raise ValueError(
            f"{path}: the label {fractions[0]} is not a class ({taken}): {others}--task regression fits real numbers"
        )
    classes, first, counts = np.unique(table.y, return_index=True, return_counts=True)
    if len(classes) == 1:
        raise ValueError(
            f"{path}: all {len(table.y):,} samples have the label {classes[0]}, and classification needs two classes "
            f"({taken}): {others}--task novelty learns one class"
        )
    if not chosen and _no_classes(classes, len(table.y)):
        numbers = table.y.dtype.kind in "iuf"
        span = f" from {classes[0]} to {classes[-1]}" if numbers else f" such as {str(classes[0])[:50]!r}"
        advice = "--task regression fits numbers, " if numbers else ""
        raise ValueError(
            f"{path}: {len(classes):,} distinct labels{span} in {len(table.y):,} samples ({taken}): {others}{advice}"
            "--task classification trains a class for each of them"
        )
    _warn_of_single_samples(path, table, classes[counts == 1], first[counts == 1], taken)


def check_numbers(path: str, table: Any) -> Any:
    """Return the labels as real numbers.

    Raises
    ------
    ValueError
        A label is text; the message names the file, the label's column and the option that helps.
    """
    import numpy as np

    if table.y.dtype.kind not in "iuf":
        others = ": --label names another one" if table.label_column is not None else ""
        raise ValueError(
            f"{path}: regression needs numbers as labels, and {str(table.y[0])[:50]!r} is none (the label is "
            f"{label_text(table)}{others})"
        )
    return table.y.astype(np.float64)


def _no_classes(classes: Any, samples: int) -> bool:
    """Return whether there are more distinct labels than classes usually have.

    Numbers of classes come without gaps, as 1, 2, 3, ...; measurements have gaps.
    """
    k = len(classes)
    gaps = classes.dtype.kind in "iuf" and float(classes[-1]) - float(classes[0]) >= 2 * k
    return (k > FEW and 2 * k > samples) or (k > MANY and gaps)


def _warn_of_single_samples(path: str, table: Any, classes: Any, first: Any, taken: str) -> None:
    if not len(classes):
        return
    names = ", ".join(map(str, classes[:LISTED].tolist()))
    names += f", ... {len(classes):,} in all" if len(classes) > LISTED else ""
    header = ""
    if table.label_column is not None and table.feature_names is None and first.min() == 0:
        header = "; one of these samples is the first row: is that row a header (--header)?"
    kind = "classes with one sample each" if len(classes) > 1 else "a class with one sample"
    warnings.warn(f"{path}: {kind}: {names} ({taken}){header}", stacklevel=2)
