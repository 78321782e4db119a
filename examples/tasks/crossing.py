"""
Quantiles that cross
====================

Each quantile has a curve of its own, and two of them may cross: beyond that place the curve of 0.9 is below that of
0.1. ``n_crossed_`` counts the training samples at which that happens, and ``rearrange=True`` sorts the values of each
sample. On average sorted curves are no worse (Chernozhukov, Fernández-Val and Galichon, 2010).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from adatron import QuantileSVR

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-0.4, 4, 250))
y = 0.5 * x + 0.6 * np.abs(x) * rng.normal(size=x.size)
X, levels = x[:, None], [0.1, 0.5, 0.9]
model = QuantileSVR(quantile=levels, kernel="linear", C=10)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    model.fit(X, y)
print(f"largest relative duality gap of a curve: {max(model.duality_gap_):.1e}")
print(told[0].message)

# %%
# ``rearrange`` is read at each prediction, so it needs no fit. **Straight lines of different slopes cross somewhere;
# the sorted ones bend there, and the values are in order on both sides.**

grid = np.linspace(-2, 4, 400)[:, None]
figure, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4), layout="constrained")
for ax, rearrange in zip(axes, (False, True), strict=True):
    curves = model.set_params(rearrange=rearrange).predict(grid)
    falls = int(np.sum((np.diff(curves, axis=1) < 0).any(axis=1)))
    print(f"rearrange={rearrange}: wrong order at {falls} of {len(grid)} places")
    ax.plot(x, y, ".", color="0.6")
    for curve, level, line in zip(curves.T, levels, ("--", "-", "-."), strict=True):
        ax.plot(grid, curve, line, label=level)
    ax.set(xlabel="x", title=f"rearrange={rearrange}")
axes[0].set_ylabel("y")
axes[0].legend(title="quantile", loc="upper left")
plt.show()
