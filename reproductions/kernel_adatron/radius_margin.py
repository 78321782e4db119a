"""Bounds of the generalisation error from the margin and a radius; they need no test data."""

from __future__ import annotations

from math import e, floor, log

THEOREM = 577.0  # Constant of the theorem.


def vc_bound(m: int, radius2: float, margin: float, delta: float = 0.05) -> float:
    """Return the error that a separating plane exceeds with probability < delta; nan if the theorem is vacuous (k > m).

    epsilon(m, gamma) = (k log(8 e m / k) log(32 m) + log(8 m / delta)) / m with k = floor(577 R^2 / gamma^2)
    (C. Campbell, N. Cristianini, 1998, section 2, after J. Shawe-Taylor et al.; natural logarithms). The ball of the
    theorem is centred at the origin, so R^2 = max k(x, x).

    Parameters
    ----------
    m : number of training samples
    radius2 : R^2, the square of the radius of a ball around the samples
    margin : gamma, 1 / norm of w; all samples are outside it

    Examples
    --------
    >>> from adatron.selection import vc_bound
    >>> round(vc_bound(1_000_000, radius2=1.0, margin=0.5), 3)
    0.365
    >>> vc_bound(100, radius2=1.0, margin=0.1)  # too few samples for this margin
    nan
    """
    k = floor(THEOREM * radius2 / margin**2)
    if not 0 < k <= m:
        return float("nan")
    return (k * log(8.0 * e * m / k) * log(32.0 * m) + log(8.0 * m / delta)) / m
