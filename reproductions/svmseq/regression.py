"""Section 6: regression of sin(x)/x, and the effect of the update as it is printed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from adatron.arrays import Vector
from adatron.estimators import SVR

from ..report import Section, Sheet

N, NOISE, C, EPSILON, SIGMA = 100, 0.1, 10.0, 0.1, 1.0  # Chosen here: the paper has no numbers.
PRINTED_EPOCHS = 60  # Epochs after which the printed rule shows where it goes.
RATE = 1.9  # The rate, as a multiple of 1 / max R_ii, eq. 44.


def sections(sheet: Sheet) -> Iterator[Section]:
    """Yield a regression by SVMseq, and the divergence of the printed update; the paper itself has no numbers."""
    rng = np.random.default_rng(0)
    x = np.linspace(-10.0, 10.0, N)
    y = _sinc(x) + NOISE * rng.standard_normal(N)
    section = Section("Section 6: regression of sin(x)/x by SVMseq")
    curves = {"sin(x)/x": (x, _sinc(x)), "data": (x, y)}
    best = np.inf
    for name, bias in (("λ = 0", "none"), ("λ = 1", "augmented")):
        model = SVR(C=C, epsilon=EPSILON, gamma=1 / (2 * SIGMA**2), bias=bias, solver="svmseq").fit(x[:, None], y)
        error = float(np.sqrt(np.mean((model.predict(x[:, None]) - _sinc(x)) ** 2)))
        best = max(0.0, model.dual_objective_) if bias == "none" else best
        section.add(f"{name}: error (root mean square)", None, error, error < NOISE)
        section.add(f"{name}: support vectors of {N}, epochs", None, [len(model.support_), model.n_iter_])
        section.add(f"{name}: relative duality gap", None, model.duality_gap_, model.fit_status_ == 0)
        curves[name] = x, model.predict(x[:, None])
    printed = _printed_update(x, y)
    what = f"λ = 0: objective, optimum and after {PRINTED_EPOCHS} epochs as printed"
    section.add(
        what,
        None,
        [best, printed],
        bool(printed >= 0.99 * best),
        why_not="with α and α* both free the curvature is 2 R",
    )
    section.remarks.append(
        f"{N} points in [-10, 10], noise {NOISE}, ε = {EPSILON}, C = {C:g}, σ = {SIGMA:g}. The update of section 6.1 "
        "moves α and α* at once. With both free the curvature is 2 R, so the rate 1.9 / max R, within the paper's "
        "bound, is too large: the objective, which should grow to the optimum, falls until the box stops it. Here "
        "β = α* - α takes one step, clip(soft(β + γE, γε)), and every rate below 2 / max R is monotone."
    )
    sheet.draw(section, "regression", curves, xlabel="x", ylabel="y")
    yield section


def _sinc(x: Vector) -> Vector:
    return np.sinc(x / np.pi)


def _printed_update(x: Vector, y: Vector) -> float:
    """Return the objective (49) after some epochs of the algorithm of section 6.1, word for word."""
    R = np.exp(-((x[:, None] - x) ** 2) / (2 * SIGMA**2))
    rate = RATE / R.diagonal().max()
    low, high = np.zeros(N), np.zeros(N)  # alpha, alpha*
    for _ in range(PRINTED_EPOCHS):
        for i in range(N):
            E = y[i] - (high - low) @ R[i]
            up = min(max(rate * (E - EPSILON), -high[i]), C - high[i])
            down = min(max(rate * (-E - EPSILON), -low[i]), C - low[i])
            high[i] += up
            low[i] += down
    beta = high - low
    return float(y @ beta - 0.5 * beta @ R @ beta - EPSILON * (high + low).sum())
