"""Random programs with a linear kernel, few features and up to a thousand samples and more, by every estimator."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from tests.twins.checker import Program
from tests.twins.fitted import Task, programs, squared
from tests.twins.values import L, dense

from adatron import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from .attack_programs import MAX_TIME, SHAPES, Rng, labels, one_of, power, repeated, scaled, stored, targets, weights_of
from .attack_verdict import Verdict, centred, fitted, values_of, weighed

SPEC = ("linear",)
SHARES = {
    "LinearSVC": 0.4,
    "LinearSVR": 0.3,
    "SVC": 0.08,
    "NuSVC": 0.06,
    "SVR": 0.06,
    "NuSVR": 0.05,
    "OneClassSVM": 0.05,
}
MACHINES: dict[str, Any] = {one.__name__: one for one in (LinearSVC, LinearSVR, SVC, NuSVC, SVR, NuSVR, OneClassSVM)}
MOST_FEATURES, LARGE = 30, 0.15  # Features at most; share of programs that are too large for a single block.


def linear(seed: int, number: int) -> Verdict:
    """Fit a linear machine, and check the claims about each of its programs."""
    rng = np.random.default_rng([seed, number])
    name, traits = one_of(rng, SHARES), []
    X = _rows(rng, traits)
    parameters = _parameters(rng, name, traits)
    y: Any = None
    if name != "OneClassSVM":
        own: dict[str, Any] = {}
        y = (
            labels(rng, X, own, traits)
            if "SVC" in name
            else targets(rng, X, own, "SVR" if name != "NuSVR" else name, traits)
        )
        if name == "LinearSVC" and own.get("multi_class") == "ovo":
            own["multi_class"] = "ovr"
        parameters.update(own)
    X, y = repeated(rng, X, y, "SVC" in name, traits)
    X, weight = stored(rng, X, traits), weights_of(rng, X.shape[0], traits)
    if isinstance(of := parameters.get("class_weight"), dict):
        parameters["class_weight"] = {int(c): of.get(int(c), 1.0) for c in np.unique(y)}
    verdict = Verdict(
        number, name, "linear", list(dict.fromkeys(traits)), f"{name} {X.shape} {parameters} {', '.join(traits)}"
    )
    kernel = {} if name.startswith("Linear") else {"kernel": "linear"}
    given = (X,) if y is None else (X, y)
    model = fitted(
        partial(MACHINES[name](**parameters, **kernel, max_time=MAX_TIME).fit, *given, sample_weight=weight), verdict
    )
    if model is not None:
        found = _programs(name, parameters, X, y, weight, model)
        matrix = values_of(SPEC, X, parameters)
        matrix = matrix[0], matrix[1] + _of_lacks(found, X)
        weighed(centred(found, matrix[0]), model, parameters, matrix, verdict)
    return verdict


def _of_lacks(found: list[Program | None], X: Any) -> Any:
    """Return what the origin may change of kernel values, as coefficients whose sum is to be 0 miss that by a rounding.

    With m for the mean, the sums at two rows differ by sum(beta) m·(x - z) more than those of rows less their mean.
    """
    rows = dense(X)
    mean = rows.mean(axis=0)
    far = np.sqrt((mean**2).sum() * ((rows - mean) ** 2).sum(axis=1))
    sums = [abs(one.beta.sum()) / max(np.abs(one.beta).sum(), L(1e-300)) for one in found if one and 0 in one.totals]
    return max(sums, default=L(0)) * far[:, None]


def _rows(rng: Rng, traits: list[str]) -> Any:
    """Return rows, more or fewer than features; some columns are constant, or sums of others."""
    size = rng.random()
    n = int(rng.integers(1001, 1300) if size < LARGE else rng.integers(5, 30) if size < 0.3 else rng.integers(30, 401))
    traits += ["large"] * (n > 1000)
    d = int(rng.integers(1, MOST_FEATURES))
    X = scaled(rng, rng.normal(size=(n, d)), str(rng.choice(SHAPES)), traits)
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = power(rng, -8, 8) if rng.random() < 0.5 else 0.0
        traits.append("constant column")
    if d > 1 and rng.random() < 0.2:
        X[:, 0] = X[:, 1:].sum(axis=1)
        traits.append("collinear")
    traits += ["more features"] * (d >= n)
    return X


def _parameters(rng: Rng, name: str, traits: list[str]) -> dict[str, Any]:
    out: dict[str, Any] = {"tol": power(rng, -4, -1) if rng.random() < 0.6 else power(rng, -12, -4)}
    if rng.random() < 0.4:
        out["gap_tol"] = power(rng, -9, -1)
    bias = str(rng.choice(["explicit", "augmented", "none"], p=[0.5, 0.35, 0.15]))
    if name.startswith("Linear"):
        squares = rng.random() < 0.7
        words = ("hinge", "squared_hinge") if "SVC" in name else ("epsilon_insensitive", "squared_epsilon_insensitive")
        out |= {"loss": words[squares], "fit_intercept": bias != "none"}
        out |= {"bias": bias, "intercept_scaling": power(rng, -2, 2)} if bias != "none" else {}
        traits.append(out["loss"])
    elif name != "OneClassSVM":
        out |= {"bias": bias, "augment": power(rng, -2, 2)}
    if (not name.startswith("Nu") and name != "OneClassSVM") or name == "NuSVR":
        out["C"] = power(rng, -2, 3) if rng.random() < 0.55 else power(rng, -6, 9)
        if name == "LinearSVC" and rng.random() < 0.05:
            out["C"] = float("inf")
            traits.append("C inf")
    if name in ("NuSVC", "NuSVR", "OneClassSVM"):
        out["nu"] = float(rng.uniform(0.01, 1.0))
    return out


def _programs(name: str, parameters: dict[str, Any], X: Any, y: Any, weight: Any, model: Any) -> list[Program | None]:
    """Return the programs of a model at its coefficients; of linear machines in the words of the others."""
    task = dict(parameters)
    if name.startswith("Linear"):
        task |= {"bias": parameters.get("bias", "none"), "augment": parameters.get("intercept_scaling", 1.0)}
        task["multi_class"] = "ovr"
    found = programs(Task(name.removeprefix("Linear"), task, X, y, weight), model)
    if "squared" in parameters.get("loss", "") and np.isfinite(parameters["C"]):
        return [one and squared(one) for one in found]
    return found
