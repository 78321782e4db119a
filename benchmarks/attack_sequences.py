"""Incremental machines with nu, and balls, in sequences of 300 steps, each solution against the checker and refits.

Samples stand at few places, so that many are equal and some have opposite labels at one point. Now and then a whole
class is forgotten, or all samples but two.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import adatron

from .attack_balls import REFUSALS, check_ball
from .attack_lives import Life, check, refuse_others
from .attack_programs import Rng, Spec, named, power
from .attack_verdict import Verdict

KINDS = {"OneClassSVM": 0.4, "NuSVC": 0.4, "SVDD": 0.2}
STEPS, CHECKED, MOST = 300, 20, 40  # Changes, those from one check to the next, and most samples at a time.
PLACES = 12  # Most places at which samples stand, apart from the further ones of a sequence without ties.


def sequences(seed: int, number: int) -> Verdict:
    """Let a machine learn and unlearn for 300 steps."""
    rng = np.random.default_rng([seed, number])
    estimator = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    one = _sequence(rng, estimator)
    name = f"Incremental{estimator}"
    told = f"{name} {one.spec} {one.X.shape} {one.parameters} {', '.join(one.traits)}"
    verdict = Verdict(number, name, one.spec[0], one.traits, told, "converged")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _live(one, rng, verdict)
        except ArithmeticError:
            verdict.outcome = "refused"
        except Exception as error:  # such errors are looked for
            verdict.outcome = "broken"
            verdict.broken.append(f"{type(error).__name__}: {error}")
    return verdict


def _sequence(rng: Rng, estimator: str) -> Life:
    n, d = 3 * STEPS + MOST, int(rng.integers(1, 4))
    X, traits = rng.normal(size=(n, d)), ["sequence"]
    shape = str(rng.choice(["plain", "few places", "whole numbers", "mixed"], p=[0.15, 0.4, 0.2, 0.25]))
    traits += [shape] * (shape != "plain")
    few = X[rng.integers(0, int(rng.integers(1, PLACES + 1)), n)]
    if shape in ("few places", "mixed"):
        X = np.where(rng.random((n, 1)) < (0.5 if shape == "mixed" else 1.0), few, X)
    X = np.rint(X) if shape == "whole numbers" else X
    spec: Spec = [("rbf", power(rng, -1.5, 1)), ("linear",), ("poly", power(rng, -1, 0), 2, 1.0)][
        rng.choice(3, p=[0.6, 0.2, 0.2])
    ]
    parameters = {**named(spec), "nu": float(rng.choice([rng.uniform(0.05, 0.9), 0.5, 0.25, power(rng, -4, 0)]))}
    if estimator == "NuSVC":
        parameters["bias"] = str(rng.choice(["explicit", "augmented", "none"], p=[0.8, 0.1, 0.1]))
    y = np.where(rng.random(n) < 0.5, 1, 0)
    y[:2] = 0, 1
    return Life(estimator, parameters, X, y, np.ones(n), int(rng.integers(4, 16)), spec, traits)


def _live(one: Life, rng: Rng, verdict: Verdict) -> None:
    model: Any = getattr(adatron, verdict.estimator)(**one.parameters)
    first = np.arange(one.begin)
    try:
        _begin(one, model, first)
    except ValueError as error:
        _refuse(error)
        verdict.outcome = "refused"
        return
    come = one.begin
    for step in range(1, STEPS + 1):
        try:
            come = _step(one, model, rng, come)
        except ValueError as error:
            _refuse(error)
        if step % CHECKED == 0:
            _check(one, model, f"after {step} steps", verdict)
    verdict.outcome = "warned" if model.fit_status_ else "converged"


def _begin(one: Life, model: Any, ids: Any) -> None:
    model.fit(*(one.samples(ids) if one.estimator == "NuSVC" else (one.X[ids],)), ids=ids)


def _step(one: Life, model: Any, rng: Rng, come: int) -> int:
    """Learn or forget one to three samples, or a class; return the number of samples that have come."""
    ids, count, kind = model.ids_, int(rng.integers(1, 4)), rng.random()
    if kind < 0.02 and one.estimator == "NuSVC":
        gone = ids[one.y[ids] == rng.integers(0, 2)]
        if 0 < len(gone) < len(ids):
            model.forget(gone)
        return come
    if kind < 0.03 and len(ids) > 2:
        model.forget(ids[2:])
        return come
    if (kind < 0.5 and len(ids) > count + 1) or len(ids) + count > MOST:
        model.forget(rng.choice(ids, count, replace=False))
        return come
    new = np.arange(come, come + count)
    model.partial_fit(*(one.samples(new) if one.estimator == "NuSVC" else (one.X[new],)), ids=new)
    return come + count


def _check(one: Life, model: Any, told: str, verdict: Verdict) -> None:
    if one.estimator == "SVDD":
        parameters = {"nu": one.parameters["nu"]}
        check_ball(model, one.X[model.ids_], one.spec, parameters, f"{told}: ", verdict)
    elif len(model.ids_):
        check(one, model, told, verdict)


def _refuse(error: ValueError) -> None:
    """Raise an error unless it says that the samples have no solution."""
    if not any(reason in str(error) for reason in REFUSALS):
        refuse_others(error)
