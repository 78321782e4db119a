"""Sections 1 and 2: the penalty k, the secant rule, a bias that moves after each datum, over-relaxation."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from adatron.arrays import Vector
from adatron.estimators import SVC, SVR
from adatron.kernels import RBF
from adatron.solvers import ISDA, SMO, KernelAdatron

from ..claims import beyond
from ..fits import coefficients_of, quietly, standard_error
from ..handbook.conditions import moons
from ..report import Section, Sheet

C, GAMMA, N = 10.0, 1.0, 300  # Of the machines here, and samples of a draw.
PENALTIES = 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0  # The values of k.
OMEGAS = 0.4, 0.7, 1.0, 1.2, 1.4, 1.5, 1.6, 1.8  # Over-relaxation.
UNSTABLE = 1e-2  # Part of the optimum that a stable rule is nearer than, after as many epochs.
PENALTY_EPOCHS = 200  # Epochs of the plain loops.
EQUAL_OBJECTIVES = 1e-4  # Largest relative difference that counts as equal.


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield what the text says on two noisy half moons, whose fits are short."""
    draws = [moons(N, seed) for seed in range(5 if quick else 50)]
    yield _penalties(draws, sheet)
    yield _secant(draws)
    yield _relaxed(draws, sheet)
    yield _constant(draws[0])
    yield _checked(draws[0])


def _fit(draw: tuple[Vector, Vector], bias: str, solver: Any = "isda", tol: float = 1e-4, **more: Any) -> Any:
    return quietly(SVC(C=C, gamma=GAMMA, bias=bias, solver=solver, tol=tol, **more), *draw)


def _penalties(draws: list[tuple[Vector, Vector]], sheet: Sheet) -> Section:
    """Follow updates, the sum and the bias over k."""
    section = Section("Section 2: from k = 100 to the explicit bias, k -> 0")
    explicit = [_fit(draw, "explicit", "auto", 1e-7).intercept_[0] for draw in draws]
    ways = {k: [_fit(draw, "augmented", augment=k**-0.5) for draw in draws] for k in PENALTIES}
    none = [_fit(draw, "none") for draw in draws]
    steps = {k: np.array([model.n_iter_[0] for model in models]) for k, models in ways.items()}
    sums = {k: [abs(float(model.dual_coef_.sum())) for model in models] for k, models in ways.items()}
    off = {
        k: [abs(float(model.intercept_[0] - b)) for model, b in zip(models, explicit, strict=True)]
        for k, models in ways.items()
    }
    for k in PENALTIES:
        what = f"k = {k:g}: updates, size of Σαy, distance of b from b° (means)"
        section.add(what, None, [float(np.mean(one[k])) for one in (steps, sums, off)])
    section.add("k = ∞: updates (mean)", None, float(np.mean([model.n_iter_[0] for model in none])))
    first, last = PENALTIES[0], PENALTIES[-1]
    part, near = np.mean(sums[first]) / np.mean(sums[last]), np.mean(off[first]) / np.mean(off[1.0])
    section.add("size of Σαy at the smallest k / at the largest", "-> 0", float(part), bool(part < 0.1))
    section.add("distance of b at the smallest k / at k = 1", "-> 0", float(near), bool(near < 0.1))
    conditions = [np.linalg.cond(RBF(GAMMA)(draws[0][0]) + 1e-3 * np.eye(N) + 1.0 / k) for k in (first, last)]
    section.add(
        "condition number, k = 0.01 / k = 100", "> 1", conditions[0] / conditions[1], conditions[0] > conditions[1]
    )
    for name, other in (("0.01", steps[0.01]), ("1", steps[1.0]), ("∞", np.array([one.n_iter_[0] for one in none]))):
        logs = np.log(other / steps[10.0])
        mean, error = float(logs.mean()), standard_error(logs)
        section.add(
            f"updates, k = {name} / k = 10", "> 1", f"{np.exp(mean):.2f} ± {np.exp(mean) * error:.2f}",
            beyond(mean, error), why_not="these samples need no more; MNIST's seconds are in Table 1",
        )  # fmt: skip
    section.remarks.append(
        f"{len(draws)} draws of {N} samples of two half moons, C = {C:g}, gamma = {GAMMA:g}, tol = 1e-4. b° is that of "
        "the explicit bias. The condition number is that of K + 1/k with 0.001 on the diagonal."
    )
    curves = {
        "updates / 10,000": (PENALTIES, [float(np.mean(steps[k])) / 1e4 for k in PENALTIES]),
        "|Σαy|": (PENALTIES, [float(np.mean(sums[k])) for k in PENALTIES]),
        "|b - b°|": (PENALTIES, [float(np.mean(off[k])) for k in PENALTIES]),
    }
    sheet.draw(section, "penalties", curves, xlabel="k", xscale="log", yscale="log", title="From k = 100 to 0.01")
    return section


