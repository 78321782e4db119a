"""
Which steps are cheap?
======================

A metric says what a step in the input space costs, so it holds what is known of the inputs before any sample is seen.
:class:`adatron.InputMarginSVC` makes the margin large in it. Two metrics that Akaho's paper names:
"""

import matplotlib.pyplot as plt
import numpy as np

from adatron import SVC, InputMarginSVC, input_margin
from adatron.plots.input_margin import InputMarginDisplay

HARD = float("inf")
rng = np.random.default_rng(0)
side = np.where(np.arange(24) % 2 == 0, 1, -1)

# %%
# **The Fisher information.** Each sample is a normal distribution, by its mean and its deviation. Distributions with a
# small deviation are easy to tell apart, so a step between them is long.


def fisher(x):
    return np.diag([1.0, 2.0]) / x[1] ** 2


deviation = np.exp(rng.normal(np.where(side > 0, -0.7, 0.3), 0.4))
mean = deviation * rng.normal(size=24) + 0.5 * side
X = np.column_stack([mean, deviation])
plain = SVC(C=HARD, gamma=1.0).fit(X, side)
natural = InputMarginSVC(C=HARD, gamma=1.0, metric=fisher).fit(X, side)
before, after = (input_margin(m, X, fisher).distance.min() for m in (plain, natural))
print(f"margin in the Fisher metric: {before:.3f}, maximised {after:.3f}")

# %%
# **Tangents of an invariance.** A rotation about the origin should not change the class. So a step along the
# circle costs a tenth of a step across it. **The boundary turns along the circles.**


def rotation(x):
    t = np.array([-x[1], x[0]]) / np.linalg.norm(x)
    return np.eye(2) - 0.99 * np.outer(t, t)


angle = rng.uniform(0, np.pi, 24)
radius = np.where(side > 0, 1.0, 1.8) + 0.1 * rng.normal(size=24)
rings = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
plain = SVC(C=HARD, gamma=1.0).fit(rings, side)
turned = InputMarginSVC(C=HARD, gamma=1.0, metric=rotation).fit(rings, side)
before, after = (
    input_margin(m, rings, rotation).distance.min() for m in (plain, turned)
)
print(f"margin if rotations are cheap: {before:.3f}, maximised {after:.3f}")
print(f"relative duality gap of its program: {turned.duality_gap_:.1e}")

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, model, title in zip(
    axes, (plain, turned), ("Original", "Rotations are cheap"), strict=True
):
    InputMarginDisplay.from_estimator(model, rings, side, ax=ax)
    ax.set(title=title)
plt.show()
