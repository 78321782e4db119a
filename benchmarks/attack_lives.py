"""Random lives of incremental models, most of them at bends: each solution against the checker and against refits.

A model learns and forgets samples and changes its C. Many have epsilon=0, equal targets, equal samples, or a C so tiny
or a nu so large that nearly all samples are at their bounds. At the end each sample is left out, and deleted.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.twins.checker import truth
from tests.twins.fitted import Task, at_bounds, programs
from tests.twins.values import U, values

import adatron
from adatron.insight import influence, leave_one_out

from .attack_programs import Rng, Spec, named, power
from .attack_verdict import SUMS, Claims, Verdict, bilinear, values_of

KINDS = {"SVC": 0.2, "SVR": 0.45, "NuSVC": 0.15, "OneClassSVM": 0.2}
STEPS, MORE = 4, 12  # Changes in a life, and samples that may come after the first ones.
UNSOLVABLE = ("nu is infeasible", "belong to the same class")  # Of errors that are no faults.
TIGHT = 1e-11  # Tolerance of the refits.
ALIKE = 1e-6  # Fraction of the largest value by which two values may differ.
CARE = 10.0  # Factor of what the gap and the violation of a refit allow.
Ids = NDArray[np.int64]


@dataclass
class Life:
    """The samples that may come, ``begin`` of which come first, and the parameters."""

    estimator: str
    parameters: dict[str, Any]
    X: Any
    y: Any
    weight: NDArray[np.float64]
    begin: int
    spec: Spec
    traits: list[str]

    @property
    def supervised(self) -> bool:
        return self.estimator != "OneClassSVM"

    def samples(self, ids: Ids) -> tuple[Any, ...]:
        return (self.X[ids], self.y[ids]) if self.supervised else (self.X[ids],)

    def refit(self, ids: Ids) -> Any:
        """Return a fit to some samples; None if it is refused or does not converge."""
        model = getattr(adatron, self.estimator)(tol=TIGHT, **self.parameters)
        try:
            model.fit(*self.samples(ids), sample_weight=self.weight[ids])
        except ValueError as error:
            refuse_others(error)
            return None
        return None if model.fit_status_ else model

    def two_sided(self, ids: Ids) -> bool:
        return "SVC" not in self.estimator or len(np.unique(self.y[ids])) == 2


def refuse_others(error: ValueError) -> None:
    """Raise an error unless it says that samples, perhaps all but one of them, have no solution."""
    if not any(reason in str(error) for reason in UNSOLVABLE):
        raise error


def life(rng: Rng) -> Life:
    """Return random samples and parameters."""
    estimator = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    traits, begin, d = ["life"], int(rng.integers(2, 16)), int(rng.integers(1, 4))
    n = begin + MORE
    X = rng.normal(size=(n, d))
    shape = str(rng.choice(["plain", "duplicates", "whole numbers", "all equal"], p=[0.4, 0.3, 0.2, 0.1]))
    if shape == "duplicates":
        X = X[rng.integers(0, n // 3, n)]
    X = np.rint(X) if shape == "whole numbers" else np.ones_like(X) if shape == "all equal" else X
    spec = [("rbf", power(rng, -1.5, 1)), ("linear",), ("poly", power(rng, -1, 0), 2, 1.0)][
        rng.choice(3, p=[0.6, 0.2, 0.2])
    ]
    parameters: dict[str, Any] = named(spec)
    if estimator != "OneClassSVM":
        parameters["bias"] = str(rng.choice(["explicit", "augmented", "none"], p=[0.8, 0.1, 0.1]))
    if estimator in ("SVC", "SVR"):
        low, high = ((-3, 2), (-12, 0), (0, 5))[rng.integers(3)]
        parameters["C"] = power(rng, low, high)
    else:
        parameters["nu"] = float(rng.choice([rng.uniform(0.01, 1.0), 0.5, 0.25, power(rng, -6, 0)]))
    if estimator == "SVR":
        parameters["epsilon"] = float(rng.choice([0.0, 1e-9, 0.1, 3.0], p=[0.6, 0.1, 0.2, 0.1]))
        traits += ["epsilon 0"] * (parameters["epsilon"] == 0.0)
    y = rng.integers(0, 2, n) if "SVC" in estimator else _targets(rng, X)
    if "SVC" in estimator:
        y[:2] = 0, 1
    weighted = "nu" not in parameters and rng.random() < 0.2
    weight = rng.integers(1, 4, n).astype(np.float64) if weighted else np.ones(n)
    return Life(estimator, parameters, X, y, weight, begin, spec, traits)


def _targets(rng: Rng, X: Any) -> Any:
    kind = rng.integers(4)
    n = len(X)
    return [rng.normal(size=n), np.ones(n), rng.integers(0, 3, n).astype(np.float64), X[:, 0].copy()][kind]


def lived(seed: int, number: int) -> Verdict:
    """Live the life of a number, and check every solution."""
    rng = np.random.default_rng([seed, number])
    one = life(rng)
    name = f"Incremental{one.estimator}"
    told = f"{name} {one.spec} {one.begin} samples {one.parameters}"
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


def _live(one: Life, rng: Rng, verdict: Verdict) -> None:
    model, first = getattr(adatron, verdict.estimator)(**one.parameters), np.arange(one.begin)
    try:
        model.fit(*one.samples(first), sample_weight=one.weight[first], ids=first)
    except ValueError:
        verdict.outcome = "refused"
        return
    check(one, model, "at first", verdict)
    come = one.begin
    for _ in range(STEPS):
        try:
            told, come = _step(one, model, rng, come)
        except ValueError as error:
            if "nu is infeasible" not in str(error):
                raise
            continue
        check(one, model, told, verdict)
    _leave_out(one, model, verdict)
    if model.fit_status_:
        verdict.outcome = "warned"


def _step(one: Life, model: Any, rng: Rng, come: int) -> tuple[str, int]:
    """Learn, forget, or change C; return what was done, and the number of samples that have come."""
    kind, count, ids = int(rng.integers(3)), int(rng.integers(1, 4)), model.ids_
    if kind == 0 and len(ids) > count:
        gone = rng.choice(ids, count, replace=False)
        model.forget(gone)
        return f"after forgetting {gone.tolist()}", come
    if kind == 1 and "C" in one.parameters:
        one.parameters["C"] = power(rng, -6, 4)
        model.set_C(one.parameters["C"])
        return f"after C = {one.parameters['C']:.3g}", come
    new = np.arange(come, min(come + count, len(one.X)))
    if len(new):
        model.partial_fit(*one.samples(new), sample_weight=one.weight[new], ids=new)
    return f"after learning {new.tolist()}", come + len(new)


def check(one: Life, model: Any, told: str, verdict: Verdict) -> None:
    """Compare what the report proves with the truth, and the values with those of a refit."""
    ids = model.ids_
    if not one.two_sided(ids):
        return
    X, y, report = one.X[ids], one.y[ids], model.deletion_report()
    (task,) = programs(Task(one.estimator, one.parameters, None, y, one.weight[ids]), model)
    if task is not None:
        K, error = values_of(one.spec, X, one.parameters)
        if bilinear(one.spec) and sum(task.totals) == 0:  # each of two centres is right, up to what the sum lacks
            error = error + abs(task.beta.sum()) / max(np.abs(task.beta).sum(), U) * np.abs(K).max()
        true = truth(at_bounds(task, SUMS), K, error)
        claims = Claims(verdict, f"{told}: ", not model.fit_status_, true)
        claims.violation(report["kkt_violation"], np.inf)
        claims.gap(report["duality_gap"], None)
        claims.feasible(report["kkt_violation"], SUMS if one.estimator == "NuSVC" else 0.0)
    refit = one.refit(ids)
    if refit is not None:
        _compare(one, refit, ids, X, _values(model, X), f"{told}: values", verdict)


def _leave_out(one: Life, model: Any, verdict: Verdict) -> None:
    """Compare exact leave-one-out and deletion, by the model and by a fit, with refits."""
    ids = model.ids_
    batch = one.refit(ids) if len(ids) > 2 and one.two_sided(ids) else None
    if batch is None:
        return
    given = one.samples(ids) if one.supervised else (one.X[ids], None)
    try:
        lists = [(model.loo_prediction if one.estimator == "SVR" else model.loo_decision)()]
        lists.append(leave_one_out(batch, *given, sample_weight=one.weight[ids]).values[:, 0])
        found = influence(batch, *given, sample_weight=one.weight[ids], max_deletions=len(ids))
    except ValueError as error:
        refuse_others(error)
        return
    changes = np.zeros(len(ids))
    changes[found.numbers] = found.change
    before = _values(batch, one.X[ids])
    for k, own in enumerate(ids):
        rest = np.delete(ids, k)
        refit = one.refit(rest) if one.two_sided(rest) else None
        if refit is None:
            continue
        for source, got in zip(("model", "fit"), lists, strict=True):
            _compare(one, refit, rest, one.X[[own]], got[[k]], f"sample {own} left out of the {source}", verdict)
        verdict.claims += 1
        true, slack = np.abs(_values(refit, one.X[ids]) - before).mean(), _slack(one, batch, ids)
        if not abs(true - changes[k]) <= _slack(one, refit, rest) + slack:
            text = f"sample {own} deleted: values change by {changes[k]:.6e}, those of a refit by {true:.6e}"
            verdict.false.append(("deletion", text))


def _values(model: Any, X: Any) -> Any:
    return getattr(model, "decision_function", model.predict)(X)


def _slack(one: Life, refit: Any, ids: Ids) -> float:
    """Return how far values of a refit may be off, by its proven gap and violation; infinite without a margin."""
    diagonal = float(np.diagonal(values(one.spec, one.X[ids])[0]).max())
    level = max(abs(refit.primal_objective_), abs(refit.dual_objective_))  # for NuSVC |w|^2 / 2, before the division
    gap = max(0.0, refit.primal_objective_ - refit.dual_objective_) if np.isfinite(level) else np.inf
    off = np.sqrt(2.0 * gap * diagonal) + refit.kkt_violation_
    size = max(float(np.abs(_values(refit, one.X[ids])).max()), abs(float(refit.intercept_[0])))
    size = max(size, float(np.abs(one.y).max()))  # all values may be roundings of 0
    if one.estimator == "NuSVC":
        margin = one.parameters["nu"] * len(ids) / max(float(np.abs(refit.dual_coef_).sum()), 1e-300)
        none = level <= (ALIKE * one.parameters["nu"] * len(ids)) ** 2 * diagonal
        off = np.inf if none or margin <= ALIKE * np.sqrt(diagonal) or _wavers(refit) else off / margin
    return ALIKE * size + CARE * float(off)


def _wavers(model: Any) -> bool:
    """Return whether a class has a coefficient inside its bounds by no more than a rounding, and no other inside them.

    The solution leaves the bias open there, and such a coefficient decides which one is taken.
    """
    size = np.abs(np.asarray(model.dual_coef_))
    inside, most = np.sign(model.dual_coef_) * (size < size.max()), (1.0 - ALIKE) * size.max()
    sure = (size > ALIKE * size.max()) & (size < most)
    return any((inside == side).any() and not sure[inside == side].any() for side in (-1, 1))


def _compare(one: Life, refit: Any, ids: Ids, X: Any, got: Any, told: str, verdict: Verdict) -> None:
    verdict.claims += 1
    true = _values(refit, X)
    off = np.abs(got - true)
    k = int(np.argmax(off))
    if not off[k] <= _slack(one, refit, ids):
        verdict.false.append(("refit", f"{told}: {got[k]:.6e} is claimed, {true[k]:.6e} by a refit"))
