"""The paper's data, and both machines on them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...arrays import Vector
from ...estimators import SVC, InputMarginSVC

CENTRES, SPREAD, GAMMA = 3, 0.2, 0.5  # Centres of a class, deviation around them, 1 / (2 σ²) with the paper's σ = 1.
TRAIN, TEST = 20, 1000  # Samples; the paper has 20 to train on, too.
HARD = float("inf")


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


def draw(seed: int) -> Draw:
    """Return one set of samples."""
    rng = np.random.default_rng(seed)
    centres = rng.random((2, CENTRES, 2))

    def samples(n: int) -> tuple[Vector, Vector]:
        y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
        which = rng.integers(0, CENTRES, n)
        return centres[(y < 0).astype(int), which] + SPREAD * rng.normal(size=(n, 2)), y

    return Draw(*samples(TRAIN), *samples(TEST))


def original(data: Draw) -> SVC:
    """Return the hard-margin machine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SVC(C=HARD, gamma=GAMMA, tol=1e-6, n_jobs=1).fit(data.X, data.y)


def maximised(data: Draw, rule: str, n_steps: int = 5, hyperplane: str = "values") -> InputMarginSVC:
    """Run Algorithm 1 with the paper's rule, 'best', or the damped one."""
    model = InputMarginSVC(C=HARD, gamma=GAMMA, tol=1e-6, n_jobs=1, rule=rule, n_steps=n_steps, hyperplane=hyperplane)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(data.X, data.y)
