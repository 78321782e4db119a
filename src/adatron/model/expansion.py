"""Sums over the support vectors for many rows."""

from __future__ import annotations

from contextlib import nullcontext
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import is_tidy
from ..gram import Source, Sums
from ..kernels import Kernel
from ..threads import Pool
from .layout import balanced, weighted
from .signs import SplitExpansion, Values

if TYPE_CHECKING:
    from ..devices import Device
    from .remote import Remote

CAREFUL_ABOVE = 1e-4  # Error of decision values in double precision above which squared distances sum differences.


class Expansion:
    """Σ_j c_j k(z_j, ·) for p outputs; what all of its evaluations need is made by the first that does.

    Parameters
    ----------
    vectors : ndarray or CSR matrix (m, d), the support vectors z; of given kernel values, those of the rows
    coefficients : (m, p)
    kernel : Kernel
    columns : (m,) of given kernel values those that belong to the support vectors
    sphere : whether the sum, k(x, x) subtracted, is part of R^2 - |x - a|^2, so the coefficients sum to 2

    Attributes
    ----------
    level : (p,) what sums over centred points and rows lack: 0 unless the coefficients of k(x, z) = x·z sum to 0; with
        a sphere, what they and R^2 lack
    """

    def __init__(
        self, vectors: Any, coefficients: Values, kernel: Kernel, columns: Any = None, sphere: bool = False
    ) -> None:
        mass = float(np.abs(coefficients).sum(axis=0).max(initial=0.0))
        ids, even = np.arange(len(coefficients)), kernel.bilinear and (sphere or balanced(coefficients.T))
        self.points = Source.of(vectors, ids, kernel, columns, even).cautious(mass, CAREFUL_ABOVE)
        moves = even and not sphere and self.points.center.any()
        terms = coefficients * self.points.level()[:, None] if moves else coefficients[:0]
        self.level = np.array([fsum(column) for column in terms.T])
        if sphere:
            self.level = -0.25 * kernel(weights := weighted(coefficients.T, self.points.centered()), weights)[0]
        self.coefficients = np.array(coefficients, order="C")
        self._sums: dict[Any, Sums] = {}
        self._split: tuple[SplitExpansion | None] | None = None
        self._remote: Remote | None = None

    def __len__(self) -> int:
        return len(self.points)

    def takes(self, X: Any) -> bool:
        """Return whether these rows are such as ``Sums.add_few`` takes."""
        vectors = self.points.X
        if not self.points.kernel.compiled or isinstance(X, np.ndarray) != isinstance(vectors, np.ndarray):
            return False
        return X.flags.c_contiguous if isinstance(X, np.ndarray) else is_tidy(X) and not self.points.center.any()

    def sums(self, dtype: Any, pool: Pool | None) -> Sums:
        """Return its sums by kernel values of a type; without a pool, the calling thread makes them."""
        if dtype not in self._sums:
            with nullcontext(pool) if pool is not None else Pool(1) as makers:
                self._sums[dtype] = Sums(self.points, self.coefficients, dtype, makers)
        return self._sums[dtype]

    def on(self, device: Device) -> Remote | None:
        """Return the sums on a device, kept for the last one; None if no device makes them."""
        from .remote import Remote

        remote = self._remote  # once, as another thread may ask for another device
        if remote is None or remote.device is not device:
            suits = Remote.suits(self.points, device)
            remote = self._remote = Remote(device, self.points, self.coefficients, self.level) if suits else None
        return remote

    def split(self, pool: Pool) -> SplitExpansion | None:
        """Return its parts by which float32 proves signs, or None if float32 cannot."""
        if self._split is None:
            self._split = (SplitExpansion.of(self.points, self.coefficients, pool),)
        return self._split[0]
