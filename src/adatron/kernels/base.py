"""The interface of every kernel k(x, z) in this package, and its conventions.

Shapes: x, z (d,) single points; X (n, d) and Z (m, d) rows of points; a tile (p, t) of kernel values.
Kernels are immutable and symmetric, k(x, z) = k(z, x). A leaf is one formula; sums, products and multiples
are trees of leaves. Compiled tiles run a tree as the postfix program that ``terms`` returns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from ..compiled.cache.uninterrupted import cached_property
from ..compiled.panels import PASS_COLUMNS
from ..quoted import quoted
from . import rounding
from .derivatives import Float64, Mixture, cross_derivative, gradient


def used_columns(*rows: Any) -> NDArray[Any] | None:
    """Return the sorted columns that some rows use; None if one is dense, or has not far more columns than values.

    Hashed words use few of very many columns. SciPy and compiled code take time or memory for all of them, so such rows
    get new numbers. The order of columns stays, and with it that of every sum.
    """
    if not all(map(issparse, rows)) or rows[0].shape[1] <= max(PASS_COLUMNS, 2 * sum(X.nnz for X in rows)):
        return None
    return np.unique(np.concatenate([X.indices for X in rows]))


def renumbered(indices: NDArray[Any], used: NDArray[Any] | None) -> NDArray[np.int32]:
    """Return new numbers of columns that rows which come later may have, too.

    Used column j becomes 2j + 1. Columns between two used ones share the even number between theirs: no used column has
    that number.
    """
    if used is None:
        return indices.astype(np.int32)
    place = np.searchsorted(used, indices.astype(used.dtype, copy=False))
    found = place < len(used)
    found[found] = used[place[found]] == indices[found]
    return (2 * place + found).astype(np.int32)


def narrow(X: Any, used: NDArray[Any] | None) -> Any:
    """Return CSR rows with their used columns only."""
    if used is None:
        return X
    return type(X)((X.data, np.searchsorted(used, X.indices), X.indptr), (X.shape[0], len(used)))


# Operators of the postfix program. Leaves are 0, 1, 2, ... in the order of the table.
ADD, MULTIPLY, SCALE = 100, 101, 102

Term = tuple[int, tuple[float, float, float]]
TileProduct = Literal["dot", "l1", "squares", "given", "call"]


class Kernel(ABC):
    """A symmetric function k(x, z) of two points.

    ``k(X, Z)`` evaluates it in plain NumPy, slowly and plainly: the twin of the compiled tiles. Kernels combine:
    ``k1 + k2``, ``k1 * k2`` and ``0.5 * k1`` are kernels.
    """

    name: ClassVar[str]
    combine: ClassVar[dict[str, Callable[..., Kernel]]] = {}  # results of operators, by name; ``compose`` fills it
    __array_ufunc__ = None  # np.float64(2) * kernel asks the kernel, not NumPy

    @abstractmethod
    def leaves(self) -> tuple[Leaf, ...]:
        """Return the formulas at the ends of the tree, from left to right."""

    @abstractmethod
    def terms(self) -> list[Term]:
        """Return the postfix program: (op id, three parameters) for each leaf or operator; empty if not compiled."""

    @abstractmethod
    def diagonal(self, sq_norms: Float64) -> Float64:
        """Return k(x, x) for points with these squared norms ‖x‖², (n,) to (n,)."""

    @abstractmethod
    def cost(self, d: float) -> float:
        """Return the rough number of multiply-adds for one value with d (on average nonzero) features."""

    @abstractmethod
    def magnitude(self, sq_norm: float) -> float:
        """Return an upper bound of |k(x, z)| over all pairs of points whose squared norms have a mean <= sq_norm."""

    @abstractmethod
    def slopes(self) -> tuple[Mixture, Mixture]:
        """Return ∂κ/∂s and ∂κ/∂D of k(x, z) = κ(s, D), s = x·z, D = ‖x - z‖²; ``derivatives`` derives the rest."""

    @abstractmethod
    def apart(self, norm: Float64, radius: Float64) -> Float64:
        """Return a bound of ‖φ(x) - φ(x')‖ over ‖x‖ <= norm, ‖x - x'‖ <= radius, growing with both; inf if unknown.

        φ is the map into the kernel's own space, φ(x)·φ(z) = k(x, z). The arrays and the result have one shape.
        """

    def steepness(self, norms: Float64) -> Float64:
        """Return a bound of ‖∂k(x, z)/∂x‖ over all x for points z with these norms ‖z‖, (m,); inf if unknown."""
        return np.full_like(norms, np.inf)

    @abstractmethod
    def __call__(self, X: Any, Z: Any = None) -> Float64:
        """Return the kernel matrix of the rows of X and Z (default X), arrays or CSR, (n, m) in float64."""

    @abstractmethod
    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Return ``error_bound`` if nothing overflows; the docstring of each kernel has the proof."""

    @property
    def plain(self) -> bool:
        """Whether k(x, z) = x·z, so that sums of values are products with one vector of features."""
        return False

    @cached_property
    def stationary(self) -> bool:
        """Whether k depends on x - z only, so that the points may be centred."""
        return all(leaf.of_difference for leaf in self.leaves())

    @cached_property
    def bilinear(self) -> bool:
        """Whether k is a multiple of x·z: a translation changes nothing for coefficients whose sum is 0."""
        return all(leaf.plain for leaf in self.leaves()) and all(op != MULTIPLY for op, _ in self.terms())

    @property
    def differentiable(self) -> bool:
        """Whether ``gradient`` and ``cross_derivative`` exist."""
        return all(leaf.smooth for leaf in self.leaves())

    @cached_property
    def convex(self) -> bool:
        """Whether every kernel matrix is known to be positive semi-definite."""
        return all(leaf.semidefinite for leaf in self.leaves())

    @cached_property
    def compiled(self) -> bool:
        """Whether compiled tiles can evaluate the kernel."""
        return all(leaf.product in ("dot", "l1", "squares") for leaf in self.leaves())

    @cached_property
    def called(self) -> bool:
        """Whether its values come from a function of the user, which is called on one thread."""
        return any(leaf.product == "call" for leaf in self.leaves())

    def by_differences(self) -> Kernel:
        """Return the function for tiles that sum squared distances from differences; this kernel if it has none."""
        return self

    def gradient(self, x: Float64, Z: Float64) -> Float64:
        """Return ∂k(x, z_j)/∂x for every row z_j of Z, (d,) and (m, d) to (m, d)."""
        return gradient(self, x, Z)

    def cross_derivative(self, x: Float64, z: Float64) -> Float64:
        """Return the matrix of ∂²k/∂x_a∂z_b, (d, d), row a."""
        return cross_derivative(self, x, z)

    def error_bound(self, sq_norm: float, d: float, u: float) -> float:
        """Return a proven upper bound of |computed - exact k(x, z)| in a tile.

        Parameters
        ----------
        sq_norm : float
            Mean of the two squared norms, ‖x‖² and ‖z‖², or more: the largest one of any point is enough.
        d : float
            Number of features. Without an 'l1' leaf, the roundings of one term of a product are enough
            (``Source.terms``), or any number for which growth(d + 2, u) sq_norm bounds the errors of products.
        u : float
            Unit roundoff of the tile's type: 2**-24 or 2**-53.

        Returns
        -------
        bound : float
            Infinite if an intermediate value might overflow, or if d is too large for the proof.
        """
        top = rounding.largest(u)
        if 4.0 * sq_norm >= top or any(abs(p) >= top for _, parameters in self.terms() for p in parameters):
            return math.inf
        bound = rounding.SAFETY * self._rounding_error(sq_norm, d, u)
        return bound if self.magnitude(sq_norm) + bound < top else math.inf

    def error_parts(self, sq_norm: float, d: float, u: float) -> tuple[float, float]:
        """Return the bound in two parts: |computed - exact k| <= relative |k| + absolute, relative < 1.

        Parameters as in ``error_bound``. The relative part is known only for kernels that fall to 0. If it is not 0, k
        is never negative.
        """
        if not math.isfinite(self.error_bound(sq_norm, d, u)):
            return 0.0, math.inf
        relative, absolute = self._rounding_parts(sq_norm, d, u)
        return rounding.SAFETY * relative, rounding.SAFETY * absolute

    def _rounding_parts(self, sq_norm: float, d: float, u: float) -> tuple[float, float]:
        """Return ``error_parts`` if nothing overflows."""
        return 0.0, self._rounding_error(sq_norm, d, u)

    def spec(self) -> dict[str, Any]:
        """Return the kernel as a dictionary for JSON; ``from_spec`` reads it."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # pyright: ignore[reportArgumentType]
        return {"kernel": self.name} | {k: v.spec() if isinstance(v, Kernel) else v for k, v in values.items()}

    def __add__(self, other: Any) -> Kernel:
        return self.combine["sum"](self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel):
            return self.combine["product"](self, other)
        return self.combine["scaled"](float(other), self) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


class Leaf(Kernel):
    """One formula. ``product`` names the content of the tile before the kernel's map runs on it.

    'dot': x·z; 'l1': ‖x - z‖₁; 'squares': ‖x - z‖² from differences. There are no tiles if the values are 'given', in
    the user's matrix, or come from a 'call' of the user's function.
    """

    op: ClassVar[int] = -1  # set by the table
    product: ClassVar[TileProduct] = "dot"
    of_difference: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    @property
    def semidefinite(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        return True

    def leaves(self) -> tuple[Leaf, ...]:
        return (self,)


def number(
    kernel: Kernel, argument: str, *, low: float = -math.inf, high: float = math.inf, integer: bool = False
) -> None:
    """Replace an argument of a kernel under construction by a plain finite number in a range, or raise ValueError."""
    value: Any = getattr(kernel, argument)
    plain, real = (int, Integral) if integer else (float, Real)
    known = type(value) is plain or (not isinstance(value, bool) and isinstance(value, real))
    size = float(value) if known else math.nan
    if not (math.isfinite(size) and low <= size <= high):
        kind, start = "an int" if integer else "a float", "(-inf" if low == -math.inf else f"[{low}"
        end = "inf)" if high == math.inf else f"{high}]"
        allowed = f"must be {kind} in the range {start}, {end}. Got {quoted(value)} instead."
        raise ValueError(f"The {argument!r} parameter of {type(kernel).__name__} {allowed}")
    object.__setattr__(kernel, argument, int(getattr(kernel, argument)) if integer else size)


def not_differentiable(kernel: Kernel, reason: str) -> TypeError:
    """Make the error of a kernel without derivative."""
    return TypeError(f"{type(kernel).__name__} has no derivative: {reason}. Use a differentiable kernel, such as RBF.")


def operands(X: Any, Z: Any = None) -> tuple[Any, Any]:
    """Return both operands in float64: two arrays, or two CSR arrays as soon as one of them is sparse.

    CSR arrays of far more columns than values lose their unused columns.
    """
    Z = X if Z is None else Z
    if issparse(X) or issparse(Z):
        X, Z = csr_array(X, dtype=np.float64), csr_array(Z, dtype=np.float64)
        used = used_columns(X, Z)
        return narrow(X, used), narrow(Z, used)
    return np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)


def products(X: Any, Z: Any = None) -> Float64:
    """Return x·z for all pairs of rows, (n, m)."""
    X, Z = operands(X, Z)
    XZ = X @ Z.T
    return XZ.toarray() if issparse(XZ) else XZ