def _secant(draws: list[tuple[Vector, Vector]]) -> Section:
    """Check the secant rule, and move the bias after each datum as Veropoulos does."""
    section = Section("Section 2: the secant rule once an epoch, and after each datum")
    apart = max(_apart(_fit(draw, "explicit"), _fit(draw, "explicit", "auto", 1e-7)) for draw in draws)
    section.add("secant: objective, relative difference to the optimum", 0, apart, apart < EQUAL_OBJECTIVES)
    x = np.linspace(-10.0, 10.0, 100)[:, None]
    curves = [np.sinc(x[:, 0] / np.pi) + 0.1 * np.random.default_rng(k).standard_normal(100) for k in range(len(draws))]
    how: dict[str, Any] = {"C": C, "epsilon": 0.1, "gamma": 0.5}
    best = [quietly(SVR(tol=1e-7, **how), x, y) for y in curves]
    found = [quietly(SVR(solver="isda", tol=1e-4, **how), x, y) for y in curves]
    apart = max(_apart(one, other) for one, other in zip(found, best, strict=True))
    section.add("regression by the secant: objective, relative difference", 0, apart, apart < EQUAL_OBJECTIVES)
    K = RBF(0.5)(x)
    for what, each in (("b after each datum", True), ("b after each epoch, the same loop", False)):
        sums = [abs(float(regressed(K, y, C, 0.1, each).sum())) / float(np.abs(one.dual_coef_).sum())
                for y, one in zip(curves, best, strict=True)]  # fmt: skip
        bad = sum(one > UNSTABLE for one in sums)
        section.add(
            f"{what}: draws that fail", "unstable" if each else None, f"{bad} of {len(sums)}", bad > 0 if each else None
        )
        section.add(f"{what}: size of Σβ / sum of sizes, median", None, float(np.median(sums)))
    section.remarks.append(
        f"Regression of sin(x)/x, 100 points, noise 0.1, ε = 0.1. A draw fails if the sum is above {UNSTABLE:g} of the "
        f"sum of sizes after {PENALTY_EPOCHS} epochs of a plain loop. The library moves b once an epoch, and keeps a "
        "bracket."
    )
    return section


def _apart(one: Any, other: Any) -> float:
    return abs(float(np.ravel(one.dual_objective_ / other.dual_objective_)[0]) - 1.0)


def regressed(K: Vector, y: Vector, box: float, epsilon: float, each: bool) -> Vector:
    """Return beta after some epochs of single steps with the secant rule (14), after each datum or once an epoch."""
    beta, g = np.zeros(len(y)), -y.astype(float)
    biases, sums = [0.0, 0.1], [0.0]
    for _ in range(PENALTY_EPOCHS):
        for i in range(len(y)):
            free = beta[i] - (g[i] + biases[-1]) / K[i, i]
            value = np.clip(np.sign(free) * max(abs(free) - epsilon / K[i, i], 0.0), -box, box)
            g += (value - beta[i]) * K[i]
            beta[i] = value
            if each:
                _move(biases, sums, float(beta.sum()))
        if not each:
            _move(biases, sums, float(beta.sum()))
    return beta


