"""The three forms of the bias.

``explicit``: an unpenalised b; it is the multiplier of sum(beta) = s. ``augmented``: a constant feature lambda is added
to every sample, so b = lambda^2 sum(beta) is penalised with w. SVMseq's augmenting factor, ISDA's 1/k = lambda^2 and
Mangasarian and Musicant's lambda = 1 are this one parameter. ``none``: b = 0.
"""

from __future__ import annotations

from typing import Literal

Bias = Literal["explicit", "augmented", "none"]


def penalty(bias: Bias, augment: float) -> float:
    """Return lambda^2, which this form of the bias adds to the kernel."""
    return augment**2 if bias == "augmented" else 0.0
