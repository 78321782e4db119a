"""A kernel that the user wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..quoted import quoted
from .base import Float64, TileProduct
from .given import Given


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
