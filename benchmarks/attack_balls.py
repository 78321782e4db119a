"""Random balls around samples (SVDD), fitted at once or sample by sample, some far from the origin."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.twins.checker import Program, truth
from tests.twins.values import L, dense, values

from adatron import SVDD, IncrementalSVDD

from .attack_programs import MAX_TIME, Rng, Spec, features, kernel_for, named, power, stored, weights_of
from .attack_verdict import Claims, Verdict, bilinear, fitted, weighed

KERNELS = ["rbf", "linear", "linear", "poly", "laplacian", "composed"]
STEPS, MORE = 6, 20  # Changes in a life, and samples that may come after the first ones.
UNIT = 2.0**-53  # Rounding of a float64.
ALIKE, CARE = 1e-6, 10.0  # Fraction by which two radii may differ, and factor of what a gap allows.
REFUSALS = (
    "SVDD needs samples",
    "C must be at least",
    "C=inf",
    "at least one sample",
    "has no samples",
    "semi-definite kernel",
)


def balls(seed: int, number: int) -> Verdict:
    """Fit a ball, with negatives at times, and check the claims about it."""
    rng = np.random.default_rng([seed, number])
    traits: list[str] = []
    n = int(rng.integers(2, 8) if rng.random() < 0.2 else rng.integers(5, 61))
    X = _placed(rng, n, traits)
    spec = kernel_for(rng, str(rng.choice(KERNELS)), X)
    X, y, weight = stored(rng, X, traits), None, weights_of(rng, n, traits)
    if rng.random() < 0.25:
        y = np.where(rng.random(n) < 0.2, -1, 1)
        traits.append("negatives")
    parameters: dict[str, Any] = {"tol": power(rng, -4, -1) if rng.random() < 0.6 else power(rng, -12, -4)}
    parameters |= {"gap_tol": power(rng, -9, -1)} if rng.random() < 0.4 else {}
    parameters |= _bound(rng, n)
    verdict = Verdict(number, "SVDD", spec[0], traits, f"SVDD {spec} {X.shape} {parameters} {', '.join(traits)}")
    model = fitted(
        partial(SVDD(**parameters, **named(spec), max_time=MAX_TIME).fit, X, y, sample_weight=weight), verdict
    )
    if model is not None:
        program, matrix = of_ball(parameters, spec, X, y, weight, model)
        weighed([program], model, parameters, matrix, verdict)
        _radius(model, program, values(spec, X)[0], verdict)
    return verdict


def ball_lives(seed: int, number: int) -> Verdict:
    """Let a ball learn and unlearn, and check each solution, also against a fit from nothing."""
    rng = np.random.default_rng([seed, number])
    traits, begin = ["life"], int(rng.integers(2, 16))
    X = _placed(rng, begin + MORE, traits)
    spec = kernel_for(rng, str(rng.choice(KERNELS)), X)
    parameters = _bound(rng, begin)
    told = f"IncrementalSVDD {spec} {begin} samples {parameters} {', '.join(traits)}"
    verdict = Verdict(number, "IncrementalSVDD", spec[0], traits, told, "converged")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _live(rng, X, spec, parameters, begin, verdict)
        except ArithmeticError:
            verdict.outcome = "refused"
        except ValueError as error:
            verdict.outcome = "refused"
            if not any(reason in str(error) for reason in REFUSALS):
                verdict.broken.append(f"ValueError: {error}")
    return verdict


def _live(rng: Rng, X: Any, spec: Spec, parameters: dict[str, Any], begin: int, verdict: Verdict) -> None:
    model: Any = IncrementalSVDD(**parameters, **named(spec)).fit(X[:begin], ids=np.arange(begin))
    come = begin
    for step in range(STEPS + 1):
        ids = model.ids_
        check_ball(model, X[ids], spec, parameters, f"after {step} steps: ", verdict)
        count = int(rng.integers(1, 4))
        if rng.random() < 0.5 and len(ids) > count:
            try:
                model.forget(rng.choice(ids, count, replace=False))
            except ValueError as error:  # C may need more samples
                if "C must be at least" not in str(error):
                    raise
        else:
            new = np.arange(come, come + count)
            model.partial_fit(X[new], ids=new)
            come += count
    verdict.outcome = "warned" if model.fit_status_ else "converged"


def check_ball(model: Any, X: Any, spec: Spec, parameters: dict[str, Any], told: str, verdict: Verdict) -> None:
    """Compare what the report proves with the truth, and the radius with that of a fit."""
    report = model.deletion_report()
    program, matrix = of_ball(parameters, spec, X, None, None, model)
    own = truth(program, *matrix)
    claims = Claims(verdict, told, not model.fit_status_, own)
    claims.violation(report["kkt_violation"], np.inf)
    claims.gap(report["duality_gap"], None)
    claims.feasible(report["kkt_violation"])
    near = X - X.mean(axis=0) if bilinear(spec) else X
    batch = SVDD(**parameters, **named(spec), tol=1e-11, max_time=MAX_TIME).fit(near)
    if batch.fit_status_ or model.fit_status_:
        return
    verdict.claims += 1
    program, matrix = of_ball(parameters, spec, near, None, None, batch)
    true = truth(program, *matrix)
    # The distances from the centre are off by sqrt(gap) at most, and so is the middle of what the optimum leaves open.
    gaps = [true.high - true.low, np.inf if np.isinf(report["duality_gap"]) else own.high - own.low]
    off = CARE * (np.sqrt(np.maximum(0.0, gaps)).sum() + UNIT * np.abs(X).max())
    if not abs(model.radius_ - batch.radius_) <= ALIKE * batch.radius_ + off:
        verdict.false.append(("radius", f"{told}{model.radius_:.9g} is claimed, {batch.radius_:.9g} by a fit"))


def of_ball(
    parameters: dict[str, Any], spec: Spec, X: Any, y: Any, weight: Any, model: Any
) -> tuple[Program, tuple[Any, Any]]:
    """Return the program, from its definition, at the coefficients of a model; and K with the errors of its entries.

    The claims are about k(x, x) as float64 rounds it, so that the errors of K have this rounding, too. For a bilinear
    kernel K is of the rows less their mean: coefficients whose sum is 1 have the same ball, and the sum of a model's
    misses 1 by a rounding, which counts more the further the rows are from the origin.
    """
    n = X.shape[0]
    K, error = values(spec, dense(X) - dense(X).mean(axis=0) if bilinear(spec) else X)
    diagonal = np.diagonal(K)
    terms = (X.shape[1] + 4) * (6 if len(spec) > 2 else 1)
    error = error + terms * UNIT * np.abs(diagonal).max()
    dual = np.asarray(model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_)
    beta, sign = np.zeros(n, L), np.ones(n) if y is None else np.asarray(y)
    beta[model.support_] = dual[0].astype(L) / 2
    w = np.ones(n, L) if weight is None else np.asarray(weight).astype(L)
    used = np.flatnonzero(w > 0)
    beta, sign, w = beta[used], sign[used], w[used]
    least = 1 / w[sign > 0].sum()
    C = least / L(parameters["nu"]) if parameters.get("C") is None else max(L(parameters["C"]), least)
    bound = C * w if np.isfinite(C) else np.ones(len(w), L)
    bound = bound if (sign < 0).any() else np.minimum(bound, L(1))
    lower, upper = np.where(sign < 0, -bound, L(0)), np.where(sign < 0, L(0), bound)
    return Program(used, beta, diagonal[used] / 2, lower, upper, (L(1),)), (K, error)


def _radius(model: Any, program: Program, K: Any, verdict: Verdict) -> None:
    """Compare the norm of the centre, which the coefficients alone give."""
    own = K[np.ix_(program.rows, program.rows)]
    square = max(program.beta @ own @ program.beta, L(0))  # negative ones are of kernels that are not valid
    size = np.abs(program.beta) @ np.abs(own) @ np.abs(program.beta)
    slack = (8 * len(program.beta) + 100) * UNIT * (size + np.abs(K).max())
    verdict.claims += 1
    if not abs(L(model.center_norm_) ** 2 - square) <= slack + 1e-9 * square:
        text = f"{model.center_norm_:.9g} is claimed, {np.sqrt(max(0.0, float(square))):.9g} is true"
        verdict.false.append(("norm of the centre", text))


def _bound(rng: Rng, n: int) -> dict[str, Any]:
    kind = rng.random()
    if kind < 0.3:
        return {"C": float(rng.choice([np.inf, 1.0, rng.uniform(1.0 / n, 1.0)]))}
    return {"nu": float(rng.uniform(0.01, 1.0)) if kind < 0.8 else power(rng, -6, 0)}


def _placed(rng: Rng, n: int, traits: list[str]) -> NDArray[np.float64]:
    """Return samples, also few distinct ones, all equal ones, and some far from the origin."""
    X = features(rng, n, traits)[:, :4]
    kind = str(rng.choice(["plain", "duplicates", "all equal", "far away"], p=[0.5, 0.25, 0.05, 0.2]))
    if kind != "plain":
        traits.append(kind)
    if kind == "duplicates":
        return X[rng.integers(0, max(1, n // 3), n)]
    if kind == "far away":
        return X + power(rng, 2, 8) * max(float(np.abs(X).max()), 1e-12)
    return np.tile(X[:1], (n, 1)) if kind == "all equal" else X
