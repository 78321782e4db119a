"""
Unlearning
==========

Some patients withdraw their consent. The model becomes the one that a fit without them gives, and saved again it
replaces the file. A report says what is proven.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
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
    print(
        f"{len(withdrawn)} of {len(y)} samples unlearned in {1e3 * (time.perf_counter() - start):.0f} ms"
    )
    adatron.save(model, path)
    stored = path.read_bytes()
    assert not any(X[i].tobytes() in stored for i in withdrawn)

# %%
# The report computes the certificate anew and compares the model with a fit from nothing.

report = model.deletion_report(refit=True)
print(
    f"duality gap {report['duality_gap']:.1e}, KKT violation {report['kkt_violation']:.1e}, computed anew"
)
print(f"largest difference to a fit from nothing: {report['largest_difference']:.1e}")

# %%
# Each point is a patient. Patients who stay keep nearly the same decision value; those who withdrew may move.
# **The black dots are the fit without them: they hit every point.** No trace of the withdrawn rows is left in the
# coefficients.

after = model.decision_function(X)
fresh = IncrementalSVC(C=10, gamma=0.02).fit(X[stay], y[stay]).decision_function(X)
assert np.abs(after - fresh).max() < 1e-8
figure, ax = plt.subplots(layout="constrained")
ax.plot(
    before[stay], after[stay], "o", markersize=5, alpha=0.6, label="patients who stay"
)
ax.plot(
    before[withdrawn],
    after[withdrawn],
    "s",
    markersize=7,
    label="patients who withdrew",
)
ax.plot(before, fresh, ".k", markersize=2, label="a fit without them")
ax.set(
    xlabel="decision value before",
    ylabel="decision value after",
    title="40 of 569 patients withdraw",
)
ax.legend()
plt.show()
