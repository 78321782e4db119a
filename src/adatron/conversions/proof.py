"""The proof of a fit as a text: ``docs/proof.md`` describes it, and ``verify/verify.py`` checks it.

The claims are computed in float64 and moved outwards by more than rounding explains. Nothing else is trusted here: a
claim that is too tight is refused by whoever checks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

from ..arrays import Ids, Vector
from ..certificates.gap import best_multipliers, duality_gap
from ..door import inputs
from ..kernels import RBF, Linear, Polynomial, Precomputed
from ..model.layout import pairs
from ..problems import Dual, Problem

KINDS = ("SVC", "NuSVC", "SVR", "NuSVR", "QuantileSVR", "OneClassSVM", "SVDD")
ROUNDING = 1e-13  # Fraction of all sizes that rounding of a decision value stays below.

TINIEST = 1e-290  # Added to each bound: what sums of zeros, rounded outwards, may be.


class ProvenProgram(NamedTuple):
    """One program: its problem, its samples, their labels or targets, and their coefficients in the model."""

    problem: Problem
    ids: Ids
    y: Vector
    beta: Vector


def proof_of(machine: Any, X: Any, y: Any, sample_weight: Any) -> str:
    """Return the proof of a fitted machine; ``KernelMachine.proof`` lists the errors."""
    kind, model = type(machine).__name__, machine.model_
    if kind not in KINDS or model.compact:
        raise ValueError(f"A proof is for a {', '.join(KINDS)} as it was fitted. Got {machine!r:.60}.")
    line = _kernel_line(model.kernel)
    if is_classifier(machine) or is_regressor(machine):
        X, y = inputs.training_data(machine, X, y, several=True)
    else:
        X = inputs.training_rows(machine, X)
        marks = machine.marks(X, y)
        y = np.ones(X.shape[0]) if marks is None else marks
    if X.shape[0] != model.shape[0]:
        raise ValueError(f"X must be the samples of the fit, which had {model.shape[0]}. Got {X.shape[0]}.")
    weight = inputs.weights(X, sample_weight)
    augment = inputs.augment(getattr(machine, "augment", 1.0), X, None if sample_weight is None else weight)
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, np.float64)
    if is_classifier(machine) and y.ndim == 1:
        codes = np.searchsorted(model.readout.labels, y)
        if (model.readout.labels[np.minimum(codes, len(model.readout.labels) - 1)] != y).any():
            raise ValueError("y must hold the classes of the fit. Got another label.")
        weight = weight * machine.class_weight_[codes]
    data, K = [" ".join(map(float.hex, row)) for row in rows.tolist()], model.kernel(rows)
    head, texts = [f"kernel {line}", f"rows {rows.shape[0]} {rows.shape[1]}", *data], list[str]()
    for part in _parts(machine, machine.problems(augment), y, weight):
        samples, lines = _program(machine, kind, part, weight[part.ids], K[np.ix_(part.ids, part.ids)], augment)
        data += samples
        texts += lines
    digest = sha256("\n".join(data).encode()).hexdigest()
    count = len(model.intercepts)
    return "\n".join(["adatron proof 1", f"digest {digest}", *head, f"programs {count}", *texts]) + "\n"


def _kernel_line(kernel: Any) -> str:
    if isinstance(kernel, RBF):
        return f"rbf {float(kernel.gamma).hex()}"
    if isinstance(kernel, Polynomial) and kernel.convex:
        return f"polynomial {' '.join(float(x).hex() for x in (kernel.gamma, kernel.degree, kernel.coef0))}"
    if isinstance(kernel, (Linear, Precomputed)):
        return "linear" if isinstance(kernel, Linear) else "given"
    raise ValueError(f"A proof needs a kernel rbf, linear, precomputed, or poly with coef0 >= 0. Got {kernel!r}.")


def _parts(machine: Any, problems: list[Problem], y: Any, weight: Vector) -> Iterator[ProvenProgram]:
    """Yield the programs of a machine in the order of its coefficients; samples without weight are left out."""
    model, beta = machine.model_, np.zeros((len(machine.model_.intercepts), len(weight)))
    beta[:, model.support] = model.coefficients()
    readout = model.readout
    for number, own in enumerate(beta):
        if y.ndim == 2:
            labels = np.where(y[:, number] == 1, 1.0, -1.0) if is_classifier(machine) else y[:, number]
        elif not is_classifier(machine):
            labels = y
        elif readout.in_pairs:
            first, second = pairs(len(readout.labels))[:, number]
            labels = 1.0 * (y == readout.labels[first]) - 1.0 * (y == readout.labels[second])
        else:
            labels = np.where(y == readout.labels[number if len(readout.labels) > 2 else 1], 1.0, -1.0)
        ids = np.flatnonzero((weight > 0.0) & ((labels != 0.0) | (not is_classifier(machine))))
        yield ProvenProgram(problems[number % len(problems)], ids, np.asarray(labels[ids], np.float64), own[ids])


def _program(
    machine: Any, kind: str, part: ProvenProgram, weight: Vector, K: Vector, augment: float
) -> tuple[Any, Any]:
    """Return the lines of the samples without their coefficients, and all lines of a program."""
    n, y = len(part.ids), part.y
    dual = part.problem.dual(y, weight, lambda: np.ascontiguousarray(np.diagonal(K)))
    beta, low, high = part.beta, 0.0 - dual.lower[-n:], dual.upper[:n]
    if kind in ("NuSVC", "OneClassSVM", "SVDD"):  # a model has a multiple of the solution
        own = float(beta.sum() if kind == "SVDD" else np.abs(beta).sum())
        beta = beta * (float(np.abs(dual.totals).sum()) / own if own else 1.0)
    beta = np.clip(beta, -low, high)
    b, width, lower, upper = _claims(kind, dual, beta, K)
    gap = np.inf if lower * upper <= 0.0 or not upper < np.inf else (upper - lower) / min(abs(lower), abs(upper))
    parameter = getattr(machine, "nu" if kind in ("NuSVC", "NuSVR", "OneClassSVM") else "epsilon", 0.0)
    bias = getattr(machine, "bias", "explicit") if kind not in ("OneClassSVM", "SVDD") else "explicit"
    named = {
        "augment": augment if bias == "augmented" else 0.0, "parameter": parameter, "b": b, "width": width,
        "lower": lower, "upper": upper, "gap": gap if gap == 0.0 else gap * (1.0 + 1e-12),
    }  # fmt: skip
    samples = [
        f"{i} {' '.join(map(float.hex, numbers))}"
        for i, *numbers in zip(part.ids.tolist(), y.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    kind = {"QuantileSVR": "quantile"}.get(kind, "csvc" if kind == "SVC" else kind.removesuffix("SVM").lower())
    lines = [f"problem {kind}", f"bias {bias}", *(f"{name} {float(x).hex()}" for name, x in named.items())]
    with_beta = [f"{text} {value.hex()}" for text, value in zip(samples, beta.tolist(), strict=True)]
    return samples, [*lines, f"samples {n}", *with_beta]


def _claims(kind: str, dual: Dual, beta: Vector, K: Vector) -> tuple[float, float, float, float]:
    """Return b, the width (of the tube, or rho of the margin), and the bounds of the optimum."""
    f, mass = K @ beta + dual.lambda2 * beta.sum(), float(np.abs(beta).sum())
    if kind == "NuSVR":  # two variables a sample, which together use what nu asks for
        bound, requested = dual.upper[: len(beta)], float(np.abs(dual.totals).sum())
        room = bound - np.abs(beta)
        both = room * (max(0.0, requested - mass) / max(2.0 * float(room.sum()), 1e-300))
        beta, f = np.concatenate([np.maximum(beta, 0.0) + both, np.minimum(beta, 0.0) - both]), np.tile(f, 2)
    g = f - dual.t
    mu = best_multipliers(dual, beta, g)
    lower = -dual.objective(beta, g)
    upper = lower + duality_gap(dual, beta, g, mu)
    widths = dual.upper - dual.lower
    size = float(np.abs(K).max(initial=0.0)) + dual.lambda2
    error = ROUNDING * (size * mass + float(np.abs(dual.t).max(initial=0.0)) + float(np.abs(mu).max(initial=0.0)))
    slack = error * (float(widths[np.isfinite(widths)].sum()) + mass + sum(map(abs, dual.totals)))
    slack += 4.0 * error * abs(upper) if dual.unbounded and np.isfinite(upper) else 0.0
    slack += TINIEST  # sums outwards end beyond 0 even if all terms are 0
    b, width = (float(mu[0]) if len(mu) else 0.0), 0.0
    if len(mu) == 2:
        b, half = 0.5 * float(mu[0] + mu[1]), 0.5 * float(mu[1] - mu[0])
        width = max(0.0, -half) if kind == "NuSVR" else half
    elif kind in ("NuSVC", "OneClassSVM"):
        b, width = 0.0, -float(mu[0])
    elif kind == "NuSVR":
        b, width = 0.0, max(0.0, float(mu[0]))
    return b, width, lower - slack, upper + slack
