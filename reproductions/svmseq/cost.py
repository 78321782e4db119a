"""The cost of SVMseq: beside a dense program, by the augmenting factor, beside Kernel-Adatron, in a narrow valley."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adatron.estimators import SVC
from adatron.kernels import RBF
from adatron.solvers import KernelAdatron, SVMseq

from .. import data
from ..claims import beyond
from ..fits import coefficients_of, dense_program, quietly, standard_error, timed
from ..report import Section, Sheet
from .angles import HARD_PLANE, PlanePoints, clusters
from .sonar import FLOPS, SIGMA, C, fitted

FACTORS = 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0  # Values of λ.
COST_EPOCHS = 50_000  # Epochs.
SVM_FLOPS = 6.8e9  # Those of the paper's SVM on sonar.
ORDERS = 100.0  # "Orders of magnitude": two of them.
# A program in a narrow valley, for steps of one sample.
VALLEY: dict[str, Any] = {"C": 1e4, "gamma": 1 / (2 * 3.0**2), "bias": "none", "tol": 1e-4}


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield what the text says on cost and convergence."""
    split = data.sonar()
    yield _dense(split)
    yield _factors(split, *((5, 10_000) if quick else (50, COST_EPOCHS)), sheet)
    yield _beside(split)
    yield _valley(split, 2_000 if quick else COST_EPOCHS)


def _dense(split: data.Split) -> Section:
    """Solve sonar by two dense methods of a library, and count as the paper does."""
    section = Section("Abstract, Table 3, section 7: sonar by a dense quadratic program, and by SVMseq")
    n = len(split.X)
    K = RBF(1 / (2 * SIGMA**2))(split.X)
    ways = {"active sets": dense_program(K, split.y, C), "interior point": dense_program(K, split.y, C, interior=True)}
    for name, found in ways.items():
        section.add(f"{name}: iterations, seconds", None, [found.iterations, round(found.seconds, 3)])
        section.add(f"{name}: operations, n³ an iteration", SVM_FLOPS, found.iterations * n**3)
        section.add(f"{name}: multipliers that are 0, that are below 1e-6", None, _zeros(found.alpha))
    least = min(found.iterations for found in ways.values()) * n**3
    fitted(split, SIGMA, max_iter=1)  # reads what the compiler left
    alpha = np.zeros(n)
    seq = {epoch: timed(fitted, split, SIGMA, max_iter=epoch) for epoch in FLOPS}
    for epoch, (model, seconds) in seq.items():
        section.add(f"seconds of SVMseq, epoch {epoch}, with the certificate", None, round(seconds, 3))
        times = least / (epoch * n**2)
        section.add(
            f"operations, dense / SVMseq at epoch {epoch}", SVM_FLOPS / FLOPS[epoch], times, times >= ORDERS,
            why_not="today's methods need some thirty iterations, the paper's program 6,000 times n³",
        )  # fmt: skip
        alpha = np.abs(coefficients_of(model, n))
        section.add(f"epoch {epoch} of SVMseq: multipliers that are 0, that are below 1e-6", None, _zeros(alpha))
    last = _zeros(alpha)
    exact, rounded = last[0] == last[1], _zeros(ways["interior point"].alpha)
    section.add(
        "exact zeros: SVMseq, interior point", "all, none", [last[0], rounded[0]], exact and rounded[0] < last[0]
    )
    section.remarks.append(
        "Methods of SciPy: SLSQP (active sets), trust-constr (interior point). Seconds are processor time. An "
        "iteration of either factors a matrix of n rows, at least n³ / 3 operations; n³ is generous to neither. An "
        "active set puts multipliers at 0 exactly, an interior point method puts none there."
    )
    return section


def _zeros(alpha: PlanePoints) -> list[int]:
    return [int(np.count_nonzero(alpha == 0.0)), int(np.count_nonzero(alpha < 1e-6))]


