"""SMO (15.5.2.3): the constraints of two variables, and the choice of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.arrays import Vector
from adatron.estimators import SVC
from adatron.kernels import RBF
from adatron.solvers import SMO, Decomposition

from ..claims import beyond
from ..fits import coefficients_of, quietly, standard_error
from ..report import Section, Sheet
from .conditions import GAMMA, C, moons

SEGMENT_POINTS = 100_001  # Points of a segment that are tried one by one.
RADIUS = 1.5  # Half the width of a picture, as a multiple of C.


def closed_form(K: Vector, y: Vector, box: float, at: Vector) -> Vector:
    """Return the two weights after the joint step (15.46-50) from the feasible weights ``at``."""
    s = y[0] * y[1]
    E = K @ (at * y) - y  # without b, which the difference removes
    eta = K[0, 0] + K[1, 1] - 2.0 * K[0, 1]
    second = at[1] + y[1] * (E[0] - E[1]) / eta
    if s < 0:
        low, high = max(0.0, at[1] - at[0]), min(box, box + at[1] - at[0])
    else:
        low, high = max(0.0, at[0] + at[1] - box), min(box, at[0] + at[1])
    second = min(max(second, low), high)
    return np.array([at[0] + s * (at[1] - second), second])


def constraints(sheet: Sheet) -> Section:
    """Check the closed form against trying all points of the segment, and draw Figure 15.7."""
    section = Section("Figure 15.7 and (15.46) to (15.50): two variables, equal and different labels")
    rng = np.random.default_rng(0)
    for name, y in (("different labels", np.array([1.0, -1.0])), ("equal labels", np.array([1.0, 1.0]))):
        worst, clipped, draws = 0.0, 0, 200
        for _ in range(draws):
            rows, at = rng.normal(size=(2, 2)), rng.uniform(0.0, 1.0, 2)
            K = rows @ rows.T
            found = closed_form(K, y, 1.0, at)
            worst = max(worst, _value(K, y, _tried(K, y, at)) - _value(K, y, found), abs(float(y @ (found - at))))
            clipped += bool(np.isin(found, (0.0, 1.0)).any())
        section.add(f"closed form, {name}: largest loss against all points of the segment", 0, worst, worst < 1e-9)
        section.add(f"{name}: steps that end at the box", None, f"{clipped} of {draws}")
    off = _library()
    section.add("closed form and the library's pair: largest difference of a weight", 0, off, off < 1e-9)
    section.remarks.append(
        "Weights in a box of side 1. Different labels keep α₁ - α₂, equal labels α₁ + α₂; the best point of the line "
        f"is clipped to the box. A segment is tried at {SEGMENT_POINTS:,} points. The library's numbers are those of "
        "fits of two samples with different labels."
    )
    if sheet.folder is not None:
        sheet.save(section, "figure_15_7", _drawn())
    return section


def _value(K: Vector, y: Vector, alpha: Vector) -> float:
    beta = alpha * y
    return float(alpha.sum() - 0.5 * beta @ K @ beta)


def _tried(K: Vector, y: Vector, at: Vector) -> Vector:
    second = np.linspace(0.0, 1.0, SEGMENT_POINTS)
    pairs = np.array([at[0] + y[0] * y[1] * (at[1] - second), second])
    pairs = pairs[:, (pairs[0] >= 0.0) & (pairs[0] <= 1.0)]
    beta = pairs * y[:, None]
    values = pairs.sum(axis=0) - 0.5 * np.einsum("ik,ij,jk->k", beta, K, beta)
    return pairs[:, int(values.argmax())]


def _library() -> float:
    worst, y = 0.0, np.array([1.0, -1.0])
    for box, apart in ((10.0, 1.0), (0.3, 1.0), (10.0, 0.5)):
        X = np.array([[0.0], [apart]])
        model = SVC(C=box, gamma=GAMMA, solver=SMO(), tol=1e-9).fit(X, y)
        expected = closed_form(RBF(GAMMA)(X), y, box, np.zeros(2))
        worst = max(worst, float(np.abs(np.abs(model.dual_coef_[0]) - expected).max()))
    return worst


def _drawn() -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    K = np.array([[1.0, 0.3], [0.3, 1.0]])
    side = np.linspace(-0.25, RADIUS, 80)
    grid = np.meshgrid(side, side)
    panels: Any = figure.subplots(1, 2)
    for ax, y, at, title in zip(
        panels, ([1.0, -1.0], [1.0, 1.0]), ([0.5, 0.1], [0.9, 0.5]),
        ("different labels: α₁ - α₂ stays", "equal labels: α₁ + α₂ stays"), strict=True,
    ):  # fmt: skip
        labels, start = np.array(y), np.array(at)
        values = [_value(K, labels, point) for point in np.stack(grid, axis=-1).reshape(-1, 2)]
        ax.contour(*grid, np.reshape(values, grid[0].shape), 12, colors="0.8", linewidths=0.8)
        ax.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color="0.3")
        slope = -y[0] * y[1]
        ax.plot(side, start[1] + slope * (side - start[0]), "--", linewidth=1)
        end = closed_form(K, labels, 1.0, start)
        ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "C3"})
        ax.plot(*start, "o", color="C0")
        ax.plot(*end, "s", color="C3")
        ax.set(xlim=(side[0], side[-1]), ylim=(side[0], side[-1]), xlabel="α₁", ylabel="α₂", title=title, aspect=1)
    return panels[0]


def choices(draws: int) -> Section:
    """Count the pairs of Platt's choices, of pairs by gain, and of pairs at random."""
    section = Section("Section 15.5.2.3: Platt's two choices")
    ways = {
        "Platt's choices": SMO(),
        "steepest pair": Decomposition(q=2),
        "pair of the largest gain": SMO(second_order=True),
        "random violating pairs": Decomposition(q=2, selection="random"),
    }
    counts = {
        name: np.array([
            quietly(SVC(C=C, gamma=GAMMA, solver=solver), *moons(200, seed)).n_iter_[0] for seed in range(draws)
        ]) for name, solver in ways.items()
    }  # fmt: skip
    for name, found in counts.items():
        section.add(f"{name}: mean number of pairs", None, float(found.mean()))
    steps = np.array([_steps(seed) for seed in range(draws)])
    for what, found in zip(("second choice", "a free vector at random"), steps.T, strict=True):
        section.add(f"{what}: its step / the largest step", None, f"{found.mean():.2f} ± {standard_error(found):.2f}")
    gain = steps[:, 0] - steps[:, 1]
    mean, error = float(gain.mean()), standard_error(gain)
    more = f"{mean:.2f} ± {error:.2f}"
    section.add("gain of the second choice over chance", "> 0", more, beyond(mean, error))
    section.remarks.append(
        f"{draws} draws of 200 samples, C = {C:g}, gamma = {GAMMA:g}, tol = 1e-3. The first choice passes over all "
        "samples that violate, then over the free ones until these are optimal; the second one takes the largest "
        "|E₁ - E₂|, which the chapter calls a cheap approximation of the largest step |E₁ - E₂| / η: steps of all "
        "samples that violate, halfway to the optimum. Platt's choices need more pairs than "
        "the steepest pair, and than pairs at random with exact violations; what they save is the cost of a choice."
    )
    return section


def _steps(seed: int) -> Vector:
    """Return the mean steps of the second choice and of a random free vector, as parts of the largest step."""
    X, y = moons(200, seed)
    K, rng = RBF(GAMMA)(X), np.random.default_rng(seed)
    model = quietly(SVC(C=C, gamma=GAMMA, solver=Decomposition(q=2), max_iter=300), X, y)
    beta = coefficients_of(model, len(y))
    E, free = K @ beta - y, np.flatnonzero((beta != 0) & (np.abs(beta) < C))
    bad = np.flatnonzero((y * (E + model.intercept_[0]) < -1e-3) & (np.abs(beta) < C))
    found = []
    for i in bad:
        partners = free[free != i]
        numerator = np.abs(E[i] - E[partners])
        step = numerator / (K[i, i] + K[partners, partners] - 2.0 * K[i, partners])
        found.append([step[np.argmax(numerator)] / step.max(), step[rng.integers(len(step))] / step.max()])
    return np.mean(found, axis=0)
