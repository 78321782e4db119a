"""Section 4.4: the growth of the learning time with the number of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...solvers import KernelAdatron
from .. import data
from ..report import Section, Sheet
from .artificial import mirror_symmetry
from .machine import Vector, fitted

MARGIN, CHANGE = 0.999, 1e-5  # Margin, and change of the bias, at which learning ends.
MOST_EPOCHS = 20_000  # Most epochs.


class Problem(NamedTuple):
    """Samples to draw from, and the kernel."""

    X: Vector
    y: Vector
    sigma: float
    largest: int
    published: float


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield the exponents of six problems."""
    section = Section("Section 4.4: exponents of the learning time")
    rng = np.random.default_rng(0)
    draws, points = (5, 5) if quick else (200, 8)
    curves: dict[str, Any] = {}
    for name, problem in problems(rng).items():
        sizes = np.unique(np.geomspace(0.25 * problem.largest, problem.largest, points).astype(int))
        epochs = np.array([[learning_time(problem, m, rng) for _ in range(draws)] for m in sizes]).mean(axis=1)
        exponent = float(np.polyfit(np.log(sizes), np.log(epochs * sizes**2), 1)[0])
        remark = f"sigma = {problem.sigma:g}; {epochs[0]:.0f} to {epochs[-1]:.0f} epochs, m = {sizes[0]} to {sizes[-1]}"
        section.add(name, problem.published, exponent, None, remark)
        curves[name] = (sizes, epochs * sizes**2)
    section.remarks.append(
        f"Epochs times m² until the margin is {MARGIN} and the bias changes by less than {CHANGE:g}; means of {draws} "
        "draws, hard margin, with bias. The exponent depends on sigma, C, the range of m and the order of the visits, "
        "of which the paper gives none; sigma is that of its figures. At a fixed sigma the epochs grow with m "
        "here, if slowly, so that no exponent is much below 2."
    )
    sheet.draw(section, "learning_times", curves, xlabel="m", ylabel="epochs m²", xscale="log", yscale="log")
    yield section


def problems(rng: np.random.Generator) -> dict[str, Problem]:
    """Return the paper's six problems, with the widths of its figures and tables."""
    ionosphere, sonar, digits = data.ionosphere(), data.sonar(), data.usps()
    is_three = np.where(digits.y == 3, 1.0, -1.0)
    return {
        "mirror symmetry": Problem(*mirror_symmetry(5000, 30, rng), 5.0, 200, 1.7),
        "sonar": Problem(sonar.X, sonar.y, 1.0, 100, 1.8),
        "cancer": Problem(*data.wisconsin(), 3.0, 400, 2.0),
        "diabetes": Problem(*data.pima(), 11.0, 400, 2.1),
        "ionosphere": Problem(ionosphere.X, ionosphere.y, 1.5, 190, 3.0),
        "digits (3 for all)": Problem(digits.X, is_three, 2.0, 400, 1.8),
    }


def learning_time(problem: Problem, m: int, rng: np.random.Generator) -> int:
    """Return the epochs until margin and bias have settled, for m samples of both classes."""
    chosen = rng.permutation(len(problem.y))[:m]
    while len(np.unique(problem.y[chosen])) < 2:
        chosen = rng.permutation(len(problem.y))[:m]
    solver = KernelAdatron(rate=1.0)
    model = fitted(problem.X[chosen], problem.y[chosen], problem.sigma, solver=solver, tol=1e-6, max_iter=MOST_EPOCHS)
    still = np.abs(np.diff(model.trace_["bias"])) < CHANGE
    done = np.flatnonzero(still & (model.trace_["margin"][1:] >= MARGIN))
    return int(model.trace_["n_iter"][done[0] + 1] if len(done) else model.n_iter_[0])
