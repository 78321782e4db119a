"""
Quantiles follow the noise
==========================

A prediction of the middle does not say how far off it may be, and a tube of one width is wrong where the noise varies.
Quantile regression fits a curve for each quantile: a tenth of the samples lies below the first one, and a tenth above
the last one.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from adatron import QuantileSVR


def draw(n, seed):
    """Draw samples of a curve; the noise grows from left to right."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 6, n)
    return x[:, None], np.sin(x) + (0.05 + 0.1 * x) * rng.normal(size=n)


X, y = draw(400, 0)
X_new, y_new = draw(4000, 1)
levels = [0.1, 0.5, 0.9]
model = QuantileSVR(quantile=levels, C=10, gamma=0.3).fit(X, y)
print(f"largest relative duality gap of a curve: {max(model.duality_gap_):.1e}")
for level, curve in zip(levels, model.predict(X_new).T, strict=True):
    print(f"{np.mean(y_new < curve):.0%} of new samples are below the curve of {level}")

# %%
# **The band is narrow where the noise is small, and wide where it is large.** Dashed curves are the true quantiles. All
# three curves come from one fit, and each has a certificate of its own.

grid = np.linspace(0, 6, 300)
low, middle, high = model.predict(grid[:, None]).T
figure, ax = plt.subplots(layout="constrained")
ax.fill_between(grid, low, high, color="C0", alpha=0.2, label="from 0.1 to 0.9")
ax.plot(grid, middle, color="C0", label="median")
for number, level in enumerate(levels):
    true = np.sin(grid) + (0.05 + 0.1 * grid) * norm.ppf(level)
    ax.plot(grid, true, "k--", linewidth=1, label="_" if number else "true quantiles")
ax.plot(X, y, ".", color="0.5", markersize=4)
ax.set(xlabel="x", ylabel="y", title="Eight of ten new samples are in the band")
ax.legend()
plt.show()
