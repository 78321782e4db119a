"""Section 7: real data, and the choice of the kernel by the margin in the input space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

from adatron.arrays import Vector
from adatron.estimators import SVC, InputMarginSVC, input_margin
from adatron.margins.worth import signed

from ..claims import Claim, beyond, change
from ..fits import mean_and_error, quietly
from ..report import Section

LOADERS: dict[str, tuple[Callable[..., Any], tuple[int, int], str]] = {
    "iris, versicolor and virginica": (load_iris, (1, 2), "full"),
    "wine, first two": (load_wine, (0, 1), "full"),
    "breast cancer": (load_breast_cancer, (0, 1), "simplified"),
    "digits 3 and 8": (load_digits, (3, 8), "simplified"),
}
REAL_TRAIN = 80  # Training samples of a split.
REAL_GAMMAS = np.geomspace(0.01, 10.0, 7)  # gamma times the number of features.
REAL_MACHINE: dict[str, Any] = {"C": float("inf"), "n_jobs": 1}  # A hard margin.
TEST_MEASURED = 100  # Test samples whose distances are measured.


def section(n_splits: int) -> tuple[Section, list[Claim]]:
    """Compare errors and distances of test samples, and errors with a gamma chosen in three ways."""
    section = Section(f"Section 7: real data, hard margin, {n_splits} splits")
    jobs = [(name, seed) for name in LOADERS for seed in range(n_splits)]
    rows: Any = joblib.Parallel(n_jobs=-1)(joblib.delayed(_one)(*job) for job in jobs)
    found = np.array(rows).reshape(len(LOADERS), n_splits, -1)
    for name, own in zip(LOADERS, found.mean(axis=1), strict=True):
        kind = LOADERS[name][2]
        section.add(f"{name} ({kind}): test error, original and maximised", None, own[:2].tolist())
        section.add(f"{name}: median distance of right test samples", None, own[2:4].tolist())
        section.add(f"{name}: error by gamma of the largest margin, of cross-validation, of the mean gamma", None,
                    own[4:].tolist())  # fmt: skip
    section.remarks.append(
        f"Data that come with scikit-learn, in units of their deviations; {REAL_TRAIN} samples to train on, gamma = 1 "
        "/ m. The last lines choose gamma m from 0.01 to 10: by the largest margin in the input space of the original "
        "machine, or by its accuracy in five folds."
    )
    pairs = found.reshape(-1, found.shape[-1])
    errors, distances = ("error smaller", "error larger"), ("larger", "smaller")
    return section, [
        _claim("applying it to real data is important: fewer errors", pairs[:, 0] - pairs[:, 1], *errors),
        _claim("larger distances of test samples", pairs[:, 3] / pairs[:, 2] - 1.0, *distances),
        _claim("the input margin chooses gamma: better than at random", pairs[:, 6] - pairs[:, 4], *errors),
        _claim("the same, better than cross-validation", pairs[:, 5] - pairs[:, 4], *errors),
    ]


def _claim(what: str, gains: Vector, better: str, worse: str) -> Claim:
    mean, error = mean_and_error(gains)
    return Claim(what, "7", beyond(mean, error), change(mean, error, better, worse))


def _one(name: str, seed: int) -> list[float]:
    load, labels, algorithm = LOADERS[name]
    loaded: Any = load(return_X_y=True)
    X, y = loaded
    kept = np.isin(y, labels)
    parts: Any = train_test_split(X[kept], y[kept], train_size=REAL_TRAIN, stratify=y[kept], random_state=seed)
    scaler = StandardScaler().fit(parts[0])
    X, X_test = np.asarray(scaler.transform(parts[0])), np.asarray(scaler.transform(parts[1]))
    y, y_test = np.asarray(parts[2]), np.asarray(parts[3])
    gamma = 1.0 / X.shape[1]
    before = quietly(SVC(gamma=gamma, **REAL_MACHINE), X, y)
    after = quietly(InputMarginSVC(gamma=gamma, algorithm=algorithm, n_steps=3, cache_size=4000, **REAL_MACHINE), X, y)
    distances = []
    for model in (before, after):
        some = X_test[:TEST_MEASURED][model.predict(X_test[:TEST_MEASURED]) == y_test[:TEST_MEASURED]]
        distances.append(float(np.median(input_margin(model, some).distance)))
    models = [quietly(SVC(gamma=one * gamma, **REAL_MACHINE), X, y) for one in REAL_GAMMAS]
    errors = [1.0 - model.score(X_test, y_test) for model in models]
    margins = [_margin(model, X, y) for model in models]
    search = quietly(GridSearchCV(SVC(**REAL_MACHINE), {"gamma": REAL_GAMMAS * gamma}), X, y)
    by_margin, by_folds = errors[int(np.argmax(margins))], 1.0 - search.score(X_test, y_test)
    plain = [1.0 - model.score(X_test, y_test) for model in (before, after)]
    return [*plain, *distances, by_margin, by_folds, float(np.mean(errors))]


def _margin(model: SVC, X: Vector, y: Vector) -> float:
    side = np.where(y == model.classes_[1], 1.0, -1.0)
    return float(signed(model.decision_function(X), side, input_margin(model, X).distance).min())
