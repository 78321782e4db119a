"""Partitions of the training set, as the user has them on the workers: checked, counted and cut into slabs.

A fit needs some facts about all rows. They are found part by part, in numbers whose order does not matter: counts,
largest values, and sums as ``exact_terms`` whose total is rounded once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array, column_or_1d

from ..arrays import Ids, Vector, canonical_csr, writable
from ..compiled.panels import squared_norms
from ..door.columns import NUMBER_KINDS, as_numbers, first_text, refuse_dates
from ..fitting.samples import hashes, products_of
from ..quoted import quoted


@dataclass(frozen=True)
class Partition:
    """Checked rows with their targets and the user's weights; None: there are no targets, or all weights are 1."""

    X: Any
    y: NDArray[Any] | None
    weight: Vector | None

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def numbers(self) -> NDArray[Any]:
        """The numbers that are stored."""
        return self.X.data if sparse.issparse(self.X) else self.X

    @property
    def weights(self) -> Vector:
        """The weights, ones too."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def often(self, unit: float | None) -> Vector | None:
        """Return how often each row counts, divided by ``unit``; None: all count once."""
        return None if unit is None or self.weight is None else self.weight / unit


@dataclass(frozen=True)
class PartitionFacts:
    """Facts about a partition that a fit needs.

    rows, columns, stored : its shape, and how many numbers are stored
    sparse, dtype : how the rows are stored
    longest : the most numbers that are not 0 in a row
    largest : the largest absolute number
    nonzero : how many numbers are not 0
    weights : the smallest and the largest weight; None if all are 1
    targets : the distinct labels, or some distinct targets in their order
    often : how many rows each of these targets stands for; None for labels
    used : the columns of CSR rows that hold numbers
    """

    rows: int
    columns: int
    stored: int
    sparse: bool
    dtype: Any
    longest: int
    largest: float
    nonzero: int
    weights: tuple[float, float] | None
    targets: NDArray[Any] | None
    often: Vector | None
    used: NDArray[Any] | None


def load(X: Any, y: Any, weight: Any, number: int, dtype: Any, labels: bool) -> Partition:
    """Check the rows of a partition as the estimators do; an error names the partition.

    dtype : float32 or float64
    labels : whether the targets are classes
    """
    try:
        return _checked(X, y, weight, dtype, labels)
    except (TypeError, ValueError) as error:
        text = first_text(X)
        fault = error if text is None else f"X must hold numbers. Got {quoted(text[1])} in column {quoted(text[0])}."
        raise ValueError(f"In partition {number} of the training data: {fault}") from None


def _checked(X: Any, y: Any, weight: Any, dtype: Any, labels: bool) -> Partition:
    how: dict[str, Any] = {"accept_sparse": "csr", "dtype": dtype, "ensure_min_samples": 0}
    rows: Any = check_array(as_numbers(X), order="C", input_name="X", **how)
    rows = canonical_csr(rows) if sparse.issparse(rows) else writable(np.ascontiguousarray(rows))
    n = rows.shape[0]
    if y is not None:
        y = _labels(y) if labels else _numbers(y, "y")
        assert_all_finite(y, input_name="y")
        if len(y) != n:
            raise ValueError(f"X has {n} rows and y has {len(y)}; both need partitions of equal lengths.")
    if weight is not None:
        weight = _numbers(weight if np.ndim(weight) else np.full(n, weight), "sample_weight")
        assert_all_finite(weight, input_name="sample_weight")
        if len(weight) != n:
            raise ValueError(f"X has {n} rows and sample_weight has {len(weight)}; both need equal partitions.")
    return Partition(rows, y, weight)


def _labels(y: Any) -> NDArray[Any]:
    values = column_or_1d(np.asarray(y), warn=True)
    if values.dtype != object:
        return values
    if all(isinstance(one, str) for one in values):
        return values.astype(str)
    if (
        getattr(getattr(y, "dtype", None), "kind", "O") in NUMBER_KINDS
    ):  # pandas before 3 has objects for nullable numbers
        return np.array(values.tolist())
    kinds = sorted({type(one).__name__ for one in values})
    raise ValueError(f"Unknown label type: y must hold text, or numbers. Got objects of the types {kinds}.")


def _numbers(values: Any, name: str) -> Vector:
    refuse_dates(values, name)
    column = np.asarray(values)
    try:
        return column_or_1d(column, warn=name == "y", dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers. Got {quoted(column.ravel()[:3].tolist())} and so on.") from None


def facts(part: Partition, labels: bool, some: int = 1000) -> PartitionFacts:
    """Return the facts that a fit needs; ``some``: the most targets that are returned unless they are labels."""
    X, numbers, y, weight = part.X, part.numbers, part.y, part.weight
    is_sparse = sparse.issparse(X)
    targets, often = None, None
    if y is not None and labels:
        targets = np.unique(y)
    elif y is not None:
        chosen = np.sort(y)[np.linspace(0, len(y) - 1, min(some, len(y))).astype(np.int64)]
        targets, many = np.unique(chosen, return_counts=True)
        often = np.asarray(many * (len(y) / max(1, len(chosen))), np.float64)
    return PartitionFacts(
        *X.shape,
        stored=int(numbers.size),
        sparse=is_sparse,
        dtype=X.dtype,
        longest=int((np.diff(X.indptr) if is_sparse else np.count_nonzero(X, axis=1)).max(initial=0)),
        largest=float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0))),
        nonzero=int(np.count_nonzero(numbers)),
        weights=None if weight is None else (float(weight.min(initial=np.inf)), float(weight.max(initial=-np.inf))),
        targets=targets,
        often=often,
        used=np.unique(X.indices) if is_sparse else None,
    )


def nonzero_of_some(part: Partition, first: int, step: int) -> tuple[int, int]:
    """Return, for every ``step``-th of all rows, how many numbers are not 0, and how many numbers there are."""
    some = part.X[-first % step :: step]
    return int(np.count_nonzero(some)), int(some.size)


def largest_size(part: Partition, class_weight: Vector | None, classes: NDArray[Any] | None) -> float:
    """Return the largest squared norm of the rows that have a weight."""
    weight = part.weights
    if class_weight is not None and classes is not None:
        weight = weight * class_weight[np.searchsorted(classes, part.y)]  # pyright: ignore
    squares = np.asarray(sparse.csr_array(part.X).astype(np.float64).power(2).sum(axis=1)).ravel()
    return float(squares[weight > 0].max(initial=0.0))


def exact_terms(values: list[float]) -> list[float]:
    """Return a few numbers with exactly the sum of the values, so that such lists may be joined in any order.

    Each term leaves a rest of at most 2^-53 of its size, so there are few terms.
    """
    terms: list[float] = []
    while term := fsum([*values, *(-t for t in terms)]):
        if not isfinite(term):
            return [term]
        terms.append(term)
    return terms


def weighted_terms(part: Partition, unit: float | None, mean: float | None) -> tuple[list[float], list[float]]:
    """Return ``exact_terms`` of weights times sums, one for each row, and of the weights.

    See ``fitting.samples.variance``.

    unit : see ``Partition.often``
    mean : None: sums of the numbers; else of their squared distances from this mean
    """
    X, often = part.X, part.often(unit)
    of_rows = [] if often is None else often.tolist()
    if sparse.issparse(X):
        often = None if often is None else np.repeat(often, np.diff(X.indptr))
        values = X.data.astype(np.float64) if mean is None else np.square(X.data, dtype=np.float64)
    elif mean is None:
        values = np.add.reduce(X, axis=1, dtype=np.float64)
    else:
        values = np.empty(len(part))
        squared_norms(X, np.arange(len(part)), np.full(X.shape[1], mean), np.ones(X.shape[1]), values)
    return exact_terms(products_of(often, values)), exact_terms(of_rows)


def sizes_terms(part: Partition, unit: float | None) -> tuple[list[float], list[float]]:
    """Return ``exact_terms`` of the weights times the squared norms of the rows, and of the weights."""
    X, often = part.X, part.often(unit)
    if sparse.issparse(X):
        squares = np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    else:
        squares = np.square(X, dtype=np.float64).sum(axis=1)
    return exact_terms(products_of(often, squares)), exact_terms([] if often is None else often.tolist())


def weights_of_classes(part: Partition, classes: NDArray[Any]) -> list[list[float]]:
    """Return ``exact_terms`` of the weights of each class."""
    codes = np.searchsorted(classes, part.y)  # pyright: ignore
    return [exact_terms(part.weights[codes == c].tolist()) for c in range(len(classes))]


class SlabBounds(NamedTuple):
    """The last sample of each slab but the last one, in the order of targets and hashes; see ``Cut``."""

    targets: NDArray[Any]
    hashes: NDArray[np.uint64]


class Cut:
    """How rows are divided into slabs: ranges of the order in which a fit has its samples.

    bounds : None: the order is by classes and hashes, and slab j has the j-th range of hashes of each class.
        Else the order is by targets and hashes. Rows with equal targets may be on several slabs, equal samples are on
        one slab.
    """

    def __init__(self, slabs: int, classes: NDArray[Any] | None, bounds: SlabBounds | None) -> None:
        self.slabs, self.classes, self.bounds = slabs, classes, bounds

    def keys(self, part: Partition) -> tuple[NDArray[Any], NDArray[np.uint64]]:
        """Return what decides the order of the rows: the number of the class, or the target; and the hash."""
        if part.y is None:
            codes: NDArray[Any] = np.zeros(len(part), np.int64)
        else:
            codes = part.y if self.classes is None else np.searchsorted(self.classes, part.y)
        return codes, hashes(part.X)

    def slab(self, codes: NDArray[Any], keys: NDArray[np.uint64]) -> Ids:
        """Return the slab of each row."""
        if self.bounds is None:
            return ((keys >> np.uint64(32)) * np.uint64(self.slabs) >> np.uint64(32)).astype(np.int64)
        slab = np.searchsorted(self.bounds.targets, codes, side="left")
        for target in np.unique(self.bounds.targets):
            own = np.flatnonzero(codes == target)
            slab[own] += np.searchsorted(self.bounds.hashes[self.bounds.targets == target], keys[own], side="left")
        return slab


@dataclass(frozen=True)
class Piece:
    """Some rows of a partition, with the codes and keys that decide their order; ``rows``: their numbers among all."""

    X: Any
    codes: NDArray[Any]
    keys: NDArray[np.uint64]
    rows: Ids
    weight: Vector | None


def cut(part: Partition, first: int, how: Cut, class_weight: Vector | None) -> list[Piece]:
    """Return the piece of each slab, without rows of weight 0; weights of classes and samples are multiplied.

    first : number of the partition's first row among all rows
    """
    codes, keys = how.keys(part)
    weight = part.weight
    if class_weight is not None and (class_weight != 1.0).any():
        weight = part.weights * class_weight[codes]
    slab = how.slab(codes, keys)
    if weight is not None:
        slab[~(weight > 0)] = -1
    pieces = []
    for number in range(how.slabs):
        own = np.flatnonzero(slab == number)
        some = None if weight is None else weight[own]
        pieces.append(Piece(part.X[own], codes[own], keys[own], own + first, some))
    return pieces
