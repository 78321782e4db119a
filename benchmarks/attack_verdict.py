"""One program: its fit, and whether the claims of the fit are true."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from tests.twins.checker import Interval, Program, Truth, lowest_eigenvalue, truth, without_bias
from tests.twins.fitted import Task, programs
from tests.twins.values import U, dense, values

from .attack_programs import MAX_TIME, Case, program

EXACT = 1.0 - 1e-9  # Fraction of the true number that a claim must reach.
KERNEL = ("kernel", "gamma", "degree", "coef0")
ROUNDING, WARNED = ", by a rounding", ", of a fit that warned"  # marks of kinds of false claims
LATE = 1.1 * MAX_TIME + 0.5  # Seconds above which a fit has not kept its limit of time.
SUMS = 1e-9  # Largest error of an equality, in units of the sum of its absolute terms.
BOUNDS = 16  # Roundings by which a coefficient may be beyond its bound, and one more for each sample.
LOOKED_AT = 512  # Most samples of a problem for which all are examined for negative eigenvalues.
NEGATIVE_CURVATURE = 100.0  # Roundings for each sample above which rounding does not explain a negative eigenvalue.
# One fit in this many is repeated with one thread, and another one with a tolerance near rounding.
EVERY = 12  # Programs from one with further checks to the next.
NEARER = {"tol": 1e-10, "gap_tol": 1e-12}


@dataclass
class Verdict:
    """The result of a program. ``false``, ``undecided``, ``leaks`` and ``broken`` have a sentence for each fault.

    kind : a name in ``attack.KINDS``; ``claims``: how many claims were compared with the truth
    """

    number: int
    estimator: str = ""
    kernel: str = ""
    traits: list[str] = field(default_factory=list)
    told: str = ""
    outcome: str = ""
    seconds: float = 0.0
    late: bool = False
    kind: str = ""
    claims: int = 0
    false: list[tuple[str, str]] = field(default_factory=list)
    undecided: list[tuple[str, str]] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def judged(seed: int, number: int) -> Verdict:
    """Make, fit and check the program of a number."""
    case = program(seed, number)
    spec = case.kernel if case.spec[0] == "given" else case.spec
    parameters = {name: value for name, value in case.parameters.items() if name not in KERNEL}
    told = f"{case.estimator} {spec} {case.X.shape} {parameters} {', '.join(case.traits)}"
    verdict = Verdict(number, case.estimator, case.kernel, case.traits, told)
    model = fitted(case.fit, verdict)
    if model is None:
        return verdict
    quick = verdict.seconds < 0.8 * MAX_TIME
    checked(case, model, verdict, _quietly(case, **NEARER) if number % EVERY == 1 and quick else None)
    # Problems share the time, so that one may end by its share, on another step each time, in a quick fit.
    timed = model.fit_status_ != 0 and verdict.seconds * np.size(model.intercept_) > 0.8 * MAX_TIME
    if number % EVERY == 3 and quick and not timed:
        other = _quietly(case, n_jobs=1)
        same = all(_bits(model, name) == _bits(other, name) for name in ("dual_coef_", "support_", "intercept_"))
        if not same:
            verdict.false.append(("bits", "one thread gives another model"))
    return verdict


def fitted(fit: Callable[[], Any], verdict: Verdict) -> Any:
    """Return the model, or None if the fit failed."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        started = monotonic()
        try:
            model = fit()
        except (ValueError, TypeError) as error:
            model, verdict.outcome = None, "refused"
            if not str(error):
                verdict.broken.append(f"{type(error).__name__} without a word")
        except Exception as error:  # such errors are looked for
            model, verdict.outcome = None, "broken"
            verdict.broken.append(f"{type(error).__name__}: {error}")
        verdict.seconds = monotonic() - started
    verdict.late = verdict.seconds > LATE
    own = [one for one in said if issubclass(one.category, ConvergenceWarning)]
    verdict.leaks = [f"{one.category.__name__}: {one.message}" for one in said if one not in own]
    if model is not None:
        verdict.outcome = "warned" if own or model.fit_status_ else "converged"
    return model


def _quietly(case: Case, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.fit(**more)


def _bits(model: Any, name: str) -> bytes:
    value = getattr(model, name)
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value).tobytes()


def bilinear(spec: Any) -> bool:
    """Return whether a kernel is a multiple of x·z: a translation changes nothing for coefficients of sum 0 or 1."""
    name, *parts = spec
    return name == "linear" or (name in ("sum", "scaled") and all(bilinear(one) for one in parts if type(one) is tuple))


def values_of(spec: Any, X: Any, parameters: dict[str, Any]) -> tuple[Any, Any]:
    """Return kernel values and bounds of their errors: of the rows less their mean if a translation changes nothing.

    The sum of a model's coefficients misses 0 by a rounding, which counts more the further the rows are from 0.
    """
    moved = bilinear(spec) and parameters.get("bias") == "explicit"
    return values(spec, dense(X) - dense(X).mean(axis=0) if moved else X)