def _factors(split: data.Split, draws: int, most: int, sheet: Sheet) -> Section:
    """Count epochs by the augmenting factor, for the clusters of Table 1 and for sonar."""
    section = Section("Section 4.1.1: epochs to the optimality conditions by the augmenting factor λ")
    how: dict[str, Any] = {"bias": "augmented", "solver": "svmseq", "max_iter": most}
    counts = np.array([
        [quietly(SVC(augment=factor, **how, **HARD_PLANE), *clusters(seed)).n_iter_[0] for factor in FACTORS]
        for seed in range(draws)
    ])  # fmt: skip
    rbf = [quietly(SVC(augment=f, C=C, gamma=1 / (2 * SIGMA**2), **how), *split[:2]).n_iter_[0] for f in FACTORS]
    means = np.exp(np.log(counts).mean(axis=0))
    for factor, mean, other in zip(FACTORS, means, rbf, strict=True):
        section.add(f"λ = {factor:g}: clusters (geometric mean), sonar", None, [round(float(mean)), int(other)])
    middle, last = FACTORS.index(2.0), len(FACTORS) - 1
    for what, low, high, why in (
        ("clusters, λ = 10 / λ = 2", middle, last, ""),
        ("clusters, λ = 2 / λ = 0.1", 0, middle, "a small λ needs large weights for the same b, w' = (w, b/λ)"),
    ):
        logs = np.log(counts[:, high] / counts[:, low])
        holds = beyond(float(logs.mean()), standard_error(logs))
        section.add(f"epochs, {what}", "> 1", float(np.exp(logs.mean())), holds, why_not=why)
    section.add("epochs, sonar, λ = 10 / λ = 0.1", "> 1", rbf[-1] / rbf[0], rbf[-1] > rbf[0])
    section.remarks.append(
        f"{draws} draws of the clusters of Table 1, hard margin, linear; sonar with σ = {SIGMA}, C = {C:g}; at most "
        f"{most:,} epochs, tol = 1e-3. The epochs are fewest near the paper's own advice, λ of the inputs' magnitude: "
        "a larger one converges more slowly, as the paper says, and so does a smaller one, which it does not say."
    )
    curves = {"clusters": (FACTORS, means), "sonar": (FACTORS, rbf)}
    sheet.draw(section, "factors", curves, xlabel="λ", ylabel="epochs", xscale="log", yscale="log", title="Epochs by λ")
    return section


def _beside(split: data.Split) -> Section:
    """Compare SVMseq's and Kernel-Adatron's clipping: plateau, and number of support vectors."""
    section = Section("Introduction: SVMseq beside Kernel-Adatron, sonar, λ = 0")
    how: dict[str, Any] = {"tol": 1e-4}
    ways = {
        "SVMseq, rate 1": SVMseq(rate=1.0),
        "Kernel-Adatron, rate 1": KernelAdatron(rate=1.0),
        "SVMseq, its rate 1.9": SVMseq(),
        "Kernel-Adatron, rate 0.5": KernelAdatron(rate=0.5),
    }
    models = {name: fitted(split, SIGMA, solver=solver, **how) for name, solver in ways.items()}
    for name, model in models.items():
        section.add(f"{name}: epochs, support vectors", None, [_epochs(model), len(model.support_)])
    one, other = models["SVMseq, rate 1"], models["Kernel-Adatron, rate 1"]
    section.add(
        "support vectors, Kernel-Adatron - SVMseq", "> 0", len(other.support_) - len(one.support_),
        len(other.support_) > len(one.support_),
        why_not="both clip at 0 and at C as printed, and take the same steps at the same rate",
    )  # fmt: skip
    epochs = _epochs(other) / _epochs(one)
    section.add(
        "plateau: epochs, Kernel-Adatron / SVMseq at the same rate", "> 1", epochs, epochs > 1.0,
        why_not="the same steps; the plateau is that of the rate",
    )  # fmt: skip
    section.remarks.append(
        "The paper on Kernel-Adatron prints α <- 0 where a step would make it negative, and α <- C above C (sections "
        "3.1 and 3.2). So does SVMseq. [Which algorithm is which](../../which-algorithm.md) shows equal iterates."
    )
    return section


def _epochs(model: Any) -> int:
    return int(model.n_iter_[0])


def _valley(split: data.Split, most: int) -> Section:
    """Solve a program with widespread eigenvalues by SVMseq and by Newton steps."""
    section = Section("Section 7: the narrow valley, answered by Newton steps (sonar, σ = 3, C = 10,000)")
    K = RBF(VALLEY["gamma"])(split.X)
    values = np.linalg.eigvalsh(K)
    section.add("eigenvalues of K, largest / smallest", "wide spread", float(values[-1] / max(values[0], 1e-16)))
    seq, slow = timed(quietly, SVC(solver="svmseq", max_iter=most, **VALLEY), split.X, split.y)
    fast, quick = timed(quietly, SVC(**VALLEY), split.X, split.y)
    part = float(seq.dual_objective_ / fast.dual_objective_)
    section.add(f"SVMseq, {most:,} epochs: part of the optimum, relative gap", "trapped", [part, seq.duality_gap_])
    section.add("default solver: relative gap", None, fast.duality_gap_, fast.duality_gap_ < 1e-3)
    section.add("processor seconds, SVMseq and default solver", None, [round(slow, 2), round(quick, 2)])
    section.add(
        "gap, SVMseq / default solver",
        "> 1",
        seq.duality_gap_ / fast.duality_gap_,
        seq.duality_gap_ > fast.duality_gap_,
    )
    section.remarks.append(
        "The paper leaves the natural gradient to future work. For a quadratic program that is Newton's step: the "
        "default solver ends with it over the free variables."
    )
    return section
