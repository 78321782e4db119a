"""Intervals, sets and p-values against naive refits: ties, two to five samples, ranks out of range, infinite ends.

Every refit says how far its values may be off: by any amount where the solution is not unique. A number of ours is
false if no values within these errors lead to it, and undecided if all do.
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
EXPECTED = (
    "alpha", "needs samples of all classes", "leave each sample out once", "Cannot have number of splits",
    "nu is infeasible", "n_splits", "belong to the same class", "number of classes", "one class",
)  # fmt: skip


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
    """Return how many of n + 1 places may be too strange: the fraction alpha of them, or one that rounds to it."""
    exact = int(Fraction(alpha) * (n + 1) // 1)
    return {exact, exact + ((exact + 1) / (n + 1) <= alpha)}


def refit(model: Any, X: Any, y: Any, rows: Any, spec: Spec) -> tuple[Any, float]:
    """Return the values of a fit at some rows, and how far these may be off."""
    one: Any = clone(model).fit(X, y)
    answer = one.decision_function if hasattr(one, "classes_") else one.predict
    found, own = answer(rows), answer(X)
    low, high = np.atleast_1d(one.dual_objective_), np.atleast_1d(one.primal_objective_)
    gap = float(np.maximum(high - low, 2.0**-50 * np.abs(low)).max())
    diagonal = float(np.diagonal(values(spec, np.concatenate([X, rows]))[0]).max())
    size = max(float(np.abs(found).max()), float(np.abs(own).max()), float(np.abs(one.intercept_).max()))
    off = np.sqrt(2.0 * gap * diagonal) + float(np.max(one.kkt_violation_))
    return found, ALIKE * size + CARE * off if _settled(one, y, own) else np.inf


def _settled(model: Any, y: Any, own: Any) -> bool:
    """Return whether each problem has a coefficient inside its bounds, or none near the end of the other side.

    Else the bias is the middle of an interval whose ends a rounding may move far. With nu the half-width of the tube is
    open, too, so that a coefficient of each sign is needed.
    """
    C = model.C
    dual = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else np.asarray(model.dual_coef_)
    for k, row in enumerate(dual):
        free = (np.abs(row) > SURE * C) & (np.abs(row) < (1.0 - SURE) * C)
        if isinstance(model, NuSVR):
            if not ((free & (row > 0)).any() and (free & (row < 0)).any()):
                return False
            continue
        if free.any():
            continue
        if not hasattr(model, "classes_"):
            return False
        beta = np.zeros(len(y))
        beta[model.support_] = np.abs(row)
        value = own if own.ndim == 1 else own[:, k]
        side = np.where(y == (model.classes_[1] if own.ndim == 1 else model.classes_[k]), 1.0, -1.0) * value
        if not np.where(beta > 0.5 * C, side < 1.0 - SURE, side > 1.0 + SURE).all():
            return False
    return True


def _compare_plus(case: Case, model: Any, parts: list[Any], got: Any, verdict: Verdict) -> None:
    """Compare intervals or sets with those by the models without each part."""
    n, q = len(case.y), len(case.rows)
    at_rows, own, slack = np.empty((q, n)), np.empty(n), np.empty(n)
    for part in parts:
        rest = np.setdiff1d(np.arange(n), part)
        asked = np.concatenate([case.rows, case.X[part]])
        found, slack[part] = refit(model, case.X[rest], case.y[rest], asked, case.spec)
        at_rows[:, part], own[part] = found[:q, None], found[q:]
    if not case.classes:
        _intervals(case, at_rows, np.abs(case.y - own), slack, got, verdict)
        return
    signs, mine = np.array([-1.0, 1.0]), np.where(case.y == case.y.max(), -own, own)  # the score of the own class
    for row, (theirs, sets) in enumerate(zip(at_rows, got, strict=True)):
        for code in range(2):
            score = -signs[code] * theirs - mine
            better = {int(np.count_nonzero(score > far)) for far in (4.0 * slack, -4.0 * slack)}
            in_set(case, f"row {row}, class {code}", bool(sets[code]), range(min(better), max(better) + 1), verdict)


def in_set(case: Case, where: str, inside: bool, better: range, verdict: Verdict) -> None:
    """Compare whether a class is in a set: ``better`` are the possible numbers of samples that agree better."""
    n = len(case.y)
    right = {count < n + 1 - k for count in better for k in ranks(case.alpha, n)}
    verdict.claims += 1
    if inside not in right:
        verdict.false.append(("set", f"{where}: {inside}, but refits say {better.start} to {better.stop - 1} of {n}"))
    elif len(right) > 1:
        verdict.undecided.append(("set", where))


def _intervals(case: Case, at_rows: Any, residuals: Any, slack: Any, got: Any, verdict: Verdict) -> None:
    """Compare the ends with places in the order of the least and of the largest possible values.

    Beyond alpha = 1/2 the ends may cross; the interval is then empty, or a point between them.
    """
    n, far = len(residuals), 2.0 * slack + ALIKE * max(float(np.abs(case.y).max()), 1e-300)

    def ends(k: int, row: Any) -> list[tuple[float, float]]:
        low, high = row - residuals, row + residuals
        if k == 0:
            return [(-np.inf, -np.inf), (np.inf, np.inf)]
        return [
            (float(np.sort(own - far)[at]), float(np.sort(own + far)[at])) for own, at in ((low, k - 1), (high, n - k))
        ]

    for row in range(len(got)):
        known = [ends(k, at_rows[row]) for k in ranks(case.alpha, n)]
        crossing = any(low[1] > high[0] for low, high in known)
        verdict.claims += 2
        if not got[row, 0] <= got[row, 1]:
            verdict.false.append(("ends", f"row {row}: {got[row].tolist()}"))
        elif not any(_between(got[row], pair) or (crossing and _within(got[row], pair)) for pair in known):
            verdict.false.append(("interval", f"row {row}: {got[row].tolist()} instead of {known[0]}"))
        elif any(np.isinf(end).any() and end[0] < end[1] for pair in known for end in pair):
            verdict.undecided.append(("interval", f"row {row}"))


def _within(got: Any, pair: list[tuple[float, float]]) -> bool:
    """Return whether an interval is between ends that may cross."""
    low, high = pair
    return high[0] <= got[0] <= low[1]


def _between(got: Any, pair: list[tuple[float, float]]) -> bool:
    return all(least <= one <= most for one, (least, most) in zip(got, pair, strict=True))


def _compare_full(case: Case, model: Any, found: Any, sets: Any, verdict: Verdict) -> None:
    """Compare p-values and sets with those by a fit to all samples and each candidate."""
    n = len(case.y)
    for row, place in enumerate(case.rows):
        X = np.concatenate([case.X, place[None]])
        for code in range(case.classes):
            y = np.append(case.y, code)
            decision, slack = refit(model, X, y, X, case.spec)
            both = np.stack([-0.5 * decision, 0.5 * decision], axis=1) if decision.ndim == 1 else decision
            own = both[np.arange(n + 1), y]
            others = np.where(np.arange(case.classes) == y[:, None], -np.inf, both).max(axis=1)
            score = (others - own)[:-1] - (others - own)[-1]
            stranger = range(np.count_nonzero(score >= 4.0 * slack), np.count_nonzero(score >= -4.0 * slack) + 1)
            where, count = f"row {row}, class {code}", round(float(found[row, code]) * (n + 1)) - 1
            verdict.claims += 1
            if count not in stranger:
                text = f"{where}: {count} are as strange, refits say {stranger.start} to {stranger.stop - 1} of {n}"
                verdict.false.append(("p-value", text))
            elif len(stranger) > n:
                verdict.undecided.append(("p-value", where))
            in_set(case, where, bool(sets[row, code]), range(n + 1 - stranger.stop, n + 1 - stranger.start), verdict)


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
