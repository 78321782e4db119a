"""Derivatives of kernels, from their slopes alone.

Every kernel with derivatives is k(x, z) = κ(s, D), s = x·z, D = ‖x - z‖². A slope of κ is a sum of multiples of
kernels, so derivatives of every order are such sums, too. With r = x - z and subscripts for slopes

    ∂k/∂x     = κ_s z + 2 κ_D r
    ∂²k/∂x∂z' = (κ_s - 2 κ_D) I + z (κ_ss x - 2 κ_sD r)' + 2 r (κ_sD x - 2 κ_DD r)'
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Mixture = dict[Any, float]  # a sum of multiples of kernels, of either sign


class Smooth(Protocol):
    """The part of a kernel that derivatives need."""

    def slopes(self) -> tuple[Mixture, Mixture]:
        """Return ∂κ/∂s and ∂κ/∂D."""
        ...

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        """Return the kernel matrix of the rows of X and Z."""
        ...

    def __hash__(self) -> int: ...


class Jet(NamedTuple):
    """κ and its slopes up to the second order."""

    k: Mixture
    s: Mixture
    D: Mixture
    ss: Mixture
    sD: Mixture
    DD: Mixture


@cache
def jet(kernel: Smooth) -> Jet:
    """Return the jet of a kernel.

    Raises
    ------
    TypeError
        If the kernel has no derivative.
    """
    k: Mixture = {kernel: 1.0}
    s, D = _slopes(k)
    ss, sD = _slopes(s)
    return Jet(k, s, D, ss, sD, _slopes(D)[1])


def _slopes(mixture: Mixture) -> tuple[Mixture, Mixture]:
    found: tuple[Mixture, Mixture] = defaultdict(float), defaultdict(float)
    for kernel, factor in mixture.items():
        for total, slope in zip(found, kernel.slopes(), strict=True):
            for part, own in slope.items():
                total[part] += factor * own
    return dict(found[0]), dict(found[1])


def mixed(mixture: Mixture, values: dict[Any, Float64]) -> Float64 | float:
    """Return the value of a mixture from those of its kernels; 0 if it is empty."""
    return sum((factor * values[kernel] for kernel, factor in mixture.items()), 0.0)


def gradient(kernel: Smooth, x: Float64, Z: Float64) -> Float64:
    """Return ∂k(x, z_j)/∂x, (m, d)."""
    s, D = (_at(mixture, x, Z) for mixture in jet(kernel)[1:3])
    return s * Z + 2.0 * D * (x - Z)


def cross_derivative(kernel: Smooth, x: Float64, z: Float64) -> Float64:
    """Return ∂²k/∂x∂z', (d, d)."""
    s, D, ss, sD, DD = (_at(mixture, x, z[None])[0, 0] for mixture in jet(kernel)[1:])
    r = x - z
    outer = np.outer(z, ss * x - 2.0 * sD * r) + 2.0 * np.outer(r, sD * x - 2.0 * DD * r)
    return (s - 2.0 * D) * np.eye(len(x)) + outer


def _at(mixture: Mixture, x: Float64, Z: Float64) -> Float64:
    """Return the mixture between a point and rows, (m, 1)."""
    return mixed(mixture, {kernel: kernel(x[None], Z).T for kernel in mixture}) + np.zeros((len(Z), 1))
