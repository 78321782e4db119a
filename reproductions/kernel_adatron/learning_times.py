"""Section 4.4: the growth of the learning time with the number of samples, beside SMO's and a dense program's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from adatron.solvers import SMO, KernelAdatron

from .. import data
from ..fits import dense_program
from ..report import Section, Sheet
from .artificial import mirror_symmetry
from .machine import Vector, fitted, gaussian

LAST_MARGIN, CHANGE = 0.999, 1e-5  # Margin, and change of the bias, at which learning ends.
LEARNING_EPOCHS = 20_000  # Most epochs.
TIMED_METHODS = "KA", "drawn", "SMO", "QP"  # In the order of the columns.
FEW_DRAWS = 20  # Draws below which a standard error of a slope is itself uncertain: nothing is decided.
RESAMPLED = 200  # Times that draws are drawn again for a standard error.
WHY = "the paper names neither sigma and C nor the range of m; at a fixed sigma the epochs grow with m"
NOISE_FREE = "mirror symmetry", "sonar", "digits (3 for all)"
PROBLEMS = "mirror symmetry", "sonar", "cancer", "diabetes", "ionosphere", "digits (3 for all)"


class Population(NamedTuple):
    """Samples to draw from, and the kernel."""

    X: Vector
    y: Vector
    sigma: float
    largest: int
    published: float
    C: float = np.inf


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield the exponents of six problems by three methods."""
    section = Section("Section 4.4: exponents of the learning time")
    rng = np.random.default_rng(0)
    draws, points, others = (3, 3, 3) if quick else (200, 8, 20)
    curves: dict[str, Any] = {}
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for name, problem in tqdm(problems(rng).items(), "problems", leave=False, disable=None):
        sizes = np.unique(np.geomspace(0.25 * problem.largest, problem.largest, points).astype(int))
        costs = np.array([
            [_costs(problem, m, rng, more=k < others) for k in range(draws)] for m in sizes
        ])  # (sizes, draws, 4); nan where the others did not run  # fmt: skip
        found[name] = {
            how: exponent(sizes, costs[:, ~np.isnan(costs[0, :, k]), k]) for k, how in enumerate(TIMED_METHODS)
        }
        slope, error = found[name]["KA"]
        epochs = np.nanmean(costs[:, :, 0], axis=1) / sizes**2
        remark = f"sigma = {problem.sigma:g}; {epochs[0]:.0f} to {epochs[-1]:.0f} epochs, m = {sizes[0]} to {sizes[-1]}"
        near = _decided(abs(slope - problem.published) <= 2.0 * error, draws)
        section.add(f"exponent, {name}", problem.published, _told(slope, error, draws), near, remark, WHY)
        drawn, error = found[name]["drawn"]
        near = _decided(abs(drawn - problem.published) <= 2.0 * error, others)
        section.add(f"samples as drawn, {name}", problem.published, _told(drawn, error, others), near, why_not=WHY)
        _beside(section, name, found[name], others)
        curves[name] = (sizes, np.nanmean(costs[:, :, 0], axis=1))
    below = [found[name]["KA"] for name in NOISE_FREE]
    section.add(
        "sub-quadratic: exponents of " + ", ".join(NOISE_FREE), "< 2",
        [_told(slope, error, draws) for slope, error in below],
        _decided(all(slope + error < 2.0 for slope, error in below), draws), why_not=WHY,
    )  # fmt: skip
    slope, error = found["ionosphere"]["KA"]
    more = _decided(slope - error > 2.0, draws)
    section.add("ionosphere: more than quadratic", "> 2", _told(slope, error, draws), more, why_not=WHY)
    section.remarks.append(
        f"Kernel-Adatron: epochs times m² until the margin is {LAST_MARGIN} and the bias changes by less than "
        f"{CHANGE:g}; {draws} draws a size, with bias; hard margin, except C = 1.02 for diabetes as in section 4.3: "
        "samples at C keep the epochs from growing. The library visits samples by class and content, "
        f"the lines below as drawn ({others} draws). SMO: pairs times m, to the same margin (tol = 1e-3); dense "
        f"program: iterations times m³ (SLSQP); {others} draws a size. ± is the standard error of the slope, from "
        f"draws that are drawn again {RESAMPLED} times. Tick: within two standard errors of the published exponent."
    )
    sheet.draw(section, "learning_times", curves, xlabel="m", ylabel="epochs m²", xscale="log", yscale="log")
    yield section


