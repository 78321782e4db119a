"""
A stream whose rule changes
===========================

A model with a window learns each new sample and forgets the oldest one. It is the exact solution for the samples in the
window, at every moment. Half-way through this stream the labels change their meaning.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from adatron import IncrementalSVC

WINDOW, SHOWN = 80, 40
X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
order = np.random.default_rng(0).permutation(len(y))
X, y = X[order], y[order]
drift = len(y) // 2
y[drift:] = 1 - y[drift:]  # from here on the labels mean the opposite

models = {
    f"the last {WINDOW} samples": IncrementalSVC(C=10, gamma=0.02, window=WINDOW),
    "all samples": IncrementalSVC(C=10, gamma=0.02),
}
errors = {}
for name, model in models.items():
    model.fit(X[:WINDOW], y[:WINDOW])
    wrong = []
    for i in range(WINDOW, len(y)):
        wrong.append(model.predict(X[i : i + 1])[0] != y[i])  # first predict,
        model.partial_fit(X[i : i + 1], y[i : i + 1])  # then learn
    errors[name] = np.convolve(wrong, np.full(SHOWN, 1 / SHOWN), "valid")
    print(
        f"{name}: {np.mean(wrong[-100:]):.0%} errors among the last 100, duality gap {model.duality_gap_:.1e}"
    )

# %%
# **The model with a window has forgotten the old rule after 80 samples. The other one is still wrong in every second
# case.** The command ``adatron stream`` does the same with the lines of a file, and survives being killed.

figure, ax = plt.subplots(layout="constrained")
for (name, values), line in zip(errors.items(), ("-", "--"), strict=True):
    ax.plot(np.arange(len(values)) + WINDOW + SHOWN, values, line, label=name)
ax.axvline(drift, color="0.7", zorder=0)
ax.set(
    xlabel="sample",
    ylabel=f"error rate of the last {SHOWN} predictions",
    title="The labels change their meaning",
)
ax.legend()
plt.show()
