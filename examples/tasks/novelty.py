"""
Novelty: what does not belong
=============================

:class:`adatron.OneClassSVM` learns from normal samples alone and finds the region that holds most of them. Whatever
comes later and lies outside is new.
"""

import matplotlib.pyplot as plt
import numpy as np

from adatron import OneClassSVM

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 500)
X = np.column_stack([np.cos(angle), np.sin(angle)]) * 2 + rng.normal(0, 0.25, (500, 2))
new = rng.uniform(-4, 4, (60, 2))
model = OneClassSVM(nu=0.05, gamma=1.0, tol=1e-6).fit(X)
outside = (
    model.decision_function(X) < -1e-5
)  # some samples lie on the boundary itself, to the tolerance
print(f"outside among the training samples: {outside.mean():.1%} (at most nu = 5 %)")
print(f"outside among the others: {np.mean(model.predict(new) < 0):.0%}")
print(f"relative duality gap: {model.duality_gap_:.1e}")

# %%
# ``nu`` is a promise about the training samples: **at most this share of them lies outside.** So ``nu`` is the rate of
# false alarms that you accept. The shape of the region is up to gamma. The hole in the middle is found, too.

axis = np.linspace(-4, 4, 200)
points = np.stack(np.meshgrid(axis, axis), axis=-1)
values = model.decision_function(points.reshape(-1, 2)).reshape(200, 200)
figure, ax = plt.subplots(figsize=(5.6, 5), layout="constrained")
ax.contourf(axis, axis, values, levels=[0, values.max()], colors=["C0"], alpha=0.2)
ax.contour(axis, axis, values, levels=[0], colors="C0")
ax.plot(*X.T, ".", color="C0", markersize=4, label="training samples")
inside = model.predict(new) > 0
ax.plot(*new[inside].T, "o", color="C2", fillstyle="none", label="later, known")
ax.plot(*new[~inside].T, "x", color="C1", label="later, new")
ax.set(aspect="equal", title="The region that holds at least 95 % of the samples")
ax.legend(loc="upper right")
plt.show()
