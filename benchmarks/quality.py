"""The quality of a library's model, from its coefficients and the data alone, in float64."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from adatron.certificates import best_multipliers, duality_gap, kkt_violation
from adatron.fitting.layout import from_dual_coef
from adatron.problems import Dual, csvc, svr

ROWS = 2048


class Quality(NamedTuple):
    """The quality over several binary problems: sums of the objectives, the worst of the other numbers."""

    dual_objective: float
    kkt_violation: float
    relative_gap: float
    support_vectors: int
    products: float  # kernel values that any method must compute: sum of n x support vectors


def quality(model: Any, X: Any, y: Any, parameters: dict[str, float], one_vs_rest: bool = False) -> Quality:
    """Recompute the gradient of every binary problem, or of the regression if there is an ``epsilon``."""
    C, gamma = parameters["C"], parameters["gamma"]
    classes, codes = np.unique(y, return_inverse=True)
    if one_vs_rest:
        return _one_vs_rest(model, X, codes, C, gamma)
    dual, support = _dense(model.dual_coef_), np.asarray(model.support_)
    if "epsilon" in parameters:
        program = svr(y, np.full(len(y), C), parameters["epsilon"])
        *proven, products = _proven(program, X, support, dual[0], gamma)
        return Quality(*proven, len(support), products)
    rows = [dual] if len(classes) == 2 else [row[None] for row in from_dual_coef(dual, codes[support], len(classes))]
    problems = [_problem(X, codes, support, row[0], pair, C, gamma)
                for pair, row in zip(combinations(range(len(classes)), 2), rows, strict=True)]  # fmt: skip
    objectives, violations, gaps, products = zip(*problems, strict=True)
    return Quality(sum(objectives), max(violations), max(gaps), len(support), sum(products))


def support_vectors(model: Any) -> int:
    """Return how many samples a model, or any of its models, needs."""
    return len(np.unique(np.concatenate([one.support_ for one in getattr(model, "estimators_", [model])])))


def _one_vs_rest(model: Any, X: Any, codes: Any, C: float, gamma: float) -> Quality:
    """Return the quality with one problem for each class, from a model for each or one with a row for each."""
    models = getattr(model, "estimators_", [model])
    machines = [(np.asarray(one.support_), row) for one in models for row in _dense(one.dual_coef_)]
    programs = [csvc(np.where(codes == code, 1.0, -1.0), np.full(len(codes), C)) for code in range(len(machines))]
    problems = [_proven(dual, X, *machine, gamma) for dual, machine in zip(programs, machines, strict=True)]
    objectives, violations, gaps, products = zip(*problems, strict=True)
    return Quality(sum(objectives), max(violations), max(gaps), support_vectors(model), sum(products))


def _problem(
    X: Any, codes: Any, support: Any, coefficients: Any, pair: tuple[int, int], C: float, gamma: float
) -> tuple[float, float, float, float]:
    """Return dual objective, violation, relative gap and number of products of the pair i < j."""
    members = np.flatnonzero(np.isin(codes, pair))
    y = np.where(codes[members] == pair[1], 1.0, -1.0)
    if codes.max() > 1:  # with several classes the first of a pair is the positive one
        y = -y
    program, place = csvc(y, np.full(len(y), C)), np.full(len(codes), -1)
    place[members] = np.arange(len(members))
    mine = place[support] >= 0
    return _proven(program, X[members], place[support[mine]], coefficients[mine], gamma)


def _proven(dual: Dual, X: Any, support: Any, coefficients: Any, gamma: float) -> tuple[float, float, float, float]:
    """Return dual objective, violation, relative gap and number of products of a program over the rows of X."""
    beta = np.zeros(len(dual))
    beta[support] = coefficients
    beta = np.clip(beta, dual.lower, dual.upper)
    used = np.flatnonzero(beta)
    g = _times(X, X[used], beta[used], gamma) - dual.t
    gap = duality_gap(dual, beta, g, best_multipliers(dual, beta, g))
    value = -dual.objective(beta, g)
    relative = gap / max(1.0, abs(value), abs(value + gap))
    return value, kkt_violation(dual, beta, g), relative, float(len(dual)) * len(used)


def _times(X: Any, Z: Any, beta: Any, gamma: float) -> Any:
    """Return K beta for the RBF kernel."""
    Z = _dense(Z).astype(np.float64)
    center = Z.mean(axis=0)
    Z = Z - center
    norms, out = np.square(Z).sum(axis=1), np.empty(X.shape[0])
    for start in range(0, len(out), ROWS):
        part = _dense(X[start : start + ROWS]).astype(np.float64) - center
        squares = np.square(part).sum(axis=1)[:, None] + norms - 2.0 * (part @ Z.T)
        out[start : start + ROWS] = np.exp(-gamma * np.maximum(squares, 0.0)) @ beta
    return out


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)
