"""
Linear machines and unscaled features
=====================================

Cells of 569 tumours are measured in 30 features, whose deviations range from thousandths to hundreds. Nobody has
scaled them. Many linear solvers then stop far above the optimum. Here the optimum is found, and proven.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn import svm
from sklearn.datasets import load_breast_cancer

from adatron import LinearSVC

X, y = load_breast_cancer(return_X_y=True)
print(
    f"standard deviations of the features: {X.std(axis=0).min():.1g} to {X.std(axis=0).max():.1g}"
)
model = LinearSVC(loss="hinge", C=10).fit(X, y)
print(
    f"relative duality gap: {model.duality_gap_:.1e} after {model.n_iter_[0]:,} updates"
)

# %%
# The objective is half of the squared length of the weights, the bias among them, and C times the errors. scikit-learn
# has the same objective, and stops after 1,000 iterations with a warning. More iterations help little.


def objective(fitted):
    w, b = fitted.coef_[0], fitted.intercept_[0]
    errors = np.maximum(0.0, 1.0 - np.where(y == 1, 1.0, -1.0) * (X @ w + b))
    cost = errors if fitted.loss == "hinge" else errors**2
    return 0.5 * (w @ w + b * b) + fitted.C * cost.sum()


def theirs(**parameters):
    """Return scikit-learn's model, and how many warnings it gave."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        return svm.LinearSVC(C=10, random_state=0, **parameters).fit(X, y), len(given)


best = objective(model)
limits = np.array([100, 300, 1000, 3000, 10_000])
heights = []
for limit in limits:
    other, warned = theirs(loss="hinge", max_iter=int(limit))
    heights.append(objective(other) / best)
    print(
        f"{limit:6,} iterations: {heights[-1]:5.2f} times the optimum, {warned} warning"
    )

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(limits, heights, "o-", label="scikit-learn")
ax.axhline(1.0, color="C1", label="LinearSVC here, proven")
ax.set(
    xscale="log",
    ylim=(0, None),
    xlabel="max_iter",
    ylabel="objective / optimum",
    title="Hinge, C = 10, unscaled",
)
ax.legend()
plt.show()

# %%
# With the squared hinge scikit-learn takes another algorithm, which needs few iterations. **It stops above the optimum,
# too, and gives no warning.** Only a proof can tell. Here six Newton steps are enough.

squared = LinearSVC(C=10).fit(X, y)
other, warned = theirs()
print(
    f"scikit-learn: {objective(other) / objective(squared):.2f} times the optimum, {warned} warnings"
)
print(
    f"here: {squared.n_iter_[0]} steps, relative duality gap {squared.duality_gap_:.1e}"
)
print(squared.route_)

# %%
# Scaled features are good for every solver, and change what the penalty means. If you cannot scale, or must not,
# because the weights are to be read in the units of the features, the optimum is here.
