"""Proven errors of kernel values, for every row by its size.

The error of a value is bounded by the mean of the sizes of its two rows, see ``Kernel.error_bound``. Of sizes classes
are told apart: most rows are far smaller than the largest one.

Of Gaussians more is known. A term of a product x·z goes through a rounding each time that another one is added, so the
last ones through hardly any: the error is at most the sum of w_k |x_k z_k|, w_k being the growth of term k, and this at
most the mean of what two rows have of Σ w_k x_k², half of that where all terms grow like the first. And of the three
products in a squared distance two are norms, whose errors can be looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .gram import Gram

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]
CLASSES, STEP = 96, 2.0**-0.125  # classes of rows by their size, and how much smaller each is than the one before
CARE = 1.0 + 1e-8  # for what is computed in float64


def _mean_classes() -> Ids:
    """The class of the mean size of two rows, by theirs: sizes are rounded up."""
    sizes = STEP ** np.arange(CLASSES)
    classes = np.log(0.5 * (sizes[:, None] + sizes)) / np.log(STEP)
    return np.floor(classes - 1e-9).clip(0).astype(np.int64)


_MEAN = _mean_classes()


class Errors(NamedTuple):
    """The class of every row, and bounds of the errors and of the sizes of values of rows of two classes."""

    classes: Ids
    bounds: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, gram: Gram) -> Errors:
        source, unit = gram.source, float(np.finfo(gram.dtype).eps) / 2
        terms, top, classes = float(source.terms), gram.largest, np.zeros(len(source), np.int64)
        if source.columns is None and top > 0.0:  # of given values only the largest one is known
            sizes, terms = _close(gram, unit) or (gram.sizes, terms)
            top = float(np.abs(sizes).max(initial=0.0))
            shares = np.maximum(sizes * (1.0 + 1e-12) / top, STEP**CLASSES)
            classes = np.clip(np.floor(np.log(shares) / np.log(STEP)), 0, CLASSES - 1).astype(np.int64)
        tops, kernel = [top * STEP**k for k in range(CLASSES)], gram.kernel
        bounds = np.array([kernel.error_bound(size, terms, unit) for size in tops])
        return cls(classes, bounds[_MEAN], np.array([kernel.magnitude(size) for size in tops])[_MEAN])

    def sums(self, rows: Ids, weights: Vector, rounding: float = 0.0) -> Vector:
        """For some rows sums over the same ones of weights >= 0 times bounds, and ``rounding`` times sizes."""
        classes = self.classes[rows]
        mass = np.bincount(classes, weights, CLASSES)
        some = mass > 0.0  # bounds may be infinite
        bounds = self.bounds[:, some] + rounding * self.sizes[:, some] if rounding else self.bounds[:, some]
        return np.sum(bounds * mass[some], axis=1)[classes]


def _close(gram: Gram, unit: float) -> tuple[Vector, float] | None:
    """Sizes, squared norms or more, and roundings of a term that bound errors of Gaussians closely.

    None where nothing more is known, or in double precision, where it does not matter.
    """
    source, kernel = gram.source, gram.kernel
    gaussian = kernel.stationary and all(leaf.product == "dot" for leaf in kernel.leaves())
    if gram.dtype == np.float64 or not gaussian or (source.terms + 3) * unit > 0.5:
        return None
    weighted = source.weighted_sizes(lambda r: (r + 2) * unit / (1.0 - (r + 2) * unit))
    mean = float(weighted.sum()) / float(gram.sizes.sum())  # of the growth of a term
    if not 0.0 < mean < 1.0:
        return None
    sizes, norms = np.maximum(gram.sizes, CARE * weighted / mean), gram.norms
    if norms is not None:
        off = np.abs(norms - gram.sizes) / np.maximum(sizes, sizes.max() * STEP ** (CLASSES - 1))  # the least class
        mean = 0.5 * (mean + CARE * float(off.max()) + source.X.shape[1] * 2.0**-52)
    return (sizes, max(1.0, mean / (unit * (1.0 + mean)) - 2.0)) if np.isfinite(mean) else None
