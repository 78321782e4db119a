"""Kernels whose values come from outside: a matrix that the user computed, and a function that the user wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse import issparse

from ..quoted import quoted
from .base import Float64, Leaf, Mixture, Term, TileProduct, not_differentiable
from .rounding import tiny

NO_FORMULA = "its formula is unknown"


class Given(Leaf):
    """A leaf without a formula: it cannot be combined with other kernels and has no derivative.

    In place of squared norms ``diagonal`` takes the values k(x, x), and ``magnitude`` and ``error_bound`` take the
    largest |k(x, z)|.
    """

    smooth: ClassVar[bool] = False

    @property
    def semidefinite(self) -> bool:
        return False

    def terms(self) -> list[Term]:
        return []

    def diagonal(self, sq_norms: Float64) -> Float64:
        return np.array(sq_norms, dtype=np.float64)

    def magnitude(self, sq_norm: float) -> float:
        return sq_norm

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Bound one rounding of a value."""
        return u * sq_norm + tiny(u)

    def slopes(self) -> tuple[Mixture, Mixture]:
        raise not_differentiable(self, NO_FORMULA)

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return np.full_like(radius, np.inf)


@dataclass(frozen=True)
class Precomputed(Given):
    """k(x, z) is an entry of the matrix given as X, of shape (n, n training points).

    It cannot be combined with other kernels: combine the matrices. A fit refuses a matrix that is not symmetric, except
    for rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from adatron import SVC
    >>> from adatron.kernels import Precomputed
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> SVC(kernel=Precomputed()).fit(X @ X.T, y).predict([[2.5]] @ X.T)
    array([1])
    """

    name: ClassVar[str] = "precomputed"
    product: ClassVar[TileProduct] = "given"

    def cost(self, d: float) -> float:
        return 64.0  # cost of reading a value from anywhere in memory

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)


@dataclass(frozen=True)
class Function(Given):
    """k(X, Z) is computed by a function of the user, outside compiled code.

    It cannot be combined with other kernels: combine the functions.

    Parameters
    ----------
    function : callable
        Takes X (n, d) and Z (m, d), blocks of the data in their storage, and returns the matrix (n, m), dense or
        sparse. Each entry must depend on its own pair of rows only.
    """

    function: Callable[[Any, Any], Any]

    name: ClassVar[str] = "function"
    product: ClassVar[TileProduct] = "call"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(
                f"The 'function' parameter of Function must be a callable. Got {quoted(self.function)} instead."
            )

    def cost(self, d: float) -> float:
        return d + 12.0

    def spec(self) -> dict[str, Any]:
        raise TypeError("A kernel function cannot be described in a file. Use a kernel of the table or 'precomputed'.")

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        Z = X if Z is None else Z
        returned = self.function(X, Z)
        if sparse.issparse(returned):
            returned = returned.toarray()
        values = np.asarray(returned, dtype=np.float64, order="C")
        wanted = _length(X), _length(Z)
        if values.shape != wanted:
            raise ValueError(f"The kernel function returned an array of shape {values.shape}; it must be {wanted}.")
        if not np.isfinite(values).all():
            raise ValueError("The kernel function returned NaN or infinity.")
        return values


def _length(samples: Any) -> int:
    """Return the number of samples in an array, a sparse matrix or any sequence."""
    return samples.shape[0] if hasattr(samples, "shape") else len(samples)
