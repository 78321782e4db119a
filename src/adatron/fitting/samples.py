"""The samples in a canonical order, with equal ones merged.

A weight then means the same as repetition, and the order of the given rows cannot change a bit of the solution. Folds
are stratified, and are segments of one Gram matrix, so that all of them share its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector, is_sparse
from ..compiled.merge import alike, hash_dense, hash_sparse, merge
from ..compiled.panels import squared_norms
from ..compiled.shares import share_out
from ..model.layout import Coefficients


@dataclass(frozen=True)
class Samples:
    """Distinct samples, class by class.

    rows : (m,) row of X of each distinct sample
    sizes : (n_classes,) distinct samples of each class
    weight : (m,) total weight of the rows merged into it
    members : (n,) rows of X with a positive weight
    group : (n,) the distinct sample of each member
    own : (n,) the member's own weight
    """

    rows: Ids
    sizes: Ids
    weight: Vector
    members: Ids
    group: Ids
    own: Vector

    @classmethod
    def alone(cls, rows: Ids) -> Samples:
        """Return some rows as one class, none of them merged, each of weight 1."""
        everything, ones = np.arange(len(rows)), np.ones(len(rows))
        return cls(rows, np.array([len(rows)]), ones, everything, everything, ones)

    def weights_of_classes(self) -> Vector:
        """Return the total weight of each class."""
        classes = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return np.asarray(np.bincount(classes, self.weight, len(self.sizes)), np.float64)

    def together(self) -> Samples:
        """Return all samples as one class, in an order that depends only on their content."""
        return replace(self, sizes=np.array([len(self.rows)]))

    def in_units(self) -> tuple[Samples, float]:
        """Divide the weights by a power of two, so that they are about 1; return the samples and the divisor.

        This is for programs that only weights bound: a tolerance would mean another thing for weights of another size.
        """
        unit = unit_of_weights(self.weight)
        return replace(self, weight=self.weight / unit, own=self.own / unit), unit

    def spread(
        self, ends: Ids, ids: Ids, beta: Vector, above: float, below: float | None = None, even: bool = False
    ) -> Coefficients:
        """Return coefficients of the rows of X from those of each problem's distinct samples, which end at ``ends``.

        The members of a distinct sample are filled up to their own bounds one after the other, the last row first. So
        no more of them than needed become support vectors.

        above, below : the bounds of a coefficient of weight 1, as sizes; without ``below`` they are the same
        even : see ``Problem``
        """
        if not beta.any():  # nothing was solved in time; thousands of classes have very many coefficients
            nothing = np.zeros(0, np.int64)
            return Coefficients(np.zeros(0), nothing, nothing, len(ends))
        own = self.weight, self.group, self.own, self.members
        sizes = float(above if below is None else below), float(above)  # an int would be compiled anew
        data, rows, numbers = share_out(ends, ids, beta, *sizes, *own, even)
        return Coefficients(data, rows, numbers, len(ends))


def unit_of_weights(weight: Vector) -> float:
    """Return the power of two next to the mean of positive weights."""
    largest = weight.max()  # the sum of large weights may overflow
    return float(2.0 ** np.round(np.log2(largest) + np.log2((weight / largest).mean())))


def canonical(X: Any, codes: Ids, n_classes: int, weight: Vector, mergeable: bool) -> Samples:
    """Drop rows without weight, sort by class and then by content, merge equal rows of one class.

    Parameters
    ----------
    X : ndarray or CSR matrix (n, d)
    codes : (n,) class of each row
    weight : (n,)
    mergeable : False keeps the given order within a class (rows of a Gram matrix are not comparable)
    """
    used = np.flatnonzero(weight > 0)
    if mergeable:
        keys = hashes(X)
        order, doubt = by_content(keys, codes, used)
        first = differ(X, order, doubt)
    else:
        order = used[np.argsort(codes[used], kind="stable")]
        first = np.ones(len(order), bool)
    rows, sizes, total, group, own = merge(order, first, codes, n_classes, weight)
    return Samples(rows, sizes, total, order, group, own)


def by_content(keys: NDArray[np.uint64], codes: Ids, used: Ids) -> tuple[Ids, Ids]:
    """Return some samples in the order of class and hash, and the places in it that ``alike`` gives.

    Equal samples keep the order that they have.
    """
    order = used[np.argsort(keys[used])]
    order = order[np.argsort(codes[order].astype(np.uint32), kind="stable")]
    doubt = alike(order, keys, codes)
    if len(doubt):  # the fast sort has put these in any order
        order = used[np.lexsort((keys[used], codes[used]))]
        doubt = alike(order, keys, codes)
    return order, doubt


def hashes(X: Any) -> NDArray[np.uint64]:
    """Return the hash of every row."""
    out = np.empty(X.shape[0], np.uint64)
    data = X.data if is_sparse(X) else X
    bits = np.uint64 if data.dtype.itemsize == 8 else np.uint32
    if is_sparse(X):
        sign = np.array(-0.0, data.dtype).view(bits)[()]
        hash_sparse(data.view(bits), sign, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64), out)
    else:
        hash_dense(data.view(bits), out)
    return out


def differ(X: Any, order: Ids, doubt: Ids) -> NDArray[np.bool_]:
    """Return whether each row in doubt differs from the one before it; equal hashes are only a hint."""
    first = np.ones(len(order), bool)
    for start in range(0, len(doubt), 4096):
        here = doubt[start : start + 4096]
        differ = X[order[here]] != X[order[here - 1]]
        first[here] = np.asarray(differ.sum(axis=1)).ravel() > 0
    return first


def variance(X: Any, weight: Vector | None = None) -> float:
    """Return the variance of all entries, with the same bits for any order of the rows (sums are exactly rounded).

    weight : (n,) how often each row counts; None is once
    """
    n, d = X.shape
    if weight is not None and (weight == weight[0]).all():
        weight = None
    often = None if weight is None else weight / 2.0 ** np.frexp(weight.max())[1]  # no sum overflows, no bit changes
    size = d * (n if often is None else fsum(often.tolist()))
    if is_sparse(X):
        often = None if often is None else np.repeat(often, np.diff(X.indptr))
        mean = weighted_sum(often, X.data.astype(np.float64)) / size
        return max(0.0, weighted_sum(often, np.square(X.data, dtype=np.float64)) / size - mean * mean)
    mean = weighted_sum(often, np.add.reduce(X, axis=1, dtype=np.float64)) / size
    squares = np.empty(n)
    squared_norms(X, np.arange(n), np.full(d, mean), np.ones(d), squares)
    return weighted_sum(often, squares) / size


def weighted_mean(weight: Vector | None, values: Vector) -> float:
    """Return Σ weight · values / Σ weight, with the bits of values that are repeated; see ``weighted_sum``."""
    if weight is None:
        return fsum(values.tolist()) / len(values)
    often = weight / 2.0 ** np.frexp(weight.max())[1]  # by a power of two: no sum overflows, no bit changes
    return weighted_sum(often, values) / fsum(often.tolist())


def weighted_sum(weight: Vector | None, values: Vector) -> float:
    """Return Σ weight · values, exactly rounded: that of values which are repeated, to the last bit. No weight is 1.

    A product is rounded, so what it lacks is added, too (T. J. Dekker, A floating-point technique for extending the
    available precision, 1971).
    """
    return fsum(products_of(weight, values))


def products_of(weight: Vector | None, values: Vector) -> list[float]:
    """Return numbers whose sum is exactly Σ weight · values, unless they leave the range of floats."""
    if weight is None:
        return values.tolist()
    products = weight * values
    a, b = _upper_half(weight), _upper_half(values)
    lacking = (a * b - products) + a * (values - b) + (weight - a) * b + (weight - a) * (values - b)
    return [*products.tolist(), *np.where(np.isfinite(lacking), lacking, 0.0).tolist()]


def _upper_half(values: Vector) -> Vector:
    """Return the upper 26 bits of each number."""
    large = (2.0**27 + 1.0) * values
    return large - (large - values)


FOLDS = 5  # Folds of the cross-validation behind probabilities, as many as LIBSVM has.


@dataclass(frozen=True)
class Folds:
    """Samples class by class, and in each class fold by fold.

    Equal samples of a class are one, so they are left out together. Neither the order of the rows nor the difference
    between a weight and a repetition can matter.

    samples : a segment for each class and fold
    classes : (m,) class of each sample
    out : (m,) the fold that leaves a sample out; -1 for the only sample of a class, which all folds keep
    before : (m,) number of each sample among the samples that were divided
    """

    samples: Samples
    classes: Ids
    out: Ids
    before: Ids

    def by_class(self) -> Samples:
        """Return the samples with a segment for each class."""
        return replace(self.samples, sizes=self.samples.sizes.reshape(-1, FOLDS).sum(axis=1))

    def kept(self, fold: int) -> list[list[int]]:
        """Return the segments of each class, except those that a fold leaves out."""
        sizes = self.samples.sizes.reshape(-1, FOLDS)
        alone = sizes.sum(axis=1) == 1
        return [[c * FOLDS + f for f in range(FOLDS) if f != fold or alone[c]] for c in range(len(sizes))]


def divide(samples: Samples, rng: np.random.RandomState) -> Folds:
    """Deal the samples of each class out to five folds.

    Parameters
    ----------
    rng : RandomState
        Shuffles the samples.

    Raises
    ------
    ValueError
        If each class has only one distinct sample, so that none can be left out.
    """
    if samples.sizes.max() < 2:
        raise ValueError("probability=True needs a class with at least 2 distinct samples. Got one of each class.")
    classes = np.repeat(np.arange(len(samples.sizes)), samples.sizes)
    shuffled = rng.permutation(len(classes))
    dealt = np.empty(len(classes), np.int64)
    dealt[shuffled[np.argsort(classes[shuffled], kind="stable")]] = np.arange(len(classes)) % FOLDS
    before = np.lexsort((dealt, classes))
    classes, dealt = classes[before], dealt[before]
    arranged = replace(
        samples,
        rows=samples.rows[before],
        sizes=np.bincount(classes * FOLDS + dealt, minlength=len(samples.sizes) * FOLDS),
        weight=samples.weight[before],
        group=np.argsort(before)[samples.group],
    )
    return Folds(arranged, classes, np.where(samples.sizes[classes] == 1, -1, dealt), before)
