"""The data that a model takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Wanted:
    """The data that a model takes.

    features : the number of them
    sparse : whether they are CSR
    names : their names, if they have any
    texts : the numbers of those that are text
    gaps : whether values may be missing
    """

    features: int
    sparse: bool
    names: tuple[str, ...] | None = None
    texts: tuple[int, ...] = ()
    gaps: bool = False


def wanted_by(model: Any) -> Wanted:
    """Return the data that a fitted model takes; the model then forgets the names of its features."""
    from scipy import sparse

    from ..parts import machine_of, take_names
    from .columns import fills_gaps, texts_of

    vectors = machine_of(model).support_vectors_
    width = int(getattr(model, "n_features_in_", vectors.shape[1]))
    texts = tuple(texts_of(model))
    return Wanted(width, sparse.issparse(vectors), take_names(model), texts, fills_gaps(model))


def wanted_as(table: Any, gaps: bool) -> Wanted:
    """Return the data that a model of a table will take."""
    from scipy import sparse

    return Wanted(table.shape[1], sparse.issparse(table.X), table.feature_names, table.categorical, gaps)
