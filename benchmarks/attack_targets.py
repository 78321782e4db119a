"""Random regressions of several programs: several quantiles, and several targets, each with a proof of its own."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from tests.twins.checker import Program
from tests.twins.fitted import Task, programs
from tests.twins.values import L

from adatron import SVR, NuSVR, QuantileSVR

from .attack_programs import MAX_TIME, Rng, Spec, features, kernel_for, named, power, stored, weights_of
from .attack_verdict import Verdict, centred, fitted, values_of, weighed

KERNELS = ["rbf", "rbf", "linear", "poly", "laplacian", "composed"]
FEW, MOST = 3, 5  # Most targets, and quantiles.


def quantiles(seed: int, number: int) -> Verdict:
    """Fit several quantiles, or one, and check the claims about each curve."""
    rng = np.random.default_rng([seed, number])
    X, spec, traits = _samples(rng)
    levels = _levels(rng)
    parameters = {**_common(rng, traits), "quantile": levels, "C": _penalty(rng), "rearrange": True}
    y, weight = _targets(rng, X, traits), weights_of(rng, X.shape[0], traits)
    fit = partial(QuantileSVR(**parameters, **named(spec), max_time=MAX_TIME).fit, X, y, sample_weight=weight)
    verdict = _begun(number, "QuantileSVR", spec, X, parameters, traits)
    model = fitted(fit, verdict)
    if model is not None:
        taus = np.atleast_1d(levels)
        found = [of_quantile(float(tau), parameters, y, weight, column(model, k)) for k, tau in enumerate(taus)]
        matrix = values_of(spec, X, parameters)
        weighed(centred(found, matrix[0]), model, parameters, matrix, verdict)
    return verdict


def judged_targets(seed: int, number: int) -> Verdict:
    """Fit a regression to several targets, and check the claims about each."""
    rng = np.random.default_rng([seed, number])
    X, spec, traits = _samples(rng)
    machine = SVR if rng.random() < 0.5 else NuSVR
    own: dict[str, Any] = {"nu": float(rng.uniform(0.01, 1.0)) if rng.random() < 0.7 else power(rng, -6, 0)}
    if machine is SVR:
        own = {"epsilon": 0.0 if rng.random() < 0.3 else power(rng, -4, 0)}
    parameters = {**_common(rng, traits), **own, "C": _penalty(rng)}
    y = np.stack([_targets(rng, X, traits) for _ in range(int(rng.integers(2, FEW + 1)))], axis=1)
    weight = weights_of(rng, X.shape[0], traits)
    fit = partial(machine(**parameters, **named(spec), max_time=MAX_TIME).fit, X, y, sample_weight=weight)
    verdict = _begun(number, machine.__name__, spec, X, parameters, [*traits, f"{y.shape[1]} targets"])
    model = fitted(fit, verdict)
    if model is not None:
        tasks = [Task(machine.__name__, parameters, X, one, weight) for one in y.T]
        found = [programs(task, column(model, k))[0] for k, task in enumerate(tasks)]
        matrix = values_of(spec, X, parameters)
        weighed(centred(found, matrix[0]), model, parameters, matrix, verdict)
    return verdict


def column(model: Any, number: int) -> Any:
    """Return the coefficients of one program of a model."""
    dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else np.asarray(model.dual_coef_)
    dual = dual[number : number + 1]
    return SimpleNamespace(dual_coef_=dual, support_=model.support_, shape_fit_=model.shape_fit_)


def of_quantile(tau: float, parameters: dict[str, Any], y: Any, weight: Any, model: Any) -> Program:
    """Return the program of one quantile, from its definition, at the coefficients of a model."""
    beta = np.zeros(len(y), L)
    beta[model.support_] = model.dual_coef_[0]
    cost = L(parameters["C"]) * (np.ones(len(y), L) if weight is None else np.asarray(weight).astype(L))
    used = np.flatnonzero(cost > 0)
    lower, upper = -(1 - L(tau)) * cost[used], L(tau) * cost[used]
    totals = (L(0),) if parameters["bias"] == "explicit" else ()
    lambda2 = L(parameters.get("augment", 1.0)) ** 2 if parameters["bias"] == "augmented" else L(0)
    return Program(used, beta[used], np.asarray(y).astype(L)[used], lower, upper, totals, lambda2=lambda2)


def _begun(number: int, name: str, spec: Spec, X: Any, parameters: dict[str, Any], traits: list[str]) -> Verdict:
    told = f"{name} {spec} {X.shape} {parameters} {', '.join(traits)}"
    return Verdict(number, name, spec[0] if len(spec) < 5 else "composed", list(dict.fromkeys(traits)), told)


def _samples(rng: Rng) -> tuple[Any, Spec, list[str]]:
    """Return few samples, seldom more than one block has, and a kernel."""
    traits: list[str] = []
    n = int(rng.integers(2, 8) if rng.random() < 0.15 else rng.integers(1001, 1101) if rng.random() < 0.004 else
            rng.integers(5, 61))  # fmt: skip
    X = features(rng, n, traits)
    if rng.random() < 0.2:
        X = X[rng.integers(0, max(1, n // 3), n)]
        traits.append("duplicates")
    spec = kernel_for(rng, str(rng.choice(KERNELS)), X)
    return stored(rng, X, traits), spec, traits


def _common(rng: Rng, traits: list[str]) -> dict[str, Any]:
    out: dict[str, Any] = {"tol": power(rng, -4, -1) if rng.random() < 0.6 else power(rng, -12, -4)}
    if rng.random() < 0.4:
        out["gap_tol"] = power(rng, -9, -1)
    out["bias"] = str(rng.choice(["explicit", "augmented", "none"], p=[0.7, 0.15, 0.15]))
    if out["bias"] == "augmented":
        out["augment"] = power(rng, -2, 2)
    if rng.random() < 0.2:
        out["precision"] = str(rng.choice(["single", "double"]))
    traits += ["tol tiny"] * (out["tol"] < 1e-4)
    return out


def _penalty(rng: Rng) -> float:
    return power(rng, -2, 3) if rng.random() < 0.6 else power(rng, -12, 9)


def _levels(rng: Rng) -> Any:
    """Return a quantile, or a list of different ones, some of them extreme."""
    one = float(rng.choice([0.5, 0.1, 0.9, rng.random(), 1e-6, 1.0 - 1e-9]))
    if rng.random() < 0.3:
        return one
    more = np.clip(rng.random(int(rng.integers(1, MOST))), 1e-3, 1.0 - 1e-3).tolist()
    return list(dict.fromkeys([one, *more]))


def _targets(rng: Rng, X: Any, traits: list[str]) -> NDArray[np.float64]:
    """Return targets in units of any size, with ties, constant ones, and some far from 0."""
    n, first = X.shape[0], np.asarray(X[:, [0]].todense() if hasattr(X, "todense") else X[:, [0]], np.float64).ravel()
    y = np.sin(first / max(float(first.std()), 1e-300)) + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=n)
    shape = str(rng.choice(["plain", "ties", "constant", "0 and 1", "one far off"], p=[0.55, 0.2, 0.1, 0.1, 0.05]))
    if shape != "plain":
        traits.append(f"targets: {shape}")
    if shape == "ties":
        y = np.rint(2.0 * y) / 2.0
    elif shape == "constant":
        y = np.full(n, rng.choice([0.0, 1.0, y[0]]))
    elif shape == "0 and 1":
        y = rng.integers(0, 2, n).astype(np.float64)
    elif shape == "one far off":
        y[0] += power(rng, 2, 8)
    if rng.random() < 0.6:
        y = power(rng, -9, 12) * y
        traits.append("targets: scales")
    if rng.random() < 0.15:
        y = y + power(rng, 1, 7) * max(float(np.abs(y).max()), 1e-12)
        traits.append("targets: far")
    return y
