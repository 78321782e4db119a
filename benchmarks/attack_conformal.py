"""Intervals, sets and p-values against naive refits: ties, two to five samples, ranks out of range, infinite ends.

Every refit says how far its values may be off. A number of ours is false if no values within these errors lead to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from tests.twins.values import values

from adatron import SVC, SVR, IncrementalSVC, NuSVR
from adatron.intervals import CVPlus, FullConformal, JackknifePlus

from .attack_programs import Rng, Spec, named, power
from .attack_verdict import Verdict

TIGHT = {"tol": 1e-12, "gap_tol": None, "max_time": 3.0}  # Of refits.
ALIKE, CARE = 1e-12, 10.0  # Fraction of a value that is its rounding, and factor of what gap and violation allow.
SURE = 1e-6  # Fraction of C, or of the margin, from which on a coefficient or a value is on its side of a bound.
ASKED = 4  # Rows that are asked for.
EXPECTED = ("alpha", "needs samples of all classes", "leave each sample out once", "Cannot have number of splits")
EXPECTED = (*EXPECTED, "nu is infeasible", "n_splits", "belong to the same class", "number of classes", "one class")


@dataclass
class Case:
    """Samples, rows that are asked for, and the parameters of a machine; ``classes`` is 0 for a regression."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    rows: NDArray[np.float64]
    spec: Spec
    parameters: dict[str, Any]
    classes: int
    alpha: float
    traits: list[str]


def jackknives(seed: int, number: int) -> Verdict:
    """Compare intervals or sets of a machine with those that refits lead to."""
    rng = np.random.default_rng([seed, number])
    case = _case(rng, 0 if rng.random() < 0.5 else 2)
    machine: Any = SVC if case.classes else SVR if rng.random() < 0.8 else NuSVR
    if machine is NuSVR:
        case.parameters = {**case.parameters, "nu": float(rng.uniform(0.05, 1.0))}
    elif not case.classes:
        scale = max(float(np.abs(case.y).max()), 1e-300)
        case.parameters = {**case.parameters, "epsilon": float(rng.choice([0.0, 0.1 * scale, 1e-3 * scale]))}
    model = machine(**case.parameters, **named(case.spec), **TIGHT)
    n, parts = len(case.y), None
    if rng.random() < 0.6:
        face: Any = JackknifePlus(model, alpha=case.alpha)
        parts = list(np.arange(n)[:, None])
    else:
        order = rng.permutation(n)
        parts = np.array_split(order, int(rng.integers(2, n + 1)))
        face = CVPlus(model, alpha=case.alpha, cv=[(np.setdiff1d(np.arange(n), part), part) for part in parts])
    verdict = _begun(number, type(face).__name__, case)

    def compare() -> None:
        face.fit(case.X, case.y)
        out = face.predict_set(case.rows) if case.classes else face.predict_interval(case.rows)
        _compare_plus(case, model, parts, out, verdict)

    return _tried(compare, verdict)


def conformal(seed: int, number: int) -> Verdict:
    """Compare p-values and sets of full conformal prediction with those that refits lead to."""
    rng = np.random.default_rng([seed, number])
    case = _case(rng, 2 if rng.random() < 0.8 else 3)
    case.parameters = {**case.parameters, "multi_class": "ovr"}
    face = FullConformal(IncrementalSVC(**case.parameters, **named(case.spec)), alpha=case.alpha, verbose=0)
    model = SVC(**case.parameters, **named(case.spec), **TIGHT)
    verdict = _begun(number, "FullConformal", case)

    def compare() -> None:
        face.fit(case.X, case.y)
        found, sets = face.p_values(case.rows), face.predict_set(case.rows)
        _compare_full(case, model, found, sets, verdict)

    return _tried(compare, verdict)


def _begun(number: int, name: str, case: Case) -> Verdict:
    told = f"{name} {case.spec} {case.X.shape} {case.parameters} alpha {case.alpha!r} {', '.join(case.traits)}"
    return Verdict(number, name, case.spec[0], case.traits, told, "converged")


def _tried(compare: Callable[[], None], verdict: Verdict) -> Verdict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compare()
        except ValueError as error:
            verdict.outcome = "refused"
            if not any(reason in str(error) for reason in EXPECTED) or "kth" in str(error):
                verdict.broken.append(f"ValueError: {error}")
        except Exception as error:  # such errors are looked for
            verdict.outcome = "broken"
            verdict.broken.append(f"{type(error).__name__}: {error}")
    return verdict


