"""The value of a large margin in the input space on test data: accuracy, distances, certificates, and an attack.

The attack uses predictions only. It starts at the nearest training samples that are predicted as the other class, and
goes back towards the sample while the class stays. Then it walks along the boundary by random steps, keeping those that
come nearer (W. Brendel, J. Rauber, M. Bethge, Decision-based adversarial attacks, 2018). It uses neither gradients nor
our projections.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, InputMarginSVC, input_margin

from .datasets import CASES, Split

PAIRS = ((4, 9), (3, 5), (0, 6))  # Pairs of digits of USPS.
FULL = ("Wisconsin", "sonar")  # Data on which the full algorithm is also tried.
ATTACKED = 300  # Test samples that are attacked.
NEIGHBOURS, HALVINGS, STEPS = 5, 40, 800  # Starts of an attack, halvings of a segment, and steps along the boundary.
SPEED, CONTRACTION = 0.1, 0.02  # First random steps, and steps back, as fractions of the distance.


def rows(repeats: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each data set and machine."""
    for name, split, C, gamma in _data():
        budget = None
        plain = None
        for machine, model in _models(name, C, gamma).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                seconds = min(_timed(model, split) for _ in range(repeats))
            row = _row(model, split, budget)
            budget, plain = row.pop("budget"), plain or seconds
            yield {"data": name, "machine": machine, "seconds": seconds, "ratio": seconds / plain, **row}


def _data() -> Iterator[tuple[str, Split, float, float]]:
    for name in ("sonar", "ionosphere", "Pima", "Wisconsin"):
        yield name, CASES[name].load(), CASES[name].C, CASES[name].gamma
    usps = CASES["USPS"].load()
    for pair in PAIRS:
        train, test = (np.isin(y, pair) for y in (usps.y, usps.y_test))
        parts = Split(usps.X[train], usps.y[train], usps.X_test[test], usps.y_test[test])
        yield f"USPS {pair[0]}, {pair[1]}", parts, CASES["USPS"].C, CASES["USPS"].gamma


def _models(name: str, C: float, gamma: float) -> dict[str, Any]:
    models: dict[str, Any] = {"SVC": SVC(C=C, gamma=gamma)}
    models["simplified"] = InputMarginSVC(C=C, gamma=gamma, algorithm="simplified")
    if name in FULL:
        models["full"] = InputMarginSVC(C=C, gamma=gamma, n_steps=3, cache_size=4000)
    return models


def _timed(model: Any, split: Split) -> float:
    start = time.perf_counter()
    model.fit(split.X, split.y)
    return time.perf_counter() - start


def _row(model: Any, split: Split, budget: float | None) -> dict[str, Any]:
    """Return accuracy, distances of the test samples that are right, and how many stay right within the budget.

    The budget is the median distance of the first machine's right test samples.
    """
    X, y = (np.asarray(part)[:ATTACKED] for part in (split.X_test, split.y_test))
    right = model.predict(X) == y
    found = input_margin(model, X[right])
    attacked = attack(model, X[right], np.asarray(split.X, np.float64))
    budget = float(np.median(found.distance)) if budget is None else budget
    return {
        "accuracy": float(right.mean()),
        "all": float(model.score(split.X_test, split.y_test)),
        "distance": float(found.distance.mean()),
        "certified": float(found.certified.mean()),
        "converged": float(found.converged.mean()),
        "attacked": float(np.sum(attacked > budget) / len(y)),
        "proven": float(np.sum(found.certified > budget) / len(y)),
        "nearer": int(np.sum(attacked < found.distance * (1 - 1e-6))),
        "violations": int(np.sum(attacked < found.certified)),
        "budget": budget,
    }


def attack(model: Any, X: Any, train: Any, seed: int = 0) -> Any:
    """Return distances of the nearest points of another class that were met, (n,); inf if there is no such class."""
    rng, X = np.random.default_rng(seed), np.asarray(X, np.float64)
    codes = model.predict(X)
    Z = _begin(model, X, codes, train)
    speed = np.full(len(X), SPEED)
    for _ in range(STEPS):
        length = np.linalg.norm(Z - X, axis=1)
        step = rng.normal(size=X.shape)
        step *= (speed * length / np.linalg.norm(step, axis=1))[:, None]
        new = Z + step
        new = X + (new - X) * (length / np.maximum(np.linalg.norm(new - X, axis=1), 1e-300))[:, None]  # on the sphere
        new = X + (1.0 - CONTRACTION * np.minimum(1.0, speed / SPEED))[:, None] * (new - X)
        taken = model.predict(np.where(np.isfinite(new), new, X)) != codes
        Z[taken] = new[taken]
        speed *= np.where(taken, 1.1, 0.97)
    return np.where(np.isfinite(Z).all(axis=1), np.linalg.norm(Z - X, axis=1), np.inf)


def _begin(model: Any, X: Any, codes: Any, train: Any) -> Any:
    """Return the best of the ways to the nearest training samples of the other class."""
    theirs, best = model.predict(train), np.full(X.shape, np.inf)
    for code in np.unique(codes):
        mine, others = np.flatnonzero(codes == code), train[theirs != code]
        order = np.argsort(cdist(X[mine], others), axis=1)
        for place in range(min(NEIGHBOURS, len(others))):
            to = others[order[:, place]]
            low, high = np.zeros(len(mine)), np.ones(len(mine))
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                same = model.predict(X[mine] + middle[:, None] * (to - X[mine])) == code
                low, high = np.where(same, middle, low), np.where(same, high, middle)
            Z = X[mine] + high[:, None] * (to - X[mine])
            nearer = np.linalg.norm(Z - X[mine], axis=1) < np.linalg.norm(best[mine] - X[mine], axis=1)
            best[mine[nearer]] = Z[nearer]
    return best
