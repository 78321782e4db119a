"""Figure 1: ratios for which the update of a projection, eq. 12, returns to a critical point of the distance."""

from __future__ import annotations

import numpy as np

from adatron.kernels import Polynomial
from adatron.margins import Field, Metric, nearest, parts
from adatron.plots.axes import off_screen
from adatron.threads import Pool

from ..claims import Claim
from ..report import Section, Sheet

RATIOS = np.r_[-3.0:3.01:0.25]  # c/λ
PUSH, STEPS_SHOWN = 1e-4, 8  # Distance of the start from the foot, and steps that show where it goes.


def section(sheet: Sheet) -> tuple[Section, list[Claim]]:
    """Test that the plain update is stable for |c/λ| < 1; a critical point is a minimum for c/λ < 1."""
    section = Section("Figure 1: stability of the update of a projection (eq. 12)")
    ratios = RATIOS[np.abs(np.abs(RATIOS) - 1.0) > 1e-9]
    found = [(float(ratio), *_tried(float(ratio))) for ratio in ratios]
    plain = [ratio for ratio, stable, _ in found if stable]
    section.add("c/λ at which it comes back", "-1 < c/λ < 1", [min(plain), max(plain)],
                all(stable == (abs(ratio) < 1) for ratio, stable, _ in found))  # fmt: skip
    slowed = [ratio for ratio, _, stable in found if stable]
    section.add("the same, slowed down by the curvature", "all minima: c/λ < 1", [min(slowed), max(slowed)],
                all(stable == (ratio < 1) for ratio, _, stable in found))  # fmt: skip
    section.remarks.append(
        "A parabola f = x₁ + c x₂²/2 and a sample at a distance on either side of its vertex; the projection is pushed "
        f"by {PUSH} along the surface. The paper's rule to slow down assumes λ > 0; here c/λ < -1 is meant."
    )
    if sheet.folder is not None:
        ax = off_screen()
        for mark, which, label in (("o", 1, "eq. 12"), ("+", 2, "slowed down")):
            ax.plot(ratios, [one[which] for one in found], mark, label=label)
        ax.set(xlabel="c/λ", ylabel="stable", yticks=[0, 1], yticklabels=["no", "yes"], title="Figure 1")
        ax.legend()
        sheet.save(section, "figure_1", ax)
    back, minima = (line.holds for line in section.lines)
    return section, [
        Claim("eq. 12 is stable for |c/λ| < 1 only: no maximum or saddle is", "3.4, Fig. 1", back,
              f"at {len(found)} ratios from {ratios[0]:g} to {ratios[-1]:g}"),
        Claim("slowed down, it is stable at all minima", "3.4", minima, f"c/λ from {slowed[0]:g} to {slowed[-1]:g}"),
    ]  # fmt: skip


def _tried(ratio: float) -> tuple[bool, bool]:
    """Return whether the vertex is found again by the plain update, and by the slowed one from a sample."""
    # f = x₁ + c x₂²/2 as Σ a (z·x + 1)². x₁ = ((x₁ + 1)² - (1 - x₁)²) / 4. x₂² = ((1 + x₂)² + (1 - x₂)²) / 2 - 1.
    c = 1.0
    points = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    field = Field(Polynomial(1.0, 2, 1.0), points, np.array([0.25, -0.25, 0.25 * c, 0.25 * c]), -0.5 * c)
    # ∇f = (1, 0) = λ d, so the sample is at -1/λ = -ratio/c on the first axis. At 0 the sample is on the surface.
    X = np.array([[-ratio / c if ratio else -1e-9, 0.0]])
    Z, pool = np.array([[0.0, PUSH]]), Pool(1)
    for _ in range(STEPS_SHOWN):
        step = parts(Metric(), X, Z, *field.slopes(Z, pool))
        Z = Z + step.onto + step.along
    distance = nearest(field, Metric(), X, pool).distance[0]
    return bool(abs(Z[0, 1]) < 0.5 * PUSH), bool(abs(distance - abs(X[0, 0])) < 1e-9)
