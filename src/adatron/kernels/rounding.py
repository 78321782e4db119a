"""Rounding errors, proven: fl(a op b) = (a op b)(1 + δ) + η with |δ| <= u, and |η| below ``tiny(u)`` on underflow.

u is the unit roundoff of a tile's type: 2**-24 (float32) or 2**-53 (float64). A product of m factors
(1 + δ)^±1 is 1 + θ with |θ| <= growth(m, u). Source: N. J. Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., SIAM 2002, lemmas 3.1 and 3.3.

Every bound is for two vectors that were first rounded to the tile's type, and whose squared norms have a mean <=
``sq_norm``. Then |x·z| <= ‖x‖ ‖z‖ <= sq_norm, ‖x‖² + ‖z‖² <= 2 sq_norm, and ‖x‖ + ‖z‖ <= 2 √sq_norm.
"""

from __future__ import annotations

import math

# The bounds are computed in float64, and centring rounds inputs to float64 before a tile's type does.
SAFETY = 1.0 + 1e-8


def growth(m: float, u: float) -> float:
    """Return γ_m = m u / (1 - m u); infinite if it proves nothing."""
    return m * u / (1.0 - m * u) if m * u < 1.0 else math.inf


def tiny(u: float) -> float:
    """Return more than what underflow, or the exponential's 0 below 2**-125 or 2**-1021, can add to a value."""
    return 2.0**-120 if u > 2.0**-53 else 2.0**-1000


def largest(u: float) -> float:
    """Return the bound that every intermediate value must stay below, well inside the range of the type."""
    return 2.0**120 if u > 2.0**-53 else 2.0**1000


def power(base: float, degree: int) -> float:
    """Return ``base**degree``, infinite instead of an OverflowError."""
    try:
        return base**degree
    except OverflowError:
        return math.inf


def product_error(sq_norm: float, d: float, u: float) -> float:
    """Bound the error of x·z: d roundings and two of the inputs touch each term, and Σ|x_k z_k| <= sq_norm.

    For a sum in passes d may be the roundings of a term: ``tiny`` is more than the underflow of 2**20 terms.
    """
    return growth(d + 2, u) * sq_norm + d * (1.0 + sq_norm) * tiny(u)


def affine_error(gamma: float, coef0: float, sq_norm: float, d: float, u: float) -> float:
    """Bound the error of t = γ x·z + c: at most three roundings touch γ x·z (γ, product, sum), two touch c."""
    error = product_error(sq_norm, d, u)
    rounded = growth(3, u) * (gamma * (sq_norm + error) + abs(coef0))
    return gamma * error + rounded + (1.0 + sq_norm + error) * tiny(u)


def exp_error(absolute: float, relative: float, u: float) -> float:
    """Bound the error of exp(-t), t >= 0, where t carries an absolute error, then a relative one.

    exp(-t) has slope <= 1, which gives ``absolute``; the exponential adds 4 u relative. Both values lie in
    [0, 1 + 4 u], so no error exceeds 1 + 4 u.
    """
    return min(absolute + _of_factor(relative) + 4.0 * u + tiny(u), 1.0 + 4.0 * u)


def exp_parts(absolute: float, relative: float, u: float) -> tuple[float, float]:
    """Bound the same error by a part relative to exp(-t), at most 1/2, and an absolute part.

    An absolute error e of t is the factor exp(-e); the addition of the relative one to it is absolute. The 4 u of the
    exponential itself are relative to the sum of all.
    """
    factor, added = math.exp(min(absolute, 1.0)), _of_factor(relative)
    if factor > 1.4 or not math.isfinite(added):
        return 0.0, exp_error(absolute, relative, u)
    return factor - 1.0 + 4.0 * u * factor, added * (1.0 + 4.0 * u) + tiny(u)


def _of_factor(relative: float) -> float:
    """Bound the error of exp(-t), t >= 0, where t carries a factor 1 + θ, |θ| <= ρ.

    By the mean value theorem |exp(-t(1 + θ)) - exp(-t)| <= ρ t exp(-t(1 - ρ)) <= ρ / (e (1 - ρ)).
    """
    return relative / (math.e * (1.0 - relative)) if relative < 1.0 else math.inf
