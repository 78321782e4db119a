"""Sums, products and multiples of kernels: positive semidefinite if their parts are (Schur for the product)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..quoted import quoted
from .base import ADD, MULTIPLY, SCALE, Float64, Kernel, Leaf, Mixture, Term, number
from .rounding import growth, tiny


def _check_parts(kernel: Kernel, *parts: Any) -> None:
    for part in parts:
        if not isinstance(part, Kernel):
            raise TypeError(f"The parts of {type(kernel).__name__} must be kernels. Got {quoted(part)} instead.")
        for leaf in part.leaves():
            if not leaf.compiled:
                raise TypeError(f"{type(leaf).__name__} cannot be combined with other kernels.")


def _shared(kernel: Kernel, d: float) -> float:
    """Return the cost of a tree whose leaves share x·z: all leaves without it, one with it, and each operator."""
    leaves = kernel.leaves()
    alone = [leaf.cost(0.0) for leaf in leaves]
    product = max(leaf.cost(d) - cost for leaf, cost in zip(leaves, alone, strict=True))
    return product + sum(alone) + len(kernel.terms()) - len(leaves)


def _total(left: Mixture, right: Mixture) -> Mixture:
    return {kernel: left.get(kernel, 0.0) + right.get(kernel, 0.0) for kernel in left | right}


@dataclass(frozen=True)
class Sum(Kernel):
    """k(x, z) = left(x, z) + right(x, z).

    Parameters
    ----------
    left, right : Kernel
    """

    left: Kernel
    right: Kernel

    name: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        _check_parts(self, self.left, self.right)

    def leaves(self) -> tuple[Leaf, ...]:
        return self.left.leaves() + self.right.leaves()

    def terms(self) -> list[Term]:
        return [*self.left.terms(), *self.right.terms(), (ADD, (0.0, 0.0, 0.0))]

    def diagonal(self, sq_norms: Float64) -> Float64:
        return self.left.diagonal(sq_norms) + self.right.diagonal(sq_norms)

    def cost(self, d: float) -> float:
        return _shared(self, d)

    def magnitude(self, sq_norm: float) -> float:
        return self.left.magnitude(sq_norm) + self.right.magnitude(sq_norm)

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Add the errors of the parts and one rounding of the computed sum."""
        parts = self.left.error_bound(sq_norm, d, u) + self.right.error_bound(sq_norm, d, u)
        return parts + u * (self.magnitude(sq_norm) + parts)

    def slopes(self) -> tuple[Mixture, Mixture]:
        s, D = (_total(a, b) for a, b in zip(self.left.slopes(), self.right.slopes(), strict=True))
        return s, D

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return np.hypot(self.left.apart(norm, radius), self.right.apart(norm, radius))

    def steepness(self, norms: Float64) -> Float64:
        return self.left.steepness(norms) + self.right.steepness(norms)

    def by_differences(self) -> Kernel:
        return Sum(self.left.by_differences(), self.right.by_differences())

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        return self.left(X, Z) + self.right(X, Z)


@dataclass(frozen=True)
class Product(Kernel):
    """k(x, z) = left(x, z) · right(x, z).

    Parameters
    ----------
    left, right : Kernel
    """

    left: Kernel
    right: Kernel

    name: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        _check_parts(self, self.left, self.right)

    def leaves(self) -> tuple[Leaf, ...]:
        return self.left.leaves() + self.right.leaves()

    def terms(self) -> list[Term]:
        return [*self.left.terms(), *self.right.terms(), (MULTIPLY, (0.0, 0.0, 0.0))]

    def diagonal(self, sq_norms: Float64) -> Float64:
        return self.left.diagonal(sq_norms) * self.right.diagonal(sq_norms)

    def cost(self, d: float) -> float:
        return _shared(self, d)

    def magnitude(self, sq_norm: float) -> float:
        return self.left.magnitude(sq_norm) * self.right.magnitude(sq_norm)

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Bound by (a + e)(b + f) - ab = af + be + ef, and one rounding of the computed product."""
        a, b = self.left.magnitude(sq_norm), self.right.magnitude(sq_norm)
        e, f = self.left.error_bound(sq_norm, d, u), self.right.error_bound(sq_norm, d, u)
        if not math.isfinite(a + b + e + f):
            return math.inf
        return a * f + b * e + e * f + u * (a + e) * (b + f) + tiny(u)

    def slopes(self) -> tuple[Mixture, Mixture]:
        left, right = (
            [{slope * other: factor for slope, factor in mixture.items()} for mixture in part.slopes()]
            for part, other in ((self.left, self.right), (self.right, self.left))
        )
        return _total(left[0], right[0]), _total(left[1], right[1])

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        """Bound by ‖a⊗b - a'⊗b'‖ <= ‖a‖ ‖b - b'‖ + ‖b'‖ ‖a - a'‖."""
        a, b = self.left.diagonal(norm**2), self.right.diagonal((norm + radius) ** 2)
        return np.sqrt(a) * self.right.apart(norm, radius) + np.sqrt(b) * self.left.apart(norm, radius)

    def by_differences(self) -> Kernel:
        return Product(self.left.by_differences(), self.right.by_differences())

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        return self.left(X, Z) * self.right(X, Z)


@dataclass(frozen=True)
class Scaled(Kernel):
    """k(x, z) = factor · part(x, z).

    Parameters
    ----------
    factor : float
        At least 0: a negative multiple is not a kernel.
    part : Kernel
    """

    factor: float
    part: Kernel

    name: ClassVar[str] = "scaled"

    def __post_init__(self) -> None:
        number(self, "factor", low=0.0)
        _check_parts(self, self.part)

    def leaves(self) -> tuple[Leaf, ...]:
        return self.part.leaves()

    def terms(self) -> list[Term]:
        return [*self.part.terms(), (SCALE, (self.factor, 0.0, 0.0))]

    def diagonal(self, sq_norms: Float64) -> Float64:
        return self.factor * self.part.diagonal(sq_norms)

    def cost(self, d: float) -> float:
        return _shared(self, d)

    def magnitude(self, sq_norm: float) -> float:
        return self.factor * self.part.magnitude(sq_norm)

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Add the roundings of the factor and of the product with it."""
        size, error = self.part.magnitude(sq_norm), self.part.error_bound(sq_norm, d, u)
        if not math.isfinite(size + error):
            return math.inf
        return self.factor * (error + growth(2, u) * (size + error)) + (1.0 + size + error) * tiny(u)

    def _rounding_parts(self, sq_norm: float, d: float, u: float) -> tuple[float, float]:
        """Bound as above, by |k| and not its largest size; kernels that may be negative have no relative part."""
        relative, absolute = self.part.error_parts(sq_norm, d, u)
        if relative == 0.0:
            return 0.0, self._rounding_error(sq_norm, d, u)
        rounded, size = growth(2, u), self.part.magnitude(sq_norm)
        added = self.factor * (1.0 + rounded) * absolute + (1.0 + size + absolute) * tiny(u)
        return relative + rounded * (1.0 + relative), added

    def slopes(self) -> tuple[Mixture, Mixture]:
        s, D = ({k: self.factor * v for k, v in mixture.items()} for mixture in self.part.slopes())
        return s, D

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return math.sqrt(self.factor) * self.part.apart(norm, radius)

    def steepness(self, norms: Float64) -> Float64:
        return self.factor * self.part.steepness(norms)

    def by_differences(self) -> Kernel:
        return Scaled(self.factor, self.part.by_differences())

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        return self.factor * self.part(X, Z)


Kernel.combine.update({kind.name: kind for kind in (Sum, Product, Scaled)})
