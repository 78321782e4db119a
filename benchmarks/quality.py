"""The quality of a library's model, from its coefficients and the data alone, in float64."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from adatron.certificates import best_multipliers, duality_gap, kkt_violation, relative
from adatron.model.layout import from_dual_coef
from adatron.problems import Dual, csvc, nusvc, nusvr, svr

ROWS_AT_A_TIME = 2048
ROUNDING_UNIT = 1e-6  # Part of a bound by which a coefficient may miss it, and still be on it: float32 knows no better.

Values = Callable[[Any, Any], Any]  # (m, d) points and (n, d) rows to (m, n) kernel values


class Quality(NamedTuple):
    """The quality over several binary problems: sums of the objectives, the worst of the other numbers."""

    dual_objective: float
    kkt_violation: float | None
    relative_gap: float
    support_vectors: int
    products: float  # kernel values that any method must compute: sum of n x support vectors


def quality(
    model: Any, X: Any, y: Any, parameters: dict[str, Any], machine: str = "SVC", one_vs_rest: bool = False
) -> Quality:
    """Recompute the gradient of every program of a machine."""
    values = _kernel(parameters)
    if machine == "SVC":
        return _classes(model, X, y, parameters["C"], values, one_vs_rest)
    support, coefficients = np.asarray(model.support_), _dense(model.dual_coef_)[0].astype(np.float64)
    C, nu = np.full(len(y), parameters.get("C", 1.0)), parameters.get("nu")
    if machine == "NuSVC":
        program = nusvc(np.where(y == np.unique(y)[1], 1.0, -1.0), C, nu)
        coefficients = _with_sums(coefficients, program.totals[0])  # a model's are divided by half of its margin
    elif machine == "NuSVR":
        return _tube(nusvr(y, C, nu), X, support, coefficients, values)
    else:
        program = svr(y, C, parameters["epsilon"])
    *proven, products = _proven(program, X, support, coefficients, values)
    return Quality(*proven, len(support), products)


def _classes(model: Any, X: Any, y: Any, C: float, values: Values, one_vs_rest: bool) -> Quality:
    classes, codes = np.unique(y, return_inverse=True)
    if one_vs_rest:
        return _one_vs_rest(model, X, codes, C, values)
    dual, support = _dense(model.dual_coef_), np.asarray(model.support_)
    rows = [dual] if len(classes) == 2 else [row[None] for row in from_dual_coef(dual, codes[support], len(classes))]
    problems = [_problem(X, codes, support, row[0], pair, C, values)
                for pair, row in zip(combinations(range(len(classes)), 2), rows, strict=True)]  # fmt: skip
    objectives, violations, gaps, products = zip(*problems, strict=True)
    return Quality(sum(objectives), max(violations), max(gaps), len(support), sum(products))


def support_vectors(model: Any) -> int:
    """Return how many samples a model, or any of its models, needs."""
    return len(np.unique(np.concatenate([one.support_ for one in getattr(model, "estimators_", [model])])))


def _one_vs_rest(model: Any, X: Any, codes: Any, C: float, values: Values) -> Quality:
    """Return the quality with one problem for each class, from a model for each or one with a row for each."""
    models = getattr(model, "estimators_", [model])
    machines = [(np.asarray(one.support_), row) for one in models for row in _dense(one.dual_coef_)]
    programs = [csvc(np.where(codes == code, 1.0, -1.0), np.full(len(codes), C)) for code in range(len(machines))]
    problems = [_proven(dual, X, *machine, values) for dual, machine in zip(programs, machines, strict=True)]
    objectives, violations, gaps, products = zip(*problems, strict=True)
    return Quality(sum(objectives), max(violations), max(gaps), support_vectors(model), sum(products))


def _problem(
    X: Any, codes: Any, support: Any, coefficients: Any, pair: tuple[int, int], C: float, values: Values
) -> tuple[float, float, float, float]:
    """Return dual objective, violation, relative gap and number of products of the pair i < j."""
    members = np.flatnonzero(np.isin(codes, pair))
    y = np.where(codes[members] == pair[1], 1.0, -1.0)
    if codes.max() > 1:  # with several classes the first of a pair is the positive one
        y = -y
    program, place = csvc(y, np.full(len(y), C)), np.full(len(codes), -1)
    place[members] = np.arange(len(members))
    mine = place[support] >= 0
    return _proven(program, X[members], place[support[mine]], coefficients[mine], values)


def _with_sums(coefficients: Any, total: float) -> Any:
    """Scale the positive ones and the negative ones, so that each sum to a total."""
    sums = [max(1e-300, float(np.abs(coefficients[side]).sum())) for side in (coefficients > 0, coefficients < 0)]
    return coefficients * np.where(coefficients > 0, total / sums[0], total / sums[1])


def _tube(dual: Dual, X: Any, support: Any, coefficients: Any, values: Values) -> Quality:
    """Return the quality of a nu-SVR without the violation, which its coefficients alone do not say.

    A coefficient is the sum of two variables. What the two sums of variables miss is spread over all pairs, which
    changes neither the coefficients nor the objective.
    """
    n, total = len(dual) // 2, dual.totals[0]
    beta, C = np.zeros(n), dual.upper[0]
    beta[support] = np.clip(coefficients, -C, C)
    size = [beta[side].sum() for side in (beta > 0, beta < 0)]
    beta = np.where(beta > 0, beta * min(1.0, total / max(1e-300, size[0])), beta)
    beta = np.where(beta < 0, beta * min(1.0, total / max(1e-300, -size[1])), beta)
    halves = [np.maximum(0.0, beta), np.maximum(0.0, -beta)]
    both = [half + (total - half.sum()) * (C - half) / max(1e-300, (C - half).sum()) for half in halves]
    used = np.flatnonzero(beta)
    g = np.tile(_times(X, X[used], beta[used], values), 2) - dual.t
    point = np.concatenate([both[0], -both[1]])
    gap = duality_gap(dual, point, g, best_multipliers(dual, point, g))
    value = -dual.objective(point, g)
    return Quality(value, None, relative(gap, value), len(support), float(n) * len(used))


def _proven(dual: Dual, X: Any, support: Any, coefficients: Any, values: Values) -> tuple[float, float, float, float]:
    """Return dual objective, violation, relative gap and number of products of a program over the rows of X."""
    beta = np.zeros(len(dual))
    beta[support] = coefficients
    beta = np.clip(beta, dual.lower, dual.upper)
    used = np.flatnonzero(beta)
    g = _times(X, X[used], beta[used], values) - dual.t
    gap = duality_gap(dual, beta, g, best_multipliers(dual, beta, g))
    value = -dual.objective(beta, g)
    return value, kkt_violation(dual, _settled(dual, beta), g), relative(gap, value), float(len(dual)) * len(used)


def _settled(dual: Dual, beta: Any) -> Any:
    """Return coefficients with those on their bounds that miss them by rounding: these are not free."""
    for bound in (np.zeros(len(beta)), dual.lower, dual.upper):
        beta = np.where(np.abs(beta - bound) <= ROUNDING_UNIT * (dual.upper - dual.lower), bound, beta)
    return beta


def _times(X: Any, Z: Any, beta: Any, values: Values) -> Any:
    """Return K beta."""
    Z, out = _dense(Z).astype(np.float64), np.zeros(X.shape[0])
    if not len(beta):
        return out
    for start in range(0, len(out), ROWS_AT_A_TIME):
        some = slice(start, start + ROWS_AT_A_TIME)
        out[some] = values(_dense(X[some]).astype(np.float64), Z) @ beta
    return out


def _kernel(parameters: dict[str, Any]) -> Values:
    gamma, name = parameters.get("gamma", 1.0), parameters.get("kernel", "rbf")
    degree, coef0 = parameters.get("degree", 3), parameters.get("coef0", 0.0)

    def rbf(A: Any, B: Any) -> Any:
        center = B.mean(axis=0)
        A, B = A - center, B - center
        squares = np.square(A).sum(axis=1)[:, None] + np.square(B).sum(axis=1) - 2.0 * (A @ B.T)
        return np.exp(-gamma * np.maximum(squares, 0.0))

    return {"rbf": rbf, "linear": lambda A, B: A @ B.T, "poly": lambda A, B: (gamma * (A @ B.T) + coef0) ** degree}[
        name
    ]


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)
