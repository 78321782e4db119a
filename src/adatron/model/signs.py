"""Labels by float32 kernel values, proven to be those of float64.

A label asks for no more than signs of decision values, or for the largest one. With |k' - k| <= r |k| + a for a kernel
value k' in float32, where r and a grow with the mean of the two squared norms, Σ c_j k'_j misses Σ c_j k_j by at most
Σ |c_j| (r_j |k_j| + a_j). Terms are summed apart by the sign of c_j and by the size of the support vector, which makes
no more terms: where r > 0, k >= 0, so that the differences are Σ |c_j| k'_j over vectors of similar size. A value
beyond this bound has the sign that it has in float64, at half of the price. The largest of several values is also the
largest in float64 if it exceeds the others by more than the bounds. The few other rows are left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..compiled.precision import SINGLE, UNIT
from ..gram import Source, Sums
from ..gram.errors import MOST_CLASSES, SizeClasses
from ..threads import Pool
from .readout import Mask, Values

#: Takes values (rows, p) and bounds of their errors; returns the rows whose results are decided.
Decided = Callable[[Values, Values], Mask]
SINGLE_REACH = 4.0  # Multiple of the largest support vector's squared norm up to which rows get float32 kernel values.
FEWEST_VECTORS = 64  # Support vectors from which float32 gains more than looking at the results costs.
LIKELY = 0.7  # Fraction of the rows so far with proven results below which float32 is not tried any more.
BYTES = 1 << 25  # Most bytes for the coefficients.
MOST_SIZE_GROUPS = 4  # Most groups of support vectors by their sizes.
MOST_SUMS = 12  # Most sums of each sign, groups times outputs, if there is more than one group.


class SplitExpansion:
    """An expansion by parts, whose sums in float32 come with a bound of their error.

    A part has the terms of a group of support vectors of similar size whose coefficients have one sign.

    Parameters
    ----------
    points : m support vectors
    coefficients : (m, p)

    Attributes
    ----------
    limit : the largest size of a row whose sums have a bound
    """

    def __init__(self, points: Source, coefficients: Values, pool: Pool) -> None:
        m, p = coefficients.shape
        count = max(1, min(MOST_SIZE_GROUPS, MOST_SUMS // p, BYTES // max(1, 2 * coefficients.nbytes)))
        order = np.argsort(points.sizes, kind="stable")
        self.points, coefficients = points.take(order), coefficients[order]
        self.limit = SINGLE_REACH * points.largest * (1.0 + 1e-12)
        self._by_size = SizeClasses.below(self.limit, MOST_CLASSES)
        groups = [slice(rows[0], rows[-1] + 1) for rows in np.array_split(np.arange(m), count) if len(rows)]
        self._groups = self._by_size.of(np.array([points.sizes[order[group][-1]] for group in groups]))
        self._mass = np.array([np.abs(coefficients[group]).sum(axis=0) for group in groups])
        weights = np.zeros((m, len(groups), 2, p))
        for number, group in enumerate(groups):
            np.maximum(coefficients[group], 0.0, out=weights[group, number, 0])
            np.minimum(coefficients[group], 0.0, out=weights[group, number, 1])
        self.width = 2 * len(groups) * p  # sums of a row
        self._sums = Sums(self.points, weights.reshape(m, self.width), np.float32, pool)
        self._tables: dict[int, tuple[Values, Values]] = {}

    @classmethod
    def of(cls, points: Source, coefficients: Values, pool: Pool) -> SplitExpansion | None:
        """Return the parts, or None: float32 is too coarse for rows up to ``SINGLE_REACH``, or there is no room."""
        dense = points.kernel.compiled and 2 * coefficients.nbytes <= BYTES
        suits = dense and len(points) >= FEWEST_VECTORS and points.suits_single(SINGLE_REACH * points.largest)
        return cls(points, coefficients, pool) if suits else None

    def evaluate(self, rows: Source, intercepts: Values, pool: Pool) -> tuple[Values, Values]:
        """Return decision values of rows up to the limit, and a bound of their errors, (rows, p) each."""
        found = np.zeros((len(rows), self.width))
        self._sums.add(found, rows, pool)
        parts = found.reshape(len(rows), 2 * len(self._groups), len(intercepts))
        factors, added = self._table(rows.terms)
        added = added + np.outer(1.0 + np.abs(factors).sum(axis=1), self._rounding(intercepts))
        which = self._by_size.of(rows.sizes)
        errors = np.einsum("ncp,nc->np", parts, factors[which])
        return np.einsum("ncp->np", parts) + intercepts, errors + added[which]

    def _table(self, terms: int) -> tuple[Values, Values]:
        """Return for rows of each class the factors of the parts in the bound, and what is added, (p,).

        With |k| <= (k' + a) / (1 - r), r |k| + a is at most f k' + (1 + f) a where f = r / (1 - r). A group
        has a part Σ c_j k'_j for each sign: the positive one has the factor f, the negative one -f.
        """
        own = self.points.terms
        # A bound for more terms holds for fewer: there are few tables, whatever rows come.
        terms = own if terms <= own else 1 << (terms - 1).bit_length()
        if terms not in self._tables:
            kernel = self.points.kernel
            both = self._by_size.table(lambda size: kernel.error_parts(size, terms, SINGLE))[:, self._groups]
            relative, absolute = np.moveaxis(both, 2, 0)
            wide = kernel.error_bound(self.limit, terms, UNIT)  # for the values in float64
            f = relative / (1.0 - relative)
            self._tables[terms] = np.kron(f, [1.0, -1.0]), ((1.0 + f) * (absolute + wide)) @ self._mass
        return self._tables[terms]

    def _rounding(self, intercepts: Values) -> Values:
        """Return bounds, (p,), of the rounding of the sums and the intercept, in either precision."""
        most = self.points.kernel.magnitude(self.limit) * self._mass.sum(axis=0) + np.abs(intercepts)
        return 4.0 * (len(self.points) + 2 * len(self._groups) + 4) * UNIT * most


class Signs:
    """Decision values whose bounds of errors prove that they decide as those in float64."""

    def __init__(self, split: SplitExpansion, intercepts: Values, decided: Decided, pool: Pool) -> None:
        self.split, self.intercepts, self.decided, self.pool = split, intercepts, decided, pool
        self.tried = self.proven = 0

    @property
    def likely(self) -> bool:
        """Whether it pays: the results of most rows so far were proven."""
        return self.proven >= LIKELY * self.tried

    def of(self, rows: Source) -> tuple[Values, Mask]:
        """Return decision values of some rows, (rows, p), and for which rows they are proven to decide the result."""
        near = rows.sizes <= self.split.limit
        proven = np.zeros(len(rows), bool)
        values = np.zeros((len(rows), len(self.intercepts)))
        some, close = (slice(None), rows) if near.all() else (near, rows.take(np.flatnonzero(near)))
        values[some], error = self.split.evaluate(close, self.intercepts, self.pool)
        proven[some] = self.decided(values[some], error)
        self.tried, self.proven = self.tried + len(rows), self.proven + int(np.count_nonzero(proven))
        return values, proven
