"""Figures 4 to 11: margin, error and bias over the epochs of Kernel-Adatron with bias."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from adatron.solvers import KernelAdatron

from .. import data
from ..data import Split
from ..report import Section, Sheet
from .artificial import mirror_symmetry
from .machine import Vector, error, fitted

FIGURE_EPOCHS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377)  # Points of the figure.
TOL = 1e-4  # KKT violation of the last point.


@dataclass(frozen=True)
class LearningRun:
    """One fit to the end, and the errors after some of its epochs."""

    name: str
    mu: float
    margin: Vector
    bias: Vector
    epochs: list[int]
    errors: list[float]
    final: float  # bias of the solution
    other: tuple[float, float]  # error and bias of the default solver


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield Figures 4 to 11."""
    rng = np.random.default_rng(0)
    X, y = mirror_symmetry(200, 30, rng)
    test = mirror_symmetry(10**4 if quick else 10**5, 30, rng, unlike=X)
    symmetry = follow("mirror symmetry", Split(X, y, *test), 5.0, 5.0)
    yield _margin(4, symmetry, sheet)
    yield _errors(5, symmetry, sheet)
    sonar = follow("sonar", data.sonar(), 1.0, 5.0)
    yield _margin(6, sonar, sheet)
    yield _errors(7, sonar, sheet)
    yield _bias(8, sonar, sheet)
    wisconsin = follow("Wisconsin breast cancer, one split", _wisconsin(rng), 3.0, 50.0)
    yield _margin(9, wisconsin, sheet)
    yield _errors(10, wisconsin, sheet)
    yield _bias(11, wisconsin, sheet)


def _wisconsin(rng: np.random.Generator) -> Split:
    X, y = data.wisconsin()
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    return Split(X[train], y[train], X[test], y[test])


def follow(name: str, split: Split, sigma: float, mu: float) -> LearningRun:
    """Run the algorithm at the rate 1 to the end, and to each of ``FIGURE_EPOCHS`` before it."""
    X, y, *test = split
    solver = KernelAdatron(rate=1.0, mu=mu)
    model = fitted(X, y, sigma, solver=solver, tol=TOL)
    other = fitted(X, y, sigma, tol=TOL)
    epochs = [e for e in FIGURE_EPOCHS if e < model.n_iter_[0]]
    errors = [error(fitted(X, y, sigma, solver=solver, tol=TOL, max_iter=e), *test) for e in epochs]
    return LearningRun(
        name, mu, model.trace_["margin"], model.trace_["bias"], [*epochs, int(model.n_iter_[0])],
        [*errors, error(model, *test)], float(model.intercept_[0]), (error(other, *test), float(other.intercept_[0])),
    )  # fmt: skip


def _margin(number: int, run: LearningRun, sheet: Sheet) -> Section:
    section = Section(f"Figure {number}: margin over the epochs, {run.name}")
    last = float(run.margin[-1])
    section.add("margin at the end", 1.0, last, abs(last - 1.0) < 0.01, f"{len(run.margin)} epochs")
    section.add("epochs to the margin 0.9, 0.99", None, [1 + int(np.argmax(run.margin >= m)) for m in (0.9, 0.99)])
    rise = np.polyfit(np.arange(len(run.margin)), np.log10(np.maximum(np.abs(1.0 - run.margin), 1e-12)), 1)[0]
    section.add("fall of log10 |1 - margin| an epoch", "exponentially fast", f"{-rise:.2g}", rise < 0)
    epochs = np.arange(1, len(run.margin) + 1)
    labels = {"xlabel": "epochs", "ylabel": "margin", "xscale": "log"}
    sheet.draw(section, f"figure_{number:02d}", {"margin": (epochs, run.margin)}, **labels)
    return section


def _errors(number: int, run: LearningRun, sheet: Sheet) -> Section:
    section = Section(f"Figure {number}: generalisation error over the epochs, {run.name}")
    first, last = run.errors[0], run.errors[-1]
    section.add("error after the first epoch and at the end", "falls", [first, last], last < first)
    section.add(
        "error of the exact solution (default solver)", "the same", run.other[0], abs(last - run.other[0]) < 0.005
    )
    section.remarks.append(
        "Before it is used, a model that is cut off is moved onto sum(alpha y) = 0 and gets the bias that suits it "
        "best, so that the first errors are not those of the bias ±mu."
    )
    labels = {"xlabel": "epochs", "ylabel": "error", "xscale": "log", "ylim": (0, None)}
    sheet.draw(section, f"figure_{number:02d}", {"error": (run.epochs, run.errors)}, **labels)
    return section


def _bias(number: int, run: LearningRun, sheet: Sheet) -> Section:
    section = Section(f"Figure {number}: bias over the epochs, {run.name}")
    first = [float(v) for v in run.bias[:2]]
    section.add("first two values", [run.mu, -run.mu], first, first == [run.mu, -run.mu])
    section.add("at the end", None, float(run.bias[-1]))
    apart = abs(run.final - run.other[1])
    section.add("bias of the solution", "as by QP", run.final, apart < 0.01, f"default solver {run.other[1]:.4f}")
    settled = len(run.bias) - int(np.argmax(np.abs(run.bias - run.final)[::-1] > 0.05))
    section.add("epochs until it stays within 0.05 of it", None, settled)
    epochs = np.arange(1, len(run.bias) + 1)
    sheet.draw(
        section, f"figure_{number:02d}", {"bias": (epochs, run.bias)}, xlabel="epochs", ylabel="bias", xscale="log"
    )
    return section
