"""Optimality (15.5.1), and exact incremental learning (15.5.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import make_moons

from adatron import (
    SVC,
    SVDD,
    IncrementalNuSVC,
    IncrementalOneClassSVM,
    IncrementalSVC,
    IncrementalSVDD,
    NuSVC,
    OneClassSVM,
)
from adatron.arrays import Vector
from adatron.kernels import RBF, Polynomial

from ..fits import coefficients_of, quietly
from ..report import Section

C, GAMMA, TOL = 10.0, 1.0, 1e-9  # Of all fits here.
BIAS_SOLVERS = "block", "smo", "decomposition", "isda", "kernel_adatron"  # All that keep an explicit bias.
EQUAL_FITS = 1e-5  # Largest relative difference that counts as equal, beside the tolerance of the fits.
FIRST_LEARNED, ALL_LEARNED, FORGOTTEN = 60, 120, 30  # Samples of the first fit, in all, and those that leave again.


def moons(n: int, seed: int = 0) -> tuple[Vector, Vector]:
    """Return two noisy half moons with labels -1 and 1."""
    found: Any = make_moons(n, noise=0.3, random_state=seed)
    return found[0], 2.0 * found[1] - 1.0


def optimality() -> Section:
    """Check both problems, the conditions (15.29), the bias and sparsity on one fit."""
    section = Section("Section 15.5.1: the two problems, the optimality conditions and the bias")
    X, y = moons(200)
    models = [quietly(SVC(C=C, gamma=GAMMA, tol=1e-7, solver=solver), X, y) for solver in BIAS_SOLVERS]
    values = [model.dual_objective_ for model in models]
    apart = float(np.ptp(values) / abs(values[0]))
    model = models[0]
    alpha, margin = y * coefficients_of(model, len(y)), y * model.decision_function(X)
    free = (alpha > 0) & (alpha < C)
    wrong = np.select([alpha == 0, alpha < C], [1.0 - margin, np.abs(margin - 1.0)], margin - 1.0)
    biases = y[free] - (RBF(GAMMA)(X)[free] @ (alpha * y))
    off = float(np.abs(biases - biases.mean()).max())
    outside = margin > 1.0 + EQUAL_FITS
    section.add("relative gap of primal and dual", None, model.duality_gap_, model.duality_gap_ < EQUAL_FITS)
    section.add("objectives of the solvers: largest relative difference", None, apart, apart < EQUAL_FITS)
    section.add("largest violation of the conditions", None, float(wrong.max()), bool(wrong.max() < EQUAL_FITS))
    section.add("b by each free vector: largest difference to the mean", None, off, off < EQUAL_FITS)
    section.add("the mean, and b", None, [float(biases.mean()), float(model.intercept_[0])])
    share = f"{int((alpha[outside] == 0).sum())} of {int(outside.sum())}"
    section.add("samples outside the margin with weight 0", "all", share, bool((alpha[outside] == 0).all()))
    section.add("support vectors, those at C", None, [int((alpha > 0).sum()), int((alpha == C).sum())])
    section.remarks.append(
        f"200 samples of two moons, C = {C:g}, gamma = {GAMMA:g}, tol = 1e-7. The chapter averages b over the free "
        "vectors; here b is the multiplier of the equality, which is the same number. Solvers: "
        f"{', '.join(BIAS_SOLVERS)}. Equal to {EQUAL_FITS:g} counts as equal."
    )
    return section


LEARNING_MACHINES: dict[str, tuple[Any, Any]] = {
    "C-SVC": (IncrementalSVC(C=C, gamma=GAMMA), SVC(C=C, gamma=GAMMA, tol=TOL)),
    "ν-SVC": (IncrementalNuSVC(nu=0.3, gamma=GAMMA), NuSVC(nu=0.3, gamma=GAMMA, tol=TOL)),
    "one-class": (IncrementalOneClassSVM(nu=0.2, gamma=GAMMA), OneClassSVM(nu=0.2, gamma=GAMMA, tol=TOL)),
    "ball": (IncrementalSVDD(nu=0.2, gamma=GAMMA), SVDD(nu=0.2, gamma=GAMMA, tol=TOL)),
}


def incremental() -> Section:
    """Learn samples one by one, then forget some, and compare with fits from nothing."""
    section = Section("Section 15.5.3: incremental learning against fits from nothing, weight by weight")
    X, y = moons(ALL_LEARNED)
    for name, (incremental, batch) in LEARNING_MACHINES.items():
        labels = y if name.endswith("SVC") else None
        incremental.fit(X[:FIRST_LEARNED], None if labels is None else labels[:FIRST_LEARNED])
        worst = 0.0
        for i in range(FIRST_LEARNED, ALL_LEARNED):
            incremental.partial_fit(X[i : i + 1], None if labels is None else labels[i : i + 1])
            worst = max(worst, float(incremental.kkt_violation_))
        off = _apart(incremental, batch.fit(X, labels), ALL_LEARNED)
        section.add(f"learned one by one, {name}: largest difference of a weight", 0, off, off < EQUAL_FITS)
        incremental.forget(range(FORGOTTEN))
        rest = batch.fit(X[FORGOTTEN:], None if labels is None else labels[FORGOTTEN:])
        off = _apart(incremental, rest, ALL_LEARNED - FORGOTTEN)
        section.add(f"forgotten again, {name}: largest difference of a weight", 0, off, off < EQUAL_FITS)
        section.add(f"largest violation after any step, {name}", None, worst, worst < EQUAL_FITS)
    section.remarks.append(
        f"{FIRST_LEARNED} samples at first, then {ALL_LEARNED - FIRST_LEARNED} more, one by one; then the first "
        f"{FORGOTTEN} leave. Differences are fractions of the largest weight. (15.54) grows the weight of the new "
        "sample while the others keep their conditions. The library moves the target of the new sample instead, from "
        "the value at which its weight 0 is optimal to its own: then all samples, also the new one, are optimal at "
        "each point of the way."
    )
    return section


def _apart(incremental: Any, batch: Any, n: int) -> float:
    """Return the largest difference of a weight, as a fraction of the largest weight; ids are in the batch's order."""
    order, beta = np.argsort(incremental.ids_), coefficients_of(batch, n)
    return float(np.abs(coefficients_of(incremental, n)[order] - beta).max() / np.abs(beta).max())