def checked(case: Case, model: Any, verdict: Verdict, nearer: Any = None) -> None:
    """Compare every number of every binary problem with the true one; ``nearer``: a model nearer to the optimum."""
    X = None if case.spec[0] == "given" else case.X
    asked = Task(case.estimator, case.parameters, X, case.y, case.weight)
    matrix = values_of(case.spec, case.X, case.parameters)
    near = () if nearer is None else centred(programs(asked, nearer), matrix[0])
    all_true = weighed(
        centred(programs(asked, model), matrix[0]),
        model,
        case.parameters,
        matrix,
        verdict,
        may_bend(case.spec),
        near,
    )
    if not may_bend(case.spec):
        return
    bound = 0.0 if case.spec[0] != "given" else float(np.finfo(case.X.dtype).eps)
    for task, claims, gap in all_true:
        if np.isfinite(gap) and claims.true.size <= LOOKED_AT:
            verdict.claims += 1
            lowest = lowest_eigenvalue(matrix[0][np.ix_(np.unique(task.rows), np.unique(task.rows))])
            if lowest < -NEGATIVE_CURVATURE * claims.true.size * max(bound, float(np.finfo(float).eps)):
                claims.add("convex", f"a gap, but an eigenvalue of {lowest:.1e} of the largest value")


def centred(programs_: Sequence[Program | None], K: Any) -> list[Program | None]:
    """Return the programs with targets less their bias: the same ones, as coefficients sum to 0 but for a rounding.

    What the rounding of the sum costs is the sum times the bias; so no bias is left. It is that of these kernel values:
    a model's own is for the rows as given, and after a division by a margin.
    """
    return [one if one is None or sum(one.totals) != 0 else without_bias(one, K) for one in programs_]


def weighed(
    tasks: Sequence[Any],
    model: Any,
    parameters: dict[str, Any],
    matrix: tuple[Any, Any],
    verdict: Verdict,
    may_bend: bool = False,
    better: Sequence[Any] = (),
) -> list[tuple[Any, Claims, float]]:
    """Compare the claims about each program that is there; return the programs, their claims and their gaps.

    matrix : kernel values, and bounds of their errors
    better : other points of the programs, nearer to the optimum
    """
    ends = np.atleast_1d(model.dual_objective_), np.atleast_1d(model.primal_objective_)
    violations, gaps = np.atleast_1d(model.kkt_violation_), np.atleast_1d(model.duality_gap_)
    out = []
    for k, task in enumerate(tasks):
        if task is None:
            continue
        true = truth(task, *matrix)
        where = f"problem {k}: " if len(tasks) > 1 else ""
        claims = Claims(verdict, where, verdict.outcome == "converged", true)
        claims.violation(float(violations[k]), parameters.get("tol", np.inf))
        claims.gap(float(gaps[k]), parameters.get("gap_tol"))
        claims.feasible(float(violations[k]))
        if np.isfinite(gaps[k]) or not (np.isnan(gaps[k]) or may_bend):
            known = [true] + [truth(one, *matrix) for one in better[k : k + 1] if one is not None]
            claims.ends(float(ends[0][k]), float(ends[1][k]), known)
        out.append((task, claims, float(gaps[k])))
    return out


def may_bend(spec: Any) -> bool:
    """Return whether a kernel may have negative eigenvalues."""
    name, *numbers = spec
    if name in ("sum", "product", "scaled"):
        return any(may_bend(part) for part in numbers if isinstance(part, tuple))
    return name in ("given", "sigmoid") or (name == "poly" and numbers[2] < 0)


@dataclass
class Claims:
    """The claims about one binary problem."""

    verdict: Verdict
    where: str
    converged: bool
    true: Truth

    def add(self, kind: str, text: str, doubt: bool = False) -> None:
        found = self.verdict.undecided if doubt else self.verdict.false
        found.append((kind if self.converged else kind + WARNED, self.where + text))

    def _compare(self, kind: str, claim: float, true: Interval, grain: float, doubt: bool = False) -> None:
        """Compare a claim: it is true at the value or above, and false below the least possible value."""
        self.verdict.claims += 1
        if not claim >= EXACT * true.value:
            text = f"{claim:.6e} is claimed, {true.value:.6e} is true (at least {true.least:.6e})"
            size = "" if true.value - claim > grain else ROUNDING
            self.add(kind + size, text, doubt or claim >= EXACT * true.least)

    def violation(self, claim: float, tol: float) -> None:
        true = self.true
        if self.converged:
            self._compare("tol", tol, true.violation, true.grain, true.split)
        if not np.isnan(claim):
            self._compare("violation", claim, true.violation, true.grain, true.split)
        elif self.converged:
            self.add("violation", "nan, and no word about it")

    def gap(self, claim: float, tol: float | None) -> None:
        true = self.true
        if self.converged and tol is not None:
            self._compare("gap_tol", tol, true.gap, true.grains)
        if not np.isnan(claim):
            self._compare("gap", claim, true.gap, true.grains)
        elif self.converged:
            self.add("gap", "nan, and no word about it")

    def ends(self, low: float, high: float, known: list[Truth]) -> None:
        """Compare the objectives with the ends between which the optimum is."""
        self.verdict.claims += 2
        least, most = max(one.low for one in known), min(one.high for one in known)
        if low > most + abs(most) * 2.0**-52:
            self.add("dual objective", f"{low:.16e} is claimed; the optimum is at most {most:.16e}")
        if high < least - abs(least) * 2.0**-52:
            self.add("primal objective", f"{high:.16e} is claimed; the optimum is at least {least:.16e}")

    def feasible(self, claim: float, drift: float = 0.0) -> None:
        """Look at bounds and sums, if the violation that is claimed is finite; off the sums nothing can be claimed.

        drift : relative error of a unit that is read off a sum
        """
        self.verdict.claims += 2
        if self.true.excess > drift + (BOUNDS + self.true.size) * 2.0**-53:
            self.add("bounds", f"a coefficient is {self.true.excess:.1e} of its bound beyond it")
        if claim < np.inf and self.true.missed > SUMS + self.true.size * float(U):
            self.add("sums", f"an equality is off by {self.true.missed:.1e} of the sum of its terms")
