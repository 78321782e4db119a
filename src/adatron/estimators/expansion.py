"""Sums over the support vectors for many rows, and their signs proven from float32 kernel values.

A label asks for no more than signs of decision values. With |k' - k| <= r |k| + a for every kernel value k' in
float32, Σ c_j k'_j misses Σ c_j k_j by at most r Σ |c_j| |k_j| + a Σ |c_j|. Positive and negative coefficients are
summed apart, which makes no more terms; where r > 0, k >= 0, and their difference is Σ |c_j| k'_j. A value beyond this
bound has the sign that it has in float64, at half of the price; the few others are left.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gram import Pool, Source, Sums
from ..kernels import Kernel

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]
#: Which rows' results are decided, given values (rows, p) and of which of them the signs are sure.
Decided = Callable[[Values, Mask], Mask]
FAR = 4.0  # times the largest support vector's squared norm: up to there rows get float32 kernel values
SINGLE, DOUBLE = 2.0**-24, 2.0**-53
MANY = 64  # support vectors, from which float32 gains more than looking at the results costs
LIKELY = 0.7  # part of the rows so far whose results were proven, below which it is not tried any more
BYTES = 1 << 25  # for the coefficients


class Expansion:
    """Σ_j c_j k(z_j, ·) for p outputs; what all of its evaluations need is made by the first that does.

    Parameters
    ----------
    vectors : ndarray or CSR matrix (m, d), the support vectors z; of given kernel values, those of the rows
    coefficients : (m, p)
    kernel : Kernel
    columns : (m,) of given kernel values those that belong to the support vectors
    """

    def __init__(self, vectors: Any, coefficients: Values, kernel: Kernel, columns: Any = None) -> None:
        self.points = Source.of(vectors, np.arange(len(coefficients)), kernel, columns)
        self.coefficients = np.array(coefficients, order="C")
        self._sums: dict[tuple[Any, bool], Sums] = {}

    def __len__(self) -> int:
        return len(self.points)

    def sums(self, dtype: Any, pool: Pool, halves: bool = False) -> Sums:
        """Its sums by kernel values of a type, or first those of positive and then of negative coefficients."""
        if (dtype, halves) not in self._sums:
            c = self.coefficients
            weights = np.concatenate([np.maximum(c, 0.0), np.minimum(c, 0.0)], axis=1) if halves else c
            self._sums[dtype, halves] = Sums(self.points, weights, dtype, pool)
        return self._sums[dtype, halves]

    @cached_property
    def largest(self) -> float:
        """The largest size of a support vector."""
        return self.points.largest

    @cached_property
    def mass(self) -> Values:
        """Σ |c_j|, (p,)."""
        return np.abs(self.coefficients).sum(axis=0)

    @cached_property
    def proves_signs(self) -> bool:
        """Whether float32 is accurate enough for rows up to ``FAR``, and there is room for the coefficients."""
        points = self.points
        dense = points.kernel.compiled and points.columns is None and 2 * self.coefficients.nbytes <= BYTES
        return dense and len(points) >= MANY and points.suits_single(FAR * self.largest)


class Signs:
    """Decision values whose signs are proven to be those of the values in float64."""

    def __init__(self, expansion: Expansion, intercepts: Values, decided: Decided, pool: Pool) -> None:
        self.expansion, self.intercepts, self.decided, self.pool = expansion, intercepts, decided, pool
        self.tops = expansion.largest * FAR ** np.array([0.0, 0.5, 1.0]) * (1.0 + 1e-12)
        self._bounds: dict[int, tuple[Values, Values]] = {}
        self.tried = self.proven = 0

    @property
    def likely(self) -> bool:
        """Whether it pays: of most rows so far the results were proven."""
        return self.proven >= LIKELY * self.tried

    def of(self, rows: Source) -> tuple[Values, Mask]:
        """Decision values of some rows, (rows, p), and of which rows enough signs are proven to decide the result."""
        with np.errstate(over="ignore"):  # of rows too large for that, which are far
            near = rows.sizes <= self.tops[-1]
        proven = np.zeros(len(rows), bool)
        values = np.zeros((len(rows), len(self.intercepts)))
        some = slice(None) if near.all() else np.flatnonzero(near)
        values[some], sure = self._of_near(rows.take(some))
        proven[some] = self.decided(values[some], sure)
        self.tried, self.proven = self.tried + len(rows), self.proven + int(np.count_nonzero(proven))
        return values, proven

    def _of_near(self, rows: Source) -> tuple[Values, Mask]:
        """Decision values of rows that are not far, and of which of them the signs are proven."""
        sums = self.expansion.sums(np.float32, self.pool, halves=True)
        found = np.zeros((len(rows), 2 * len(self.intercepts)))
        sums.add(found, rows, self.pool)
        positive, negative = np.split(found, 2, axis=1)
        values, sizes = positive + negative, positive - negative
        values += self.intercepts
        with np.errstate(invalid="ignore"):  # where there is no bound
            return values, np.abs(values) > self._error(rows, sizes)

    def _error(self, rows: Source, sizes: Values) -> Values:
        """Bound of what separates float32 from float64 sums, in place of the sums of |c_j| k'_j, (rows, p)."""
        terms = max(self.expansion.points.terms, rows.terms)
        if terms not in self._bounds:
            self._bounds[terms] = self._bounds_of(terms)
        ratios, fixed = self._bounds[terms]
        which = np.searchsorted(self.tops, rows.sizes)
        added = fixed[which]
        sizes += added
        sizes *= ratios[which, None]
        sizes += added
        return sizes

    def _bounds_of(self, terms: int) -> tuple[Values, Values]:
        """For rows up to each of the tops the factor of Σ |c_j| |k_j| in the bound, and what is added, (p,).

        With |k| <= (k' + a) / (1 - r), r |k| + a is at most r / (1 - r) (k' + a) + a. Added is also what the sums and
        the intercept are rounded by, in either precision, and kernel values in float64.
        """
        kernel, mass, top = self.expansion.points.kernel, self.expansion.mass, self.tops[-1]
        relative, absolute = np.array([kernel.error_parts(norm, terms, SINGLE) for norm in self.tops]).T
        most = kernel.magnitude(top) * mass + np.abs(self.intercepts)
        rounding = 4.0 * (len(self.expansion) + 4) * DOUBLE * most + kernel.error_bound(top, terms, DOUBLE) * mass
        return relative / (1.0 - relative), absolute[:, None] * mass + rounding