def ball() -> Section:
    """Compare the ball with its dense program, for a kernel whose diagonal is not constant."""
    section = Section("Section 15.5.3, after (15.51): the one-class machine with the diagonal of K")
    X, _ = moons(40)
    K = Polynomial(degree=2, gamma=1.0, coef0=1.0)(X)
    box = 0.1
    result = minimize(
        lambda a: a @ K @ a - a @ K.diagonal(), np.full(40, 1 / 40), jac=lambda a: 2.0 * K @ a - K.diagonal(),
        bounds=[(0.0, box)] * 40, constraints={"type": "eq", "fun": lambda a: a.sum() - 1.0}, method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )  # fmt: skip
    model = SVDD(C=box, kernel="poly", degree=2, gamma=1.0, coef0=1.0, tol=TOL).fit(X)
    a = 0.5 * coefficients_of(model, 40)  # those of decision values, which have 2 sum(a k)
    value = a @ K @ a - a @ K.diagonal()
    off = abs(float(value - result.fun) / float(result.fun))
    section.add("ball: relative difference of the objective to a dense program's", 0, off, off < EQUAL_FITS)
    section.remarks.append(
        "(15.51) has ½ αᵀKα, so the linear term of the ball is ½ diag K; the chapter prints diag K. Polynomial kernel "
        "of degree 2: for rbf the diagonal is constant, and the ball is the one-class machine."
    )
    return section