def _move(biases: list[float], sums: list[float], now: float) -> None:
    sums.append(now)
    rise = sums[-1] - sums[-2]
    if abs(rise) > 1e-12:  # the paper's guard
        biases.append(biases[-1] - sums[-1] * (biases[-1] - biases[-2]) / rise)


def _relaxed(draws: list[tuple[Vector, Vector]], sheet: Sheet) -> Section:
    """Count the updates by ω, and compare the first steps with those of Gauss and Seidel."""
    section = Section("Abstract: successive over-relaxation, and single steps that are the same")
    counts = {omega: [_fit(draw, "none", ISDA(omega=omega)).n_iter_[0] for draw in draws] for omega in OMEGAS}
    for omega, found in counts.items():
        section.add(f"ω = {omega:g}: updates (mean)", None, float(np.mean(found)))
    apart = max(_apart(_fit(draw, "none", ISDA(omega=1.5)), _fit(draw, "none", "auto", 1e-7)) for draw in draws)
    section.add("ω = 1.5: objective, relative difference to the optimum", 0, apart, apart < EQUAL_OBJECTIVES)
    X, y = moons(60)
    order = np.argsort(y, kind="stable")
    K, y = RBF(GAMMA)(X[order]), y[order]
    expected = _one_pass(K, y)
    moved = int(np.count_nonzero(expected))
    for name, solver, most in (("SMO", SMO(), moved), ("Kernel-Adatron", KernelAdatron(), 1)):
        how: dict[str, Any] = {"C": C, "kernel": "precomputed", "bias": "none", "gap_tol": None, "tol": 1e-9}
        found = coefficients_of(quietly(SVC(solver=solver, max_iter=most, **how), K, y), len(y))
        off = float(np.abs(found - expected).max())
        section.add(f"one pass of {name} and of Gauss-Seidel: largest difference of a weight", 0, off, off < 1e-12)
    sheet.draw(
        section, "relaxed", {"updates": (OMEGAS, [float(np.mean(one)) for one in counts.values()])}, xlabel="ω",
        ylabel="updates", title="Updates of ISDA by ω, no bias",
    )  # fmt: skip
    return section


def _one_pass(K: Vector, y: Vector) -> Vector:
    beta = np.zeros(len(y))
    for i in range(len(y)):
        beta[i] = y[i] * np.clip(y[i] * (beta[i] + (y[i] - K[i] @ beta) / K[i, i]), 0.0, C)
    return beta


def _constant(draw: tuple[Vector, Vector]) -> Section:
    section = Section("Eq. (1): a constant added to the kernel")
    K = RBF(GAMMA)(draw[0])
    for bias in ("explicit", "none"):
        one, other = (
            quietly(SVC(C=C, kernel="precomputed", bias=bias, tol=1e-7), values, draw[1]) for values in (K, K + 3.0)
        )
        off = float(np.abs(one.decision_function(K) - other.decision_function(K + 3.0)).max())
        what = "a constant in K, explicit bias" if bias == "explicit" else "without a bias"
        section.add(
            f"{what}: largest difference of a decision value",
            None,
            off,
            off < EQUAL_OBJECTIVES if bias == "explicit" else None,
        )
    return section


def _checked(draw: tuple[Vector, Vector]) -> Section:
    """Measure how long a fit goes on after its last update: the check of all samples, and the proof."""
    section = Section("Section 3: the time of the check of the optimality conditions")
    X, y = moons(5_000)
    _fit(draw, "augmented", augment=10**-0.5)
    start = perf_counter()
    model = quietly(SVC(C=C, gamma=GAMMA, bias="augmented", augment=10**-0.5, solver="isda", tol=1e-2), X, y)
    part = 1.0 - float(model.trace_["seconds"][-1]) / (perf_counter() - start)
    section.add(
        "time after the last update, part of the fit", "> 0.5", round(part, 2),
    )  # fmt: skip
    section.remarks.append(
        "5,000 samples of two half moons, k = 10, tol = 0.01. What follows the last update is the proof in float64. "
        "The gradient of all samples is kept up to date here, so that a check computes no outputs."
    )
    return section
