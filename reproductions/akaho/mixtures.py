"""The paper's data, and the machines on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adatron.arrays import Vector
from adatron.estimators import SVC, InputMarginSVC

from ..fits import quietly

# Centres of a class, deviation around them, 1 / (2 σ²) with the paper's σ = 1.
CLASS_CENTRES, CENTRE_SPREAD, GAMMA = 3, 0.2, 0.5
MIXTURE_TRAIN, MIXTURE_TEST = 20, 1000  # Samples; the paper has 20 to train on, too.
HARD_C = float("inf")  # A hard margin.
# The machines, by the words for them.
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "damped": ("damped, the default", {}),
    "best": ("nearest projections, best of five", {"rule": "best"}),
    "printed": ("as printed", {"rule": "printed", "hyperplane": "all_values"}),
    "fixed": ("section 6, only x̂ = x", {"rule": "best", "algorithm": "fixed"}),
    "simplified": ("section 6, targets ĝ", {"algorithm": "simplified"}),
    "rescaled": ("section 6, k / (ĝ ĝ)", {"algorithm": "rescaled"}),
}


@dataclass(frozen=True)
class Draw:
    """Samples of two mixtures of Gaussians."""

    X: Vector
    y: Vector
    X_test: Vector
    y_test: Vector

    def error(self, model: SVC | InputMarginSVC) -> float:
        """Return the rate of wrong test samples."""
        return float(np.mean(model.predict(self.X_test) != self.y_test))


def draw(seed: int, train: int = MIXTURE_TRAIN) -> Draw:
    """Return one set of samples."""
    rng = np.random.default_rng(seed)
    centres = rng.random((2, CLASS_CENTRES, 2))

    def samples(n: int) -> tuple[Vector, Vector]:
        y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
        which = rng.integers(0, CLASS_CENTRES, n)
        return centres[(y < 0).astype(int), which] + CENTRE_SPREAD * rng.normal(size=(n, 2)), y

    return Draw(*samples(train), *samples(MIXTURE_TEST))


def original(data: Draw, gamma: float = GAMMA) -> SVC:
    """Return the hard-margin machine."""
    return quietly(SVC(C=HARD_C, gamma=gamma, tol=1e-6, n_jobs=1), data.X, data.y)


def maximised(data: Draw, algorithm: str, gamma: float = GAMMA, C: float = HARD_C, **parameters: Any) -> InputMarginSVC:
    """Run one of the ALGORITHMS."""
    how = ALGORITHMS[algorithm][1] | parameters
    return quietly(InputMarginSVC(C=C, gamma=gamma, tol=1e-6, n_jobs=1, **how), data.X, data.y)