def _decided(holds: bool, draws: int) -> bool | None:
    return holds if draws >= FEW_DRAWS else None


def _told(slope: float, error: float, draws: int) -> str:
    return f"{slope:.2f} ± {error:.2f}" + (f" ({draws} draws: too few to decide)" if draws < FEW_DRAWS else "")


def _beside(section: Section, name: str, found: dict[str, tuple[float, float]], draws: int) -> None:
    (ka, one), (smo, two), (dense, three) = (found[how] for how in ("KA", "SMO", "QP"))
    apart, error = abs(ka - smo), float(np.hypot(one, two))
    section.add(
        f"SMO, {name}", "similar", _told(smo, two, draws), _decided(apart <= 2.0 * error, draws),
        why_not=f"SMO grows more {'slowly' if smo < ka else 'quickly'}, by more than two standard errors",
    )  # fmt: skip
    better, error = dense - ka, float(np.hypot(one, three))
    holds = None if abs(better) <= error else _decided(better > 0, draws)
    section.add(f"dense program, {name}", "> 2.5", _told(dense, three, draws), holds, why_not="not above ours")


def exponent(sizes: Vector, costs: Vector) -> tuple[float, float]:
    """Return the slope of log(mean cost) over log(m), and its standard error; ``costs`` is (sizes, draws)."""
    rng = np.random.default_rng(0)

    def slope(chosen: Vector) -> float:
        return float(np.polyfit(np.log(sizes), np.log(chosen.mean(axis=1)), 1)[0])

    again = [slope(costs[:, rng.integers(costs.shape[1], size=costs.shape[1])]) for _ in range(RESAMPLED)]
    return slope(costs), float(np.std(again))


def problems(rng: np.random.Generator) -> dict[str, Population]:
    """Return the paper's six problems, with the widths of its figures and tables."""
    ionosphere, sonar, digits = data.ionosphere(), data.sonar(), data.usps()
    is_three = np.where(digits.y == 3, 1.0, -1.0)
    return {
        "mirror symmetry": Population(*mirror_symmetry(5000, 30, rng), 5.0, 200, 1.7),
        "sonar": Population(sonar.X, sonar.y, 1.0, 100, 1.8),
        "cancer": Population(*data.wisconsin(), 3.0, 400, 2.0),
        "diabetes": Population(*data.pima(), 11.0, 400, 2.1, 1.02),
        "ionosphere": Population(ionosphere.X, ionosphere.y, 1.5, 190, 3.0),
        "digits (3 for all)": Population(digits.X, is_three, 2.0, 400, 1.8),
    }


def _costs(problem: Population, m: int, rng: np.random.Generator, more: bool) -> tuple[float, ...]:
    """Return the operations of all methods for m samples of both classes; nan for what is not run."""
    chosen = rng.permutation(len(problem.y))[:m]
    while len(np.unique(problem.y[chosen])) < 2:
        chosen = rng.permutation(len(problem.y))[:m]
    X, y = problem.X[chosen], problem.y[chosen]
    epochs = float(learning_time(X, y, problem.sigma, problem.C, "content"))
    if not more:
        return epochs * m**2, np.nan, np.nan, np.nan
    drawn = float(learning_time(X, y, problem.sigma, problem.C, "given"))
    pairs = float(fitted(X, y, problem.sigma, problem.C, solver=SMO(second_order=True)).n_iter_[0])
    iterations = float(dense_program(gaussian(X, problem.sigma), y, problem.C).iterations)
    return epochs * m**2, drawn * m**2, pairs * m, iterations * m**3


def learning_time(X: Vector, y: Vector, sigma: float, C: float, order: str) -> int:
    """Return the epochs until margin and bias have settled."""
    solver = KernelAdatron(rate=1.0, order=order)
    model = fitted(X, y, sigma, C, solver=solver, tol=1e-6, max_iter=LEARNING_EPOCHS)
    still = np.abs(np.diff(model.trace_["bias"])) < CHANGE
    done = np.flatnonzero(still & (model.trace_["margin"][1:] >= LAST_MARGIN))
    return int(model.trace_["n_iter"][done[0] + 1] if len(done) else model.n_iter_[0])
