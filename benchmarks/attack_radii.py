"""Certified radii against points of another class, which projected gradients look for inside the radii.

Slopes are differences of decision values, so that the attack uses public methods alone. Each step goes to the point of
the ball at which the values fall most, or half the way to it; starts are the sample itself and random points.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.twins.values import L

from adatron import SVC, SVDD, InputMarginSVC, NuSVC, OneClassSVM, input_margin

from .attack_programs import MAX_TIME, Rng, features, kernel_for, named, power
from .attack_verdict import Verdict, fitted

MACHINES: dict[str, Any] = {
    "SVC": SVC, "NuSVC": NuSVC, "OneClassSVM": OneClassSVM, "SVDD": SVDD, "InputMarginSVC": InputMarginSVC,
}  # fmt: skip
SHARES = [0.5, 0.15, 0.12, 0.12, 0.11]
KERNELS = ["rbf", "rbf", "linear", "poly", "composed"]
ATTACKED, STARTS, STEPS = 8, 4, 10  # Samples, starts of each, and steps of each start.
SLOPE = 1e-5  # Step of a slope, as a fraction of the radius.
WITHIN = 1.0 - 2.0**-50  # Fraction of the radius that rounding leaves.
OPEN = 1e3  # Radius instead of an infinite one, in units of the largest feature.
TRIES = 40  # Halvings of the way to a point of another class, which then is told.
Values = NDArray[np.float64]


def radii(seed: int, number: int) -> Verdict:
    """Look for points of another class inside certified radii."""
    rng = np.random.default_rng([seed, number])
    traits: list[str] = []
    name = str(rng.choice(list(MACHINES), p=SHARES))
    X = features(rng, int(rng.integers(6, 41)), traits)[:, :4]
    novelty = name in ("OneClassSVM", "SVDD")
    kinds = ["rbf"] if name == "SVDD" else KERNELS[:3] if name == "InputMarginSVC" else KERNELS
    spec = kernel_for(rng, str(rng.choice(kinds)), X)
    while "laplacian" in repr(spec):  # it has no slopes
        spec = kernel_for(rng, str(rng.choice(kinds)), X)
    parameters: dict[str, Any] = {"max_time": MAX_TIME}
    if name in ("SVC", "InputMarginSVC"):
        parameters["C"] = power(rng, -2, 3) if rng.random() < 0.7 else power(rng, -9, 6)
    else:
        parameters["nu"] = float(rng.uniform(0.05, 0.6))
    y = None if novelty else _classes(rng, X, 2 if name == "InputMarginSVC" or rng.random() < 0.7 else 3)
    if y is not None and y.max() > 1:
        parameters["multi_class"] = str(rng.choice(["ovo", "ovr"]))
    model = MACHINES[name](**parameters, **named(spec))
    if not novelty and name != "InputMarginSVC" and rng.random() < 0.15:
        model = make_pipeline(StandardScaler(), model)
        traits.append("pipeline")
    kernel = spec[0] if len(spec) < 5 and spec[0] not in ("sum", "product") else "composed"
    verdict = Verdict(number, name, kernel, traits, f"{name} {spec} {X.shape} {parameters}")
    machine = fitted(partial(_fit, model, X, y), verdict)
    if machine is None:
        return verdict
    metric = _metric(rng, X.shape[1], machine.coef_[0] if spec[0] == "linear" else None, traits)
    verdict.told += f" {', '.join(traits)}"
    _attack(rng, model, X, metric, verdict)
    return verdict


def _fit(model: Any, X: Values, y: Any) -> Any:
    """Return the machine that was fitted, which may be the last step of a pipeline."""
    model.fit(X, y)
    return model[-1] if isinstance(model, Pipeline) else model


def _classes(rng: Rng, X: Values, k: int) -> Any:
    noise = float(rng.choice([0.0, 0.3])) * max(float(X[:, 0].std()), 1e-300)
    score = X[:, 0] + noise * rng.normal(size=len(X))
    y = np.searchsorted(np.quantile(score, np.arange(1, k) / k), score)
    y[rng.choice(len(y), k, replace=False)] = np.arange(k)
    return y


def _metric(rng: Rng, d: int, w: Any, traits: list[str]) -> Values | None:
    """Return a metric, perhaps one in which the shortest way to the boundary is along its shortest axis."""
    if rng.random() < 0.6:
        return None
    Q = rng.normal(size=(d, d))
    if w is not None and rng.random() < 0.7:
        Q[:, 0] = np.asarray(w).ravel()
        traits.append("metric along w")
    Q, _ = np.linalg.qr(Q)
    wide = power(rng, 0, 14)
    traits.append("metric" if wide < 1e6 else "metric, ill-conditioned")
    G = (Q * np.geomspace(1.0, wide, d)) @ Q.T
    G = 0.5 * (G + G.T)
    return np.diag(np.diagonal(G)) if rng.random() < 0.3 else G


def _attack(rng: Rng, model: Any, X: Values, metric: Values | None, verdict: Verdict) -> None:
    rows = X[rng.permutation(len(X))[:ATTACKED]]
    rows = np.concatenate([rows, rows[:2] + X.std(axis=0) * rng.normal(size=(len(rows[:2]), X.shape[1]))])
    try:
        found = input_margin(model, rows, metric=metric)
    except ValueError as error:
        if "metric" not in str(error) and "depend on each other" not in str(error):
            raise
        verdict.outcome = "refused"
        return
    if not (found.certified <= found.distance).all():
        verdict.false.append(("radius", "a certified radius above the distance"))
    look(rng, model, rows, found.certified, metric, verdict)


def look(rng: Rng, model: Any, rows: Values, lengths: Values, metric: Values | None, verdict: Verdict) -> None:
    """Look for points of another class within radii."""
    for row, (x, code, radius) in enumerate(zip(rows, model.predict(rows), lengths, strict=True)):
        verdict.claims += 1
        if not radius > 0.0:
            verdict.undecided.append(("radius 0", f"row {row}"))
            continue
        other = _other_class(rng, model, x, code, float(radius), metric)
        if other is not None:
            length = _length(other - x.astype(L), metric)
            text = f"row {row}: {radius:.9e} is certified, a point of another class is at {length:.9e}"
            verdict.false.append(("radius", text))


def _other_class(rng: Rng, model: Any, x: Values, code: Any, radius: float, metric: Values | None) -> Values | None:
    """Return a point inside the radius that is predicted as another class, if one is found."""
    d = len(x)
    if np.isinf(radius):
        radius = OPEN * max(float(np.abs(x).max()), 1.0)
    # Steps u of length 1 stand for x + radius R u, and R' G R = I.
    eye = np.eye(d)
    root = eye if metric is None else np.linalg.inv(np.linalg.cholesky(metric)).T
    places = np.concatenate([np.zeros((1, d)), rng.normal(size=(STARTS - 1, d))])
    places /= np.maximum(np.linalg.norm(places, axis=1, keepdims=True), 1e-300)

    def points(U: Values) -> Values:
        return x + radius * WITHIN * U @ root.T

    for step in range(STEPS):
        around = np.concatenate([places[:, None] + SLOPE * eye, places[:, None] - SLOPE * eye], axis=1)
        value = _lead(model, points(around.reshape(-1, d)), code, places_per=2 * d).reshape(len(places), 2, d)
        slope = value[:, 0] - value[:, 1]
        lengths = np.linalg.norm(slope, axis=1, keepdims=True)
        aim = np.where(lengths > 0.0, -slope / np.maximum(lengths, 1e-300), places)
        places = aim if step == 0 else places + (aim - places) * rng.choice([0.5, 1.0], (len(places), 1))
        asked = points(places)
        lead = _lead(model, asked, code, places_per=1)
        for k in np.flatnonzero((model.predict(asked) != code) & (lead < -_rounding(model, asked))):
            inside = _nearest(model, x, asked[k], code)
            if _length(inside.astype(L) - x.astype(L), metric) < radius:
                return inside
    return None


def _rounding(model: Any, X: Values) -> float:
    """Return how far decision values, which the bias may dominate, are off at most; no proof is about less."""
    last = model[-1] if isinstance(model, Pipeline) else model
    return 2.0**-44 * (np.abs(model.decision_function(X)).max() + np.abs(getattr(last, "intercept_", 0.0)).max())


def _nearest(model: Any, x: Values, other: Values, code: Any) -> Values:
    """Return a point near the boundary on the way from x to a point of another class."""
    low, high = 0.0, 1.0
    for _ in range(TRIES):
        middle = 0.5 * (low + high)
        same = model.predict((x + middle * (other - x))[None])[0] == code
        low, high = (middle, high) if same else (low, middle)
    return other if high == 1.0 else x + high * (other - x)


def _lead(model: Any, X: Values, code: Any, places_per: int) -> Values:
    """Return by how much each row is ahead in the class; of several others the one that is nearest to it counts.

    places_per : rows that belong together, for which the same other class counts
    """
    values = np.asarray(model.decision_function(X), np.float64)
    if values.ndim == 1:
        last = model.classes_[1] if hasattr(model, "classes_") else 1
        return values if code == last else -values
    own = list(model.classes_).index(code)
    ahead = values[:, [own]] - values
    ahead[:, own] = np.inf
    groups = ahead.reshape(-1, places_per, ahead.shape[1])
    rival = groups.mean(axis=1).argmin(axis=1)
    return np.take_along_axis(groups, rival[:, None, None], axis=2)[:, :, 0].ravel()


def _length(step: Any, metric: Values | None) -> Any:
    return np.sqrt(step @ step if metric is None else step @ metric.astype(L) @ step)
