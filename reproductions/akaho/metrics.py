"""Section 2: metrics that say what is known of the inputs, the Fisher information and tangents of an invariance."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.arrays import Vector
from adatron.estimators import SVC, InputMarginSVC, input_margin

from ..claims import Claim, beyond, change
from ..fits import mean_and_error, quietly
from ..report import Section

DRAWN = 24  # Samples of a draw.
ALONG = 0.1  # Cost of a step along a tangent, beside 1 for one across.
METRIC_MACHINE: dict[str, Any] = {"C": float("inf"), "gamma": 1.0, "n_jobs": 1}  # A hard margin.


def fisher(x: Vector) -> Vector:
    """Return the Fisher information of a normal distribution with mean x₁ and deviation x₂."""
    return np.diag([1.0, 2.0]) / x[1] ** 2


def tangent(x: Vector) -> Vector:
    """Return a metric in which rotations about 0 are cheap."""
    t = np.array([-x[1], x[0]]) / np.linalg.norm(x)
    return np.eye(2) - (1.0 - ALONG**2) * np.outer(t, t)


def section(n_draws: int) -> tuple[Section, list[Claim]]:
    """Compare three machines in either metric: the original one, the Euclidean margin, the margin in the metric."""
    section = Section(f"Section 2: Fisher information and tangents as the metric, {n_draws} draws")
    distributions = np.array([_margins(*_distributions(seed), fisher) for seed in range(n_draws)])
    section.add("Fisher information: mean margin of the original machine, Euclidean, in the metric", None,
                distributions.mean(axis=0).round(4).tolist())  # fmt: skip
    rings = np.array([_errors(seed) for seed in range(n_draws)])
    section.add("rotations: mean test error of the original machine, Euclidean, in the metric", None,
                rings.mean(axis=0).round(4).tolist())  # fmt: skip
    section.remarks.append(
        f"Hard margins, gamma = 1, {DRAWN} samples. Fisher: normal distributions by mean and deviation; the classes "
        "differ by both, and margins are measured in the Fisher metric. Rotations: two rings around 0, the samples at "
        f"a few angles only, the test at all; a step along the ring costs {ALONG:g} of one across it."
    )
    gains = (distributions[:, 2] - distributions[:, 0], rings[:, 0] - rings[:, 2])
    told = [mean_and_error(one) for one in gains]
    return section, [
        Claim(
            "the Fisher information is a natural metric",
            "2",
            beyond(*told[0]),
            change(*told[0], "its margin grows", "its margin falls"),
        ),
        Claim(
            "invariance of patterns is a metric",
            "2",
            beyond(*told[1]),
            change(*told[1], "error smaller", "error larger"),
        ),
    ]


def _machines(X: Vector, y: Vector, metric: Any) -> list[Any]:
    models = [SVC(**METRIC_MACHINE), InputMarginSVC(**METRIC_MACHINE), InputMarginSVC(metric=metric, **METRIC_MACHINE)]
    return [quietly(model, X, y) for model in models]


def _margins(X: Vector, y: Vector, metric: Any) -> list[float]:
    return [float(input_margin(model, X, metric).distance.min()) for model in _machines(X, y, metric)]


def _distributions(seed: int) -> tuple[Vector, Vector]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(DRAWN) % 2 == 0, 1.0, -1.0)
    deviation = np.exp(rng.normal(np.where(y > 0, -0.7, 0.3), 0.4))
    return np.column_stack([deviation * rng.normal(size=DRAWN) + 0.5 * y, deviation]), y


def _rings(n: int, angles: Vector, rng: np.random.Generator) -> tuple[Vector, Vector]:
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    radius = np.where(y > 0, 1.0, 1.8) + 0.12 * rng.normal(size=n)
    return radius[:, None] * np.column_stack([np.cos(angles), np.sin(angles)]), y


def _errors(seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    X, y = _rings(DRAWN, rng.choice(2.0 * np.pi * rng.random(6), DRAWN), rng)
    X_test, y_test = _rings(1000, 2.0 * np.pi * rng.random(1000), rng)
    return [float(np.mean(model.predict(X_test) != y_test)) for model in _machines(X, y, tangent)]
