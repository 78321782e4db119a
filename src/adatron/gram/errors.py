"""Proven errors of kernel values, for every row by its size.

The error of a value is bounded by the mean of the sizes of its two rows, see ``Kernel.error_bound``. Sizes are sorted
into classes, because most rows are far smaller than the largest one. A table has what is proven of the values between
two classes: certificates add up its bounds, and so do predictions by float32 (``model.signs``).

For Gaussians a closer bound is known. A term of a product x·z is rounded each time that another one is added, so the
last terms are hardly rounded. The error is at most the sum of w_k |x_k z_k|, where w_k is the growth of term k. That
sum is at most the mean, over the two rows, of Σ w_k x_k², and half of that mean where all terms grow like the first.
Two of the three products in a squared distance are norms, whose errors can be looked at.

Kernel values that came from outside may differ for the two orders of a pair. A fit reads one of both, a prediction the
other one. Either may be meant, so the largest difference is part of every bound. A matrix that differs by more than
rounding is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector
from ..compiled.submatrix import asymmetry
from ..threads import Pool, threads_for
from ..threads.cost import COMPARED
from .source import Source

USUAL_CLASSES, CLASS_RATIO = 96, 2.0**-0.125  # Classes of rows by size, and the ratio of each to the one before.
MOST_CLASSES = 128  # Classes at most; the last one has sizes below 2^-16 of the largest.
Norms = Callable[[], NDArray[Any] | None]
LARGEST_ASYMMETRY = 1e-3  # Difference of two mirror images, as a fraction of the largest value, that may be rounding.
SYMMETRY_ROWS = 256  # Rows of a task.
ROUNDED_UP = 1.0 + 1e-8  # Factor for the rounding of numbers that are computed in float64.


def _mean_classes() -> Ids:
    """Return the class of the mean size of two rows, by their classes: sizes are rounded up."""
    sizes = CLASS_RATIO ** np.arange(MOST_CLASSES)
    classes = np.log(0.5 * (sizes[:, None] + sizes)) / np.log(CLASS_RATIO)
    return np.floor(classes - 1e-9).clip(0).astype(np.int64)


_MEAN = _mean_classes()


class SizeClasses(NamedTuple):
    """Classes of rows by their size, the largest first: class k has sizes up to ``tops[k]``."""

    tops: list[float]

    @classmethod
    def below(cls, top: float, count: int = USUAL_CLASSES) -> SizeClasses:
        """Return classes for sizes up to ``top``."""
        return cls([top * CLASS_RATIO**k for k in range(count)])

    def of(self, sizes: Vector) -> Ids:
        """Return the class of each size."""
        top, count = self.tops[0], len(self.tops)
        if not top > 0.0:
            return np.zeros(len(sizes), np.int64)
        shares = np.maximum(sizes * (1.0 + 1e-12) / top, CLASS_RATIO**count)
        return np.clip(np.floor(np.log(shares) / np.log(CLASS_RATIO)), 0, count - 1).astype(np.int64)

    def table(self, proven: Callable[[float], Any]) -> NDArray[np.float64]:
        """Return what is proven of values between rows of two classes, (classes, classes, ...).

        proven : takes the mean of two sizes, or more, and returns a number or some
        """
        count = len(self.tops)
        return np.array([proven(top) for top in self.tops])[_MEAN[:count, :count]]


class Errors(NamedTuple):
    """The class of every row, and bounds for two classes: of the errors of values of their rows, and of the values."""

    classes: Ids
    bounds: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, source: Source, dtype: Any, sizes: Vector, largest: float, norms: Norms) -> Errors:
        """Return the errors of the values between all rows of a source, made by tiles of a type.

        sizes, largest : sizes of the rows and the largest one, see ``Source.sizes``
        norms : returns the squared norms of the rows as the tiles have them, or None
        """
        unit, kernel = float(np.finfo(dtype).eps) / 2, source.kernel
        terms, top, known = float(source.terms), largest, source.columns is None and largest > 0.0
        if known:  # for given values only the largest one is known
            single = dtype != np.float64  # double precision needs no closer bound
            sizes, terms = (_close(source, unit, sizes, norms) if single else None) or (sizes, terms)
            top = float(np.abs(sizes).max(initial=0.0))
        by_size = SizeClasses.below(top)
        classes = by_size.of(sizes) if known else np.zeros(len(source), np.int64)
        bounds = by_size.table(lambda size: kernel.error_bound(size, terms, unit))
        return cls(classes, bounds, by_size.table(kernel.magnitude))

    def sums(self, rows: Ids, weights: Vector) -> Vector:
        """Return for some rows the sums, over these rows, of weights >= 0 times bounds."""
        return self.between(rows, rows, weights)

    def between(self, rows: Ids, points: Ids, weights: Vector, rounding: float = 0.0) -> Vector:
        """Return for rows the sums, over points, of weights >= 0 times bounds and ``rounding`` times sizes."""
        mass = np.bincount(self.classes[points], weights, USUAL_CLASSES)
        some = mass > 0.0  # bounds may be infinite
        bounds = self.bounds[:, some] + rounding * self.sizes[:, some] if rounding else self.bounds[:, some]
        return np.sum(bounds * mass[some], axis=1)[self.classes[rows]]


def _close(source: Source, unit: float, sizes: Vector, tile_norms: Norms) -> tuple[Vector, float] | None:
    """Return sizes (squared norms or more) and the roundings of a term that bound errors of Gaussians closely.

    Return None if nothing closer is known.
    """
    gaussian = source.kernel.stationary and all(leaf.product == "dot" for leaf in source.kernel.leaves())
    if not gaussian or (source.terms + 3) * unit > 0.5:
        return None
    weighted = source.weighted_sizes(lambda r: (r + 2) * unit / (1.0 - (r + 2) * unit))
    mean = float(weighted.sum()) / float(sizes.sum())  # mean growth of a term
    if not 0.0 < mean < 1.0:
        return None
    norms, own, sizes = tile_norms(), sizes, np.maximum(sizes, ROUNDED_UP * weighted / mean)
    if norms is not None:
        smallest = sizes.max() * CLASS_RATIO ** (USUAL_CLASSES - 1)
        off = np.abs(norms - own) / np.maximum(sizes, smallest)
        mean = 0.5 * (mean + ROUNDED_UP * float(off.max()) + source.width * 2.0**-52)
    return (sizes, max(1.0, mean / (unit * (1.0 + mean)) - 2.0)) if np.isfinite(mean) else None


def refuse_asymmetric(K: NDArray[Any], what: str, n_jobs: int | None = 1) -> float:
    """Return the largest |K - K'| of a square matrix.

    Raises
    ------
    ValueError
        The difference is more than rounding; ``what`` begins the sentence that says so.
    """
    n = len(K)
    found = np.zeros(max(1, -(-n // SYMMETRY_ROWS)))

    def task(number: int) -> None:
        found[number] = asymmetry(K, number * SYMMETRY_ROWS, min(n, (number + 1) * SYMMETRY_ROWS))

    with Pool(threads_for(COMPARED * n * n, n_jobs)) as pool:
        pool.run(task, len(found))
    off = float(found.max())
    if off <= LARGEST_ASYMMETRY * float(np.abs(K.diagonal()).max(initial=0.0)):
        return off  # the largest value, which takes two passes to find, is no smaller
    if off > LARGEST_ASYMMETRY * max(abs(float(K.max(initial=0.0))), abs(float(K.min(initial=0.0)))):
        i, j = np.unravel_index(int(np.argmax(np.abs(K - K.T))), K.shape)
        raise ValueError(
            f"{what} is not symmetric: K[{i}, {j}] = {K[i, j]:g}, K[{j}, {i}] = {K[j, i]:g}. The value of a pair must "
            "not depend on its order; (K + K.T) / 2 is symmetric."
        )
    return off
