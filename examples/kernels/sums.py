"""
Sums and products of kernels
============================

A kernel says which samples are alike. A sum of kernels says that there are several ways to be alike: here a slow trend
and a season of twelve months.
"""

import matplotlib.pyplot as plt
import numpy as np

from adatron import SVR
from adatron.kernels import RBF, Linear


def season(A, B):
    """Return how near two months are within the year, for all pairs."""
    return np.exp(-2 * np.sin(np.pi * (A - B.T) / 12) ** 2)


def trend_and_season(A, B):
    """Add the season to a straight line and slow changes of it."""
    return 10 * season(A, B) + 2e-3 * Linear()(A, B) + 10 * RBF(gamma=2e-4)(A, B)


rng = np.random.default_rng(0)
month = np.arange(144.0)[:, None]
y = (
    0.12 * month[:, 0]
    + 3 * np.sin(2 * np.pi * month[:, 0] / 12)
    + rng.normal(0, 0.8, 144)
)
known = month[:, 0] < 96
models = {
    "RBF alone": SVR(kernel=RBF(gamma=0.02), C=10, epsilon=0.5),
    "straight line + RBF": SVR(
        kernel=1e-2 * Linear() + RBF(gamma=0.02), C=10, epsilon=0.5
    ),
    "line + slow changes + season": SVR(kernel=trend_and_season, C=10, epsilon=0.5),
}

# %%
# ``Linear() + RBF(...)`` are objects of ``adatron.kernels``. They are compiled, and their derivatives and rounding
# errors are known. A kernel that does not exist yet, such as the season, is a function of yours. **Only the kernel that
# knows the season can continue it.** The certificate is the same for all of them.

figure, axes = plt.subplots(3, 1, figsize=(7, 7), sharex=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(month[known], y[known])
    error = np.abs(model.predict(month[~known]) - y[~known]).mean()
    print(
        f"{name}: mean error of the forecast {error:.2f}, relative duality gap {model.duality_gap_:.1e}"
    )
    ax.plot(month[known], y[known], ".", color="0.4")
    ax.plot(month[~known], y[~known], ".", color="C1", label="not learned")
    ax.plot(month, model.predict(month), color="C0")
    ax.axvline(96, color="0.7", linestyle=":")
    ax.set(title=f"{name}: mean error of the forecast {error:.2f}", ylabel="y")
axes[0].legend(loc="upper left")
axes[-1].set(xlabel="month")
plt.show()
