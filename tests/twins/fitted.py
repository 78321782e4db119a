"""The programs behind a fitted model, from scikit-learn's layout of its coefficients. No code of the library."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .checker import Program, Truth, truth
from .values import L, values

DRIFT = 2.0**-42  # relative error of a sum after the steps of a fit, commonly
STORED = 2.0**-52  # relative error of a coefficient that was divided by the margin, and of the margin


class Task(NamedTuple):
    """What a model was fitted to.

    estimator : its name
    parameters : those that its program depends on: C, nu, epsilon, quantile, bias, augment, multi_class
    X : the samples, or None where kernel values were given (equal ones are then not known)
    y : classes or targets, or None
    weight : (n,) or None
    """

    estimator: str
    parameters: dict[str, Any]
    X: Any
    y: Any
    weight: Any = None


def truths(model: Any, kernel: tuple[Any, ...], X: Any, y: Any = None, weight: Any = None, **more: Any) -> list[Truth]:
    """What is true of each binary problem of a fitted model."""
    name = type(model).__name__.removeprefix("Incremental")
    task = Task(name, {**model.get_params(), **more}, None if kernel[0] == "given" else X, y, weight)
    K, error = values(kernel, X)
    return [truth(one, K, error) for one in programs(task, model) if one is not None]


def true_claims(model: Any, *given: Any, objectives: bool = True, **more: Any) -> list[Truth]:
    """What is true, after a check that no number which the model proves is better. A gap of nan claims nothing."""
    found = truths(model, *given, **more)
    assert len(found) == np.size(model.kkt_violation_)
    for k, true in enumerate(found):
        names = ("kkt_violation_", "duality_gap_", "dual_objective_", "primal_objective_")
        violation, gap, dual, primal = (float(np.atleast_1d(getattr(model, name))[k]) for name in names)
        assert violation >= true.violation.least * (1 - 1e-9)
        assert not gap < true.gap.least * (1 - 1e-9)
        assert not objectives or (dual <= true.high and primal >= true.low)
    return found


def programs(task: Task, model: Any) -> list[Program | None]:
    """Each binary problem at the model's coefficients; None where a side is empty, so that nothing is to be solved."""
    dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else np.asarray(model.dual_coef_)
    n, support = model.shape_fit_[0], np.asarray(model.support_)
    weight = np.ones(n, L) if task.weight is None else np.asarray(task.weight).astype(L)
    if task.estimator in ("SVC", "NuSVC"):
        return _classifier(task, model, dual.astype(L), support, weight)
    beta = np.zeros(n, L)
    beta[support] = dual[0]
    used = np.flatnonzero(weight > 0)
    beta, weight = beta[used], weight[used]
    if task.estimator == "OneClassSVM":
        unit = _unit(task, np.zeros(n, int), used, weight)
        w = weight / unit
        return [Program(used, beta / unit, 0 * w, 0 * w, w, (L(task.parameters["nu"]) * w.sum(),), unit=unit)]
    if task.estimator == "SVDD":  # values of k(x, x) are taken as float64 rounds them
        bound = np.minimum(L(1.0), 1 / (L(task.parameters["nu"]) * len(used)))
        half = L(0.5) * model.kernel_.diagonal((task.X[used] ** 2).sum(axis=1)).astype(L)
        return [Program(used, beta / 2, half, 0 * beta, bound + 0 * beta, (L(1),))]
    make = {"SVR": _svr, "NuSVR": _nusvr, "QuantileSVR": _quantile}[task.estimator]
    return [make(task.parameters, used, beta, np.asarray(task.y).astype(L)[used], weight)]


def squared(p: Program) -> Program:
    """The program of the same errors, each of which costs C times its square, without a bound: R = 1 / (2 C)."""
    lower, upper = np.where(p.lower < 0, -np.inf, p.lower), np.where(p.upper > 0, np.inf, p.upper)
    return p._replace(lower=lower, upper=upper, ridge=0.5 / np.maximum(-p.lower, p.upper))


def _lambda2(parameters: dict[str, Any]) -> Any:
    return L(parameters.get("augment", 1.0)) ** 2 if parameters.get("bias") == "augmented" else L(0)


def _svr(parameters: dict[str, Any], rows: Any, beta: Any, y: Any, weight: Any) -> Program:
    C = L(parameters["C"]) * weight
    totals = (L(0),) if parameters.get("bias", "explicit") == "explicit" else ()
    own = {"epsilon": parameters["epsilon"], "lambda2": _lambda2(parameters)}
    return Program(rows, beta, y, -C, C, totals, **own)


def _quantile(parameters: dict[str, Any], rows: Any, beta: Any, y: Any, weight: Any) -> Program:
    C, q = L(parameters["C"]) * weight, L(parameters["quantile"])
    return Program(rows, beta, y, -C * (1 - q), C * q, (L(0),))


