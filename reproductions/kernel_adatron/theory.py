"""Sections 3, 3.3, 3.4 and 5: polynomial kernels, the Lagrangian's value, the path without a bias, regression."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from adatron.estimators import SVR
from adatron.kernels import Polynomial
from adatron.solvers import KernelAdatron

from .. import data
from ..fits import IDENTITY_ERROR, OBJECTIVE_ROUNDING, coefficients_of, quietly
from ..report import Section, Sheet
from .artificial import mirror_symmetry
from .kernel_path import kernel_path
from .machine import Vector, error, fitted, gamma, gaussian

DEGREE = 3  # Of the polynomial kernel.


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield what the text says without a table."""
    yield _rates()
    yield _lagrangian(sheet)
    for bias, called in (("none", "without a bias"), ("augmented", "with an augmented kernel")):
        yield _path(15 if quick else 40, bias, called)
    yield _regression()


def _rates() -> Section:
    section = Section("Section 3: the rates of a polynomial kernel")
    X = data.sonar().X
    values = Polynomial(degree=DEGREE, gamma=1.0, coef0=1.0)(X).diagonal()
    norms = np.linalg.norm(X, axis=1)
    square, printed = (float(np.abs(bound / values - 1.0).max()) for bound in
                       ((norms**2 + 1.0) ** DEGREE, (norms + 1.0) ** DEGREE))  # fmt: skip
    section.add("k(x, x) = (‖x‖² + 1)^d: largest relative difference", None, square, square < 1e-9)
    section.add(
        "k(x, x) = (‖x‖ + 1)^d, as printed: largest relative difference", 0, printed, printed < 1e-9,
        why_not="a misprint: the norm must be squared",
    )  # fmt: skip
    return section


def _lagrangian(sheet: Sheet) -> Section:
    section = Section("Section 3.3: L(α°) = 1 / (2γ²), and the growth of L")
    for name, (X, y, sigma) in _problems().items():
        model = fitted(X, y, sigma, bias="none", solver=KernelAdatron(), tol=1e-8)
        beta = coefficients_of(model, len(y))
        margin = (y * (gaussian(X, sigma) @ beta)).min() / np.sqrt(beta @ gaussian(X, sigma) @ beta)
        value = model.trace_["dual_objective"]
        off = abs(float(value[-1] * 2.0 * margin**2) - 1.0)
        section.add(f"L(α°) 2γ² - 1, {name}", 0, off, off < IDENTITY_ERROR)
        fall = float(np.diff(value).min() / value[-1])
        section.add(f"smallest growth of L in an epoch, {name}", ">= 0", fall, fall > -OBJECTIVE_ROUNDING)
        section.add(
            f"largest L of an epoch / bound, {name}", "<= 1", float(value.max() * 2.0 * margin**2), off < IDENTITY_ERROR
        )
        missing = 1.0 - value / value[-1]
        seen = (missing > 1e-10) & (np.arange(len(value)) > len(value) // 10)
        r2 = float(np.corrcoef(np.flatnonzero(seen), np.log(missing[seen]))[0, 1] ** 2)
        section.add(f"exponentially fast, {name}: R² of log(L° - L) over the epochs", "as it seems", r2, r2 > 0.9)
        curve = {name: (np.flatnonzero(missing > 1e-10), missing[missing > 1e-10])}
        labels = {"xlabel": "epochs", "ylabel": "1 - L / L(α°)", "yscale": "log", "title": f"Missing part of L, {name}"}
        sheet.draw(section, f"lagrangian_{name.split()[0]}", curve, **labels)
    section.remarks.append("Without a bias, best rates; γ is the margin of its weights. Growth up to rounding.")
    return section


def _problems() -> dict[str, tuple[Vector, Vector, float]]:
    sonar = data.sonar()
    return {
        "mirror symmetry": (*mirror_symmetry(200, 30, np.random.default_rng(0)), 5.0),
        "sonar": (sonar.X, sonar.y, 1.0),
    }


def _path(steps: int, bias: str, called: str) -> Section:
    """Follow the path of kernels with another form of the bias."""
    section = Section(f"Section 3.4: the path of kernels {called}, sonar")
    train = data.sonar()
    gammas = [gamma(sigma) for sigma in np.geomspace(0.2, 3.0, steps)]
    path = kernel_path(train.X, train.y, gammas, bias=bias, validation=train[2:], tol=1e-5)
    at = int(np.argmin(path.validation_error))
    model = fitted(train.X, train.y, float(np.sqrt(0.5 / path.gamma[at])), bias=bias, augment=1.0, tol=1e-6)
    off = abs(float(np.sqrt(0.5 / model.dual_objective_) / path.margin[at]) - 1.0)
    found = [float(path.validation_error[at]), error(model, *train[2:])]
    section.add("smallest validation error; the same width fitted from nothing", None, found, found[0] == found[1])
    section.add("margin there: relative difference to the fit", 0, off, off < 1e-2)
    step = float(np.abs(np.diff(np.log(path.margin))).max())
    section.add(f"largest change of the margin in a step, {called}", "continuous", f"{step:.0%}", step < 0.5)
    return section


def _regression() -> Section:
    section = Section("Section 5: regression by Kernel-Adatron, sin(x)/x")
    x = np.linspace(-10.0, 10.0, 100)
    y = np.sinc(x / np.pi) + 0.1 * np.random.default_rng(0).standard_normal(100)
    for bias in ("none", "explicit"):
        model, best = (
            quietly(SVR(C=10.0, epsilon=0.1, gamma=0.5, bias=bias, solver=solver, tol=1e-4), x[:, None], y)
            for solver in ("kernel_adatron", "auto")
        )
        off = abs(float(model.dual_objective_ / best.dual_objective_) - 1.0)
        section.add(f"regression, bias {bias}: objective, relative difference to the optimum", 0, off, off < 1e-3)
        wrong = float(np.sqrt(np.mean((model.predict(x[:, None]) - np.sinc(x / np.pi)) ** 2)))
        section.add(f"bias {bias}: error (root mean square), epochs", None, [wrong, int(model.n_iter_)], wrong < 0.1)
    section.remarks.append("The update is that of classification on β = α* - α, with ε as a threshold.")
    return section