def ranks(alpha: float, n: int) -> set[int]:
    """Return how many places may be too strange: the fraction alpha of n + 1, read as a binary or a decimal number."""
    return {int(Fraction(one) * (n + 1) // 1) for one in (alpha, repr(alpha))}


def refit(model: Any, X: Any, y: Any, rows: Any, spec: Spec) -> tuple[Any, float] | None:
    """Return the values of a fit at some rows, and how far these may be off; None if the solution leaves them open."""
    one: Any = clone(model).fit(X, y)
    if one.fit_status_:
        return None
    answer = one.decision_function if hasattr(one, "classes_") else one.predict
    found, own = answer(rows), answer(X)
    low, high = np.atleast_1d(one.dual_objective_), np.atleast_1d(one.primal_objective_)
    gap = float(np.maximum(high - low, 2.0**-50 * np.abs(low)).max())
    diagonal = float(np.diagonal(values(spec, np.concatenate([X, rows]))[0]).max())
    size = max(float(np.abs(found).max()), float(np.abs(own).max()), float(np.abs(one.intercept_).max()))
    off = np.sqrt(2.0 * gap * diagonal) + float(np.max(one.kkt_violation_))
    return (found, ALIKE * size + CARE * off) if _settled(one, y, own) else None


def _settled(model: Any, y: Any, own: Any) -> bool:
    """Return whether each problem has a coefficient inside its bounds, or none near the end of the other side.

    Else the bias is the middle of an interval whose ends a rounding may move far.
    """
    C = model.C
    dual = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else np.asarray(model.dual_coef_)
    for k, row in enumerate(dual):
        beta = np.zeros(len(y))
        beta[model.support_] = np.abs(row)
        if ((beta > SURE * C) & (beta < (1.0 - SURE) * C)).any():
            continue
        if not hasattr(model, "classes_"):
            return False
        value = own if own.ndim == 1 else own[:, k]
        side = np.where(y == (model.classes_[1] if own.ndim == 1 else model.classes_[k]), 1.0, -1.0) * value
        if not np.where(beta > 0.5 * C, side < 1.0 - SURE, side > 1.0 + SURE).all():
            return False
    return True


def _compare_plus(case: Case, model: Any, parts: list[Any], got: Any, verdict: Verdict) -> None:
    """Compare intervals or sets with those by the models without each part."""
    n, q = len(case.y), len(case.rows)
    at_rows, own, slack = np.empty((q, n)), np.empty(n), 0.0
    for part in parts:
        rest = np.setdiff1d(np.arange(n), part)
        found = refit(model, case.X[rest], case.y[rest], np.concatenate([case.rows, case.X[part]]), case.spec)
        if found is None:
            verdict.undecided.append(("refit", "the solution without some samples is not unique"))
            return
        at_rows[:, part], own[part], slack = found[0][:q, None], found[0][q:], max(slack, found[1])
    if not case.classes and case.alpha <= 0.5:
        _intervals(case, at_rows, np.abs(case.y - own), slack, got, verdict)
    if not case.classes:
        verdict.claims += q
        if not (got[:, 0] <= got[:, 1] + 4.0 * slack).all():
            verdict.false.append(("ends", f"a lower end above the upper: {got[got[:, 0] > got[:, 1]][0].tolist()}"))
        return
    k, signs = ranks(case.alpha, n), np.array([-1.0, 1.0])
    mine = np.where(case.y == case.y.max(), -own, own)  # the score of the own class
    for row, (theirs, sets) in enumerate(zip(at_rows, got, strict=True)):
        for code in range(2):
            score = -signs[code] * theirs
            most = np.count_nonzero(mine < score + 4.0 * slack)
            least = np.count_nonzero(mine < score - 4.0 * slack)
            verdict.claims += 1
            allowed = {bool(better < n + 1 - one) for one in k for better in (least, most)}
            if bool(sets[code]) not in allowed:
                text = f"row {row}: class {code} is {sets[code]}, refits say {allowed} ({least} to {most} of {n})"
                verdict.false.append(("set", text))


def _intervals(case: Case, at_rows: Any, residuals: Any, slack: float, got: Any, verdict: Verdict) -> None:
    n = len(residuals)
    ends = []
    for k in ranks(case.alpha, n):
        low, high = np.sort(at_rows - residuals, axis=1), np.sort(at_rows + residuals, axis=1)
        open_ = np.full(len(got), np.inf)
        ends.append(np.stack([low[:, k - 1], high[:, n - k]] if k else [-open_, open_], axis=1))
    for row in range(len(got)):
        verdict.claims += 2
        known = [one[row] for one in ends]
        size = ALIKE * max(float(np.abs(case.y).max()), 1e-300)
        if not any(_near(got[row], one, 4.0 * slack + size) for one in known):
            verdict.false.append(("interval", f"row {row}: {got[row].tolist()} instead of {known[0].tolist()}"))


def _near(one: Any, other: Any, slack: float) -> bool:
    return bool(((one == other) | (np.abs(np.where(np.isinf(other), np.inf, one - other)) <= slack)).all())


def _compare_full(case: Case, model: Any, found: Any, sets: Any, verdict: Verdict) -> None:
    n = len(case.y)
    for row, place in enumerate(case.rows):
        X = np.concatenate([case.X, place[None]])
        for code in range(case.classes):
            y = np.append(case.y, code)
            one = refit(model, X, y, X, case.spec)
            if one is None:
                verdict.undecided.append(("refit", "the solution with the candidate is not unique"))
                continue
            decision, slack = one
            both = np.stack([-0.5 * decision, 0.5 * decision], axis=1) if decision.ndim == 1 else decision
            own = both[np.arange(n + 1), y]
            others = np.where(np.arange(case.classes) == y[:, None], -np.inf, both).max(axis=1)
            score = others - own
            ties = [1 + np.count_nonzero(score[:-1] >= score[-1] + far) for far in (4.0 * slack, -4.0 * slack)]
            verdict.claims += 2
            place_of = round(float(found[row, code]) * (n + 1))
            if not ties[0] <= place_of <= ties[1]:
                text = f"row {row}, class {code}: {place_of} of {n + 1} is claimed, refits say {ties[0]} to {ties[1]}"
                verdict.false.append(("p-value", text))
            out = {bool(count <= k) for count in range(ties[0], ties[1] + 1) for k in ranks(case.alpha, n)}
            if bool(~sets[row, code]) not in out:
                verdict.false.append(("set", f"row {row}, class {code}: {sets[row, code]}, {ties} of {n + 1}"))


def _case(rng: Rng, classes: int) -> Case:
    """Return few samples, many of them equal, and a fraction alpha at or beside a rank."""
    n = int(rng.integers(max(2, 2 * classes), 7)) if rng.random() < 0.4 else int(rng.integers(7, 16))
    d = int(rng.integers(1, 4))
    X, rows = rng.normal(size=(n, d)), rng.normal(size=(ASKED, d))
    traits = []
    if rng.random() < 0.35:
        X, rows = np.rint(X), np.rint(rows)
        traits.append("ties")
    if rng.random() < 0.25:
        X = X[rng.integers(0, max(1, n // 2), n)]
        traits.append("duplicates")
    rows[0] = X[0]
    spec: Spec = ("rbf", power(rng, -1.5, 1)) if rng.random() < 0.7 else ("linear",)
    C = power(rng, -2, 2) if rng.random() < 0.7 else power(rng, -12, -6)
    traits += ["C tiny"] * (C < 1e-5)
    alpha = float(rng.uniform(0.02, 0.98))
    if rng.random() < 0.6:
        whole = int(rng.integers(1, n + 1)) / (n + 1)
        near = [whole, whole - 1e-11, whole - 1e-6, 1.0 - 1e-12, 1e-9, round(alpha, 1)]
        alpha = float(np.clip(rng.choice(near), 1e-9, 1.0 - 1e-12))
        traits.append("alpha at a rank")
    if classes:
        y: NDArray[Any] = np.concatenate([np.tile(np.arange(classes), 2), rng.integers(0, classes, n)])[:n]
    else:
        scale = power(rng, -9, 12) if rng.random() < 0.4 else 1.0
        y = scale * (X[:, 0] + rng.normal(size=n) if rng.random() < 0.7 else rng.integers(0, 2, n) * 1.0)
        C = C * scale if rng.random() < 0.5 else C
    return Case(X, y, rows, spec, {"C": C}, classes, alpha, traits)
