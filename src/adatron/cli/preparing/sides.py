"""The labels of novelty detection: 1 is known, -1 is new, and a machine learns from known samples only."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from ..data import Source
from ..status import InputError


def read_for_novelty(source: Source, features: int | None, given: bool, more: dict[str, Any]) -> Any:
    """Read data to train on, whose label may be missing.

    A column of a table is the label if it has the name of one, or else the last column if it holds 1 and -1 alone.

    given : whether the data are kernel values
    more : arguments of `adatron.files.read`
    """
    from ...files import rewindable

    source = replace(source, files=tuple(rewindable(file, source.max_bytes) for file in source.files))
    table = source.to_train(features, given, False, **more)
    if table.y is not None or given or table.shape[1] < 2 or not _has_label(str(source.files[0]), table):
        return table
    return source.to_train(features, given, True, **more)


def _has_label(file: str, table: Any) -> bool:
    import numpy as np
    from scipy import sparse

    from ...files.tables.columns import LABEL_NAMES

    if any(name.lower() in LABEL_NAMES for name in table.feature_names or ()):
        return True
    last = table.X[:, [-1]]
    values: Any = last.toarray() if sparse.issparse(last) else last
    found = set(np.unique(values.astype(str)).tolist()) in ({"-1.0", "1.0"}, {"-1", "1"})
    if found:
        text = "the last column holds 1 and -1 alone, so it is the label, and samples with -1 are left out of the fit"
        warnings.warn(f"{file}: {text}: --label names another column", stacklevel=2)
    return found


def has_sides(y: Any) -> bool:
    """Return whether labels are 1 and -1, or one of both."""
    import numpy as np

    return y is not None and y.dtype.kind in "iuf" and bool(np.isin(y, (-1, 1)).all())


def known_part(file: str, table: Any, given: bool = False) -> Any:
    """Return the samples with label 1, or all of them if the labels are others than 1 and -1.

    Parameters
    ----------
    given : bool
        Whether the data are kernel values, which have a column for each sample.

    Raises
    ------
    ValueError
        All labels are -1, or kernel values hold samples with this label; the message names the file.
    """
    from sklearn.utils import _safe_indexing  # pyright: ignore[reportPrivateUsage]

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


def said_of(table: Any, learned: Any) -> str:
    """Return which samples a machine for novelty detection learns from."""
    if learned is not table:
        return f"{learned.shape[0]:,} of {table.shape[0]:,} samples, those with label 1"
    unused = "" if table.y is None or has_sides(table.y) else "; their labels are not 1 and -1, and are not used"
    return f"all {table.shape[0]:,} samples{unused}"
