"""Unlearning: some patients withdraw, and the model becomes the one that a fit without them gives.

Breast cancer data (Wisconsin, diagnostic). The patients' rows leave the model and the file that it was saved to. A
report says what is proven. The picture shows the decision values before, after, and of a fit without these patients.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import adatron
from adatron import IncrementalSVC

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
model = IncrementalSVC(C=10, gamma=0.02).fit(X, y)
before = model.decision_function(X)
withdrawn = np.random.default_rng(0).choice(len(y), 40, replace=False)
stay = np.setdiff1d(np.arange(len(y)), withdrawn)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "patients.adatron"
    adatron.save(model, path)
    start = time.perf_counter()
    model.forget(withdrawn)
    print(f"{len(withdrawn)} of {len(y)} samples unlearned in {1e3 * (time.perf_counter() - start):.0f} ms")
    stored = path.read_bytes()
    assert not any(X[i].tobytes() in stored for i in withdrawn)

report = model.deletion_report(refit=True)
print(f"duality gap {report['duality_gap']:.1e}, KKT violation {report['kkt_violation']:.1e}, computed anew")
print(f"largest difference to a fit from nothing: {report['largest_difference']:.1e}")
after = model.decision_function(X)
fresh = IncrementalSVC(C=10, gamma=0.02).fit(X[stay], y[stay]).decision_function(X)
assert np.abs(after - fresh).max() < 1e-8

figure = Figure(layout="constrained")
axes = figure.add_subplot()
axes.plot(before[stay], after[stay], ".", label="samples that stay")
axes.plot(before[withdrawn], after[withdrawn], "o", label="unlearned samples")
axes.plot(before, fresh, "k,", label="a fit without them")
axes.set(xlabel="decision value before", ylabel="decision value after", title="40 of 569 patients withdraw")
axes.legend()
path = Path(os.environ.get("ADATRON_PICTURES", tempfile.gettempdir())) / "unlearning.png"
figure.savefig(path)
print(f"picture: {path}")
