"""The paper's machine in the library's terms, and a plain copy of its algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron import SVC
from adatron.arrays import Vector
from adatron.kernels import RBF

from ..fits import quietly


def gamma(sigma: float) -> float:
    """Return the coefficient of the kernel exp(-gamma |x - z|^2) for the paper's sigma."""
    return 1.0 / (2.0 * sigma**2)


def fitted(X: Any, y: Any, sigma: float, C: float = np.inf, **parameters: Any) -> Any:
    """Fit a machine with a Gaussian kernel, of hard margin unless C is given; a limit of epochs gives no warning."""
    return quietly(SVC(C=C, gamma=gamma(sigma), **parameters), X, y)


def error(model: Any, X: Any, y: Any) -> float:
    """Return the fraction of the samples that are classified wrongly."""
    return float(np.mean(model.predict(X) != y))


def gaussian(X: Vector, sigma: float) -> Vector:
    """Return the kernel matrix of a few samples."""
    return RBF(gamma(sigma))(X)


def plain(K: Vector, y: Vector, rate: float, most: int, margin: float = 0.99) -> tuple[int | None, Vector]:
    """Run Kernel-Adatron without bias as printed; return the epochs (None: more than ``most``) and alpha."""
    alpha, Q = np.zeros(len(y)), K * np.outer(y, y)
    for epoch in range(1, most + 1):
        for i in range(len(y)):
            alpha[i] = max(0.0, alpha[i] + rate * (1.0 - Q[i] @ alpha))  # steps 3 and 4
        z = K @ (alpha * y)
        if 0.5 * (z[y > 0].min() - z[y < 0].max()) >= margin:  # step 5
            return epoch, alpha
    return None, alpha
