"""Concept drift: a stream whose rule changes is followed by an exact model of its last samples.

Breast cancer data (Wisconsin, diagnostic), whose labels change their meaning half-way. A model with a window forgets
the old rule. A model that keeps all samples does not. The picture shows the errors of both over time.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
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
    print(f"{name}: {np.mean(wrong[-100:]):.0%} errors among the last 100, duality gap {model.duality_gap_:.1e}")
    print(f"  {len(model.ids_)} samples in the model, {model.n_refit_} refits")

figure = Figure(layout="constrained")
axes = figure.add_subplot()
for name, values in errors.items():
    axes.plot(np.arange(len(values)) + WINDOW + SHOWN, values, label=name)
axes.axvline(drift, color="0.7", zorder=0)
axes.set(xlabel="sample", ylabel=f"error rate of the last {SHOWN} predictions", title="The labels change their meaning")
axes.legend()
path = Path(os.environ.get("ADATRON_PICTURES", tempfile.gettempdir())) / "concept_drift.png"
figure.savefig(path)
print(f"picture: {path}")
assert errors[f"the last {WINDOW} samples"][-1] < errors["all samples"][-1]
