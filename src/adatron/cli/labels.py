"""The labels of data to train on: classes, numbers, or the sides of novelty detection, 1 (known) and -1 (new).

What the user takes for classes may be measurements or a column of names; then there is no fit. Novelty detection learns
from known samples only.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing  # pyright: ignore[reportPrivateUsage]

from ..files.labels import as_targets
from ..files.table import shortened, whole_if_possible
from .outputs import InputError

FEW = 5  # Most numbers that are classes, whatever they are.
SOME = 10  # Most numbers that are classes although they are not counted from 0 or 1, unless most occur once, far apart.
MOST_NAMES = 20  # Most texts that are classes although nearly every sample has its own.


def label_text(table: Any) -> str | None:
    """Return where the labels of a table came from; None for a table without labels."""
    if table.y is None:
        return None
    if table.label_column is not None:
        return f"column {table.label_column}{f' ({table.label_name})' if table.label_name else ''}"
    return "in front of each sample" if table.first_index is not None else "an array of its own"


def labelled_for(machine: Any, task: str, path: str, table: Any, chosen: bool) -> Any:
    """Return a table whose labels suit the task, and give the machine the weights of its classes.

    An error about the labels names the file, the label's column, and the option that helps.

    chosen : whether the user has asked for classification; then there may be any number of classes
    """
    if task == "classification":
        refuse_measurements(path, table, chosen)
        if isinstance(machine.class_weight, dict):
            named = {str(label): label for label in np.unique(table.y).tolist()}
            unknown = [label for label in machine.class_weight if label not in named]
            if unknown:
                known = ", ".join(named)
                raise InputError(f"--class-weight names the class {unknown[0]!r}; the classes are {known}")
            machine.set_params(class_weight={named[one]: weight for one, weight in machine.class_weight.items()})
    if task != "regression":
        return table
    try:
        return replace(table, y=numbers(table.y))
    except InputError as error:
        raise InputError(f"{path}: {error} ({_taken(table)[0]})") from error


def check_classes_of(path: str, table: Any) -> None:
    """Fail if there is one class only, and warn of classes with one sample."""
    classes, first, counts = np.unique(table.y, return_index=True, return_counts=True)
    taken, others = _taken(table)
    if len(classes) == 1:
        raise InputError(
            f"{path}: all {len(table.y):,} samples have the label {classes[0]}, and classification needs two classes "
            f"({taken}): {others}--task novelty learns one class"
        )
    single, begin = classes[counts == 1], first[counts == 1]
    if not len(single):
        return
    header = ""
    if table.label_column is not None and table.feature_names is None and begin.min() == 0:
        header = "; one of these samples is the first row: is that row a header (--header)?"
    kind = "classes with one sample each" if len(single) > 1 else "a class with one sample"
    warnings.warn(f"{path}: {kind}: {shortened(single)} ({taken}){header}", stacklevel=2)


def refuse_measurements(path: str, table: Any, chosen: bool) -> None:
    """Fail if the labels are measurements or names of samples, or may be; see `labelled_for`."""
    taken, others = _taken(table)
    numbers = table.y.dtype.kind in "iuf"
    fractions = table.y[table.y % 1 != 0] if table.y.dtype.kind == "f" else table.y[:0]
    if len(fractions):
        found = f"the label {fractions[0]:.10g} is not a class"
        raise InputError(f"{path}: {found} ({taken}): {others}--task regression fits real numbers")
    classes, counts = np.unique(table.y, return_counts=True)
    doubtful = _may_be_measured(classes, counts) if numbers else 2 * len(classes) > max(2 * MOST_NAMES, len(table.y))
    if doubtful and not chosen:
        span = f" from {classes[0]} to {classes[-1]}" if numbers else f" such as {str(classes[0])[:50]!r}"
        advice = "--task regression fits numbers, " if numbers else ""
        raise InputError(
            f"{path}: {len(classes):,} distinct labels{span} in {len(table.y):,} samples ({taken}): {others}{advice}"
            "--task classification trains a class for each of them"
        )


def _taken(table: Any) -> tuple[str, str]:
    """Return which column the label was taken from, and the advice to name another one."""
    others = "--label names another one, " if table.label_column is not None else ""
    return f"the label is {label_text(table)}", others


def _may_be_measured(classes: Any, counts: Any) -> bool:
    """Tell whether whole numbers may be measurements.

    Many classes are numbered 0, 1, 2, ... or 1, 2, 3, ..., and each has several samples. Few may have any numbers,
    unless most of them occur once, with as many gaps as classes.
    """
    k = len(classes)
    gaps = float(classes[-1]) - float(classes[0]) + 1 - k
    if k > SOME:
        return classes[0] not in (-1, 0, 1) or gaps > 0 or bool(counts.min() == 1)
    return k > FEW and gaps >= k and 2 * int((counts == 1).sum()) > k


def has_sides(y: Any) -> bool:
    """Return whether labels are 1 and -1, or one of both."""
    return y is not None and y.dtype.kind in "iuf" and bool(np.isin(y, (-1, 1)).all())


def known_part(file: str, table: Any, given: bool = False) -> Any:
    """Return the samples with label 1, or all of them if the labels are others than 1 and -1.

    given : whether the data are kernel values, which have a column for each sample and keep all of them
    """
    if not has_sides(table.y):
        return table
    known = (table.y == 1).nonzero()[0]
    if not len(known):
        raise InputError(
            f"{file}: all labels are -1 (new), and --task novelty learns from samples with label 1 (known)"
        )
    if len(known) == len(table.y):
        return table
    if given:
        raise InputError(
            f"{file}: --task novelty learns from samples with label 1 (known), and these are kernel values of samples "
            "with label -1 (new), too: leave out their rows and columns"
        )
    return replace(table, X=_safe_indexing(table.X, known), y=table.y[known])


def origin_of(table: Any, learned: Any) -> str:
    """Return which samples a machine for novelty detection learns from."""
    if learned is not table:
        return f"{learned.shape[0]:,} of {table.shape[0]:,} samples, those with label 1"
    unused = "" if table.y is None or has_sides(table.y) else "; their labels are not 1 and -1, and are not used"
    return f"all {table.shape[0]:,} samples{unused}"


def numbers(y: Any) -> Any:
    """Return targets of a regression as numbers; text is an error."""
    found = as_targets(y)
    if found is None:
        raise InputError(f"regression needs numbers as labels; found {str(y[0])[:50]!r}: --label names the column")
    return found


def comparable(predicted: Any, y: Any) -> tuple[Any, Any]:
    """Return both as text if either is: a column of numbers may stand for text, and text, +1 say, for numbers."""
    if predicted.dtype.kind in "iuf" and y.dtype.kind == "U" and (found := as_targets(y)) is not None:
        y = whole_if_possible(found)
    if "U" in predicted.dtype.kind + y.dtype.kind:
        return predicted.astype(str), y.astype(str)
    return predicted, y


def check_classes(classes: Any, y: Any) -> None:
    """Fail if no label is a class of the model: such labels mean something else."""
    known, labels = (np.unique(some) for some in comparable(classes, y))
    if not np.isin(labels, known).any():
        raise InputError(f"none of the labels ({shortened(labels)}) is a class of the model ({shortened(known)})")