def _nusvr(parameters: dict[str, Any], rows: Any, beta: Any, y: Any, weight: Any) -> Program:
    """A coefficient is the sum of one >= 0 and one <= 0. Where the sums want more of both, the checker adds to both."""
    n, C = len(rows), L(parameters["C"]) * weight
    total = L(parameters["nu"]) * C.sum()
    plus, minus = np.maximum(beta, 0), np.minimum(beta, 0)
    lacking = 0.5 * (total - plus.sum() + minus.sum())
    both = np.concatenate([plus, minus])
    y, zero = np.concatenate([y, y]), 0 * C
    bounds = np.concatenate([zero, -C]), np.concatenate([C, zero])
    rows = np.concatenate([rows, rows])
    own = {"lambda2": _lambda2(parameters), "lacking": lacking if lacking > n * 2.0**-50 * total else 0}
    if parameters.get("bias", "explicit") == "explicit":
        return Program(rows, both, y, *bounds, (total / 2, -total / 2), np.repeat([0, 1], n), **own)
    return Program(rows, both, y, *bounds, (total,), 0, np.repeat([1, -1], n), **own)


def _classifier(task: Task, model: Any, dual: Any, support: Any, weight: Any) -> list[Program | None]:
    classes, codes = np.unique(np.asarray(task.y), return_inverse=True)
    weight = weight * np.asarray(model.class_weight_).astype(L)[codes]
    k, used = len(classes), np.flatnonzero(weight > 0)
    unit = _unit(task, codes, used, weight[used]) if task.estimator == "NuSVC" else 1.0
    weight = weight / L(unit)
    out = []
    if k == 2 or task.parameters.get("multi_class") == "ovr":
        for c in [1] if k == 2 else range(k):
            beta = np.zeros(len(codes), L)
            beta[support] = dual[0 if k == 2 else c]
            out.append(_binary(task, used, beta[used], np.where(codes[used] == c, L(1), L(-1)), weight[used]))
        return [one and one._replace(unit=unit) for one in out]
    for i, j in combinations(range(k), 2):
        beta = np.zeros(len(codes), L)
        beta[support] = np.where(codes[support] == i, dual[j - 1], np.where(codes[support] == j, dual[i], 0.0))
        pair = used[(codes[used] == i) | (codes[used] == j)]
        out.append(_binary(task, pair, beta[pair], np.where(codes[pair] == i, L(1), L(-1)), weight[pair]))
    return [one and one._replace(unit=unit) for one in out]


def _binary(task: Task, rows: Any, beta: Any, y: Any, weight: Any) -> Program | None:
    """C-SVC, or nu-SVC before the division by the margin, which the sum of the coefficients tells."""
    if not ((y > 0).any() and (y < 0).any()):
        return None
    own: dict[str, Any] = {"lambda2": _lambda2(task.parameters)}
    explicit = task.parameters.get("bias", "explicit") == "explicit"
    if task.estimator == "SVC":
        C = L(task.parameters["C"]) * weight
        bounds = np.minimum(y * C, 0), np.maximum(y * C, 0)
        hard = not np.isfinite(task.parameters["C"])
        return Program(rows, beta, y, *bounds, (L(0),) if explicit else (), hard=hard, **own)
    total, length = L(task.parameters["nu"]) * weight.sum(), np.abs(beta).sum()
    if length == 0.0:
        return None
    bounds = np.minimum(y * weight, 0), np.maximum(y * weight, 0)
    beta = beta * (total / length)
    own["fuzzy"] = STORED
    if explicit:
        program = Program(rows, beta, 0 * y, *bounds, (total / 2, -total / 2), (y < 0).astype(int), **own)
    else:
        program = Program(rows, beta, 0 * y, *bounds, (total,), 0, y, **own)
    return at_bounds(program, DRIFT)


def at_bounds(program: Program, drift: float) -> Program:
    """The program with a unit that is read off the bounds, if one is met, not off a sum that the steps have let drift.

    The sum tells the unit up to that drift. A coefficient at its bound would be beyond it, or a rounding inside it, and
    then count as free. The drift itself stands in what the sums miss.
    """
    met = (np.abs(program.beta) / np.maximum(-program.lower, program.upper)).max()
    return program._replace(beta=program.beta / met) if abs(met - 1) <= drift else program


def _unit(task: Task, codes: Any, used: Any, weight: Any) -> float:
    """The power of two by which programs that only weights bound divide them: those of distinct samples are about 1."""
    if task.X is not None:
        rows = task.X.toarray() if sparse.issparse(task.X) else np.asarray(task.X)
        keys = np.column_stack([codes[used], rows[used].astype(np.float64) + 0.0])
        _, group = np.unique(keys, axis=0, return_inverse=True)
        weight = np.bincount(group.ravel(), weight.astype(np.float64))
    weight = np.asarray(weight, np.float64)
    return float(2.0 ** np.round(np.log2(weight.max()) + np.log2((weight / weight.max()).mean())))
