"""
Several targets
===============

A place has two coordinates, and a sensor many channels. ``SVR`` takes a target of shape (n, T), learns T numbers in one
fit, and predicts them together. Each has the coefficients of a fit of its own, to the last bit, and its certificate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.multioutput import MultiOutputRegressor

from adatron import SVR

rng = np.random.default_rng(0)
time = np.sort(rng.uniform(0, 2 * np.pi, 150))[:, None]
path = np.hstack([np.sin(2 * time), np.sin(3 * time)])
seen = path + 0.1 * rng.normal(size=path.shape)
model = SVR(C=10, gamma=2.0, epsilon=0.1).fit(time, seen)
print(f"predictions: {model.predict(time).shape}, R2 {model.score(time, path):.3f}")
print(f"largest relative duality gap of a target: {max(model.duality_gap_):.1e}")

alone = MultiOutputRegressor(SVR(C=10, gamma=2.0, epsilon=0.1)).fit(time, seen)
same = [
    model.intercept_[k] == one.intercept_[0] for k, one in enumerate(alone.estimators_)
]
print(f"the intercepts are those of a fit for each target: {all(same)}")

# %%
# **Two numbers for each moment draw a path.** The model holds each support vector once, so a prediction computes each
# kernel value once for all targets.

moments = np.linspace(0, 2 * np.pi, 500)[:, None]
figure, ax = plt.subplots(layout="constrained")
ax.plot(*seen.T, ".", color="0.6", label="measured")
ax.plot(np.sin(2 * moments), np.sin(3 * moments), "k--", linewidth=1, label="true path")
ax.plot(*model.predict(moments).T, color="C0", label="predicted")
ax.set(
    xlabel="first target",
    ylabel="second target",
    ylim=(-1.5, 1.2),
    title="One fit of two targets",
)
ax.legend(loc="lower center", ncols=3)
plt.show()
