"""The check of labels before a fit: what the user took for classes may be measurements, or a column of names."""

from __future__ import annotations

import warnings
from typing import Any

from ..status import InputError

FEW = 5  # Most numbers that are classes, whatever they are.
SOME = 10  # Number of distinct values up to which whole numbers are classes, unless most occur once and leave gaps.
MANY = 50  # Most numbers that are classes if each has FILLED samples.
FILLED = 10
NAMES = 20  # Most texts that are classes although nearly every sample has its own.
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

    refuse_measurements(path, table, chosen)
    classes, first, counts = np.unique(table.y, return_index=True, return_counts=True)
    taken, others = _taken(table)
    if len(classes) == 1:
        raise InputError(
            f"{path}: all {len(table.y):,} samples have the label {classes[0]}, and classification needs two classes "
            f"({taken}): {others}--task novelty learns one class"
        )
    _warn_of_single_samples(path, table, classes[counts == 1], first[counts == 1], taken)


def refuse_measurements(path: str, table: Any, chosen: bool) -> None:
    """Fail if the labels are measurements or names of samples, or may be; see `check_labels`."""
    import numpy as np

    taken, others = _taken(table)
    numbers = table.y.dtype.kind in "iuf"
    fractions = table.y[table.y % 1 != 0] if table.y.dtype.kind == "f" else table.y[:0]
    if len(fractions):
        found = f"the label {fractions[0]:.10g} is not a class"
        raise InputError(f"{path}: {found} ({taken}): {others}--task regression fits real numbers")
    classes, counts = np.unique(table.y, return_counts=True)
    seen = None if chosen else (_seen_in_numbers if numbers else _seen_in_texts)(classes, counts)
    if seen is not None:
        span = f" from {classes[0]} to {classes[-1]}" if numbers else f" such as {str(classes[0])[:50]!r}"
        advice = "--task regression fits numbers, " if numbers else ""
        raise InputError(
            f"{path}: {len(classes):,} distinct labels{span} in {len(table.y):,} samples, {seen} ({taken}): {others}"
            f"{advice}--task classification trains a class for each of them"
        )


def _taken(table: Any) -> tuple[str, str]:
    """Return which column the label was taken from, and the advice to name another one."""
    others = "--label names another one, " if table.label_column is not None else ""
    return f"the label is {label_text(table)}", others


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
        raise InputError(
            f"{path}: regression needs numbers as labels, and {str(table.y[0])[:50]!r} is none (the label is "
            f"{label_text(table)}{others})"
        )
    return table.y.astype(np.float64)


def _seen_in_numbers(classes: Any, counts: Any) -> str | None:
    """Return why whole numbers may be measurements; None if they are numbers of classes.

    Classes are numbered 0, 1, 2, ... or 1, 2, 3, ..., and nearly each has several samples. Measurements begin anywhere
    and have gaps; the smallest and the largest ones are rare.
    """
    k, samples = len(classes), int(counts.sum())
    missing = float(classes[-1]) - float(classes[0]) + 1 - k
    alone = int((counts == 1).sum())
    if k <= SOME:
        far = k > FEW and missing >= k and 2 * alone > k
        return f"{alone:,} of them once, with gaps between them" if far else None
    if k <= MANY and counts.min() >= FILLED:
        return None
    if 5 * alone >= k:
        return f"{alone:,} of them once"
    if missing > max(10, k / 10):
        return "with gaps between them"
    if classes[0] not in (-1, 0, 1):
        return "which begin neither at 0 nor at 1"
    if 10 * alone >= k and samples >= 20 * k:
        return f"{alone:,} of them once, and one {counts.max():,} times"
    return None


def _seen_in_texts(classes: Any, counts: Any) -> str | None:
    """Return why texts may be names of samples rather than of classes."""
    k, samples = len(classes), int(counts.sum())
    alone = int((counts == 1).sum())
    return f"{alone:,} of them once" if k > NAMES and 2 * k > samples else None


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


def weights_of(y: Any, given: dict[str, float]) -> dict[Any, float]:
    """Return the weights of classes under the labels in the data."""
    import numpy as np

    named = {str(label): label for label in np.unique(y).tolist()}
    unknown = [label for label in given if label not in named]
    if unknown:
        raise InputError(f"--class-weight names the class {unknown[0]!r}; the classes are {', '.join(named)}")
    return {named[label]: weight for label, weight in given.items()}
