"""
Save, shrink and share a model
==============================

A model file holds arrays and JSON, and loading one runs no code from it. A compact model has the same decisions and
fewer vectors. For computers without this library, a model becomes one of scikit-learn or of LIBSVM.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import adatron
from adatron import SVC
from adatron.files import save_libsvm

X, y = make_moons(3000, noise=0.3, random_state=0)
X = X.round(
    1
)  # measured to one digit: many samples are equal, and some of these belong to both classes
model = SVC(C=10).fit(X, y)
small = model.compact()
assert (small.predict(X) == model.predict(X)).all()
print(
    f"{len(model.support_)} support vectors, {len(small.support_vectors_)} in the compact model"
)
print(f"relative duality gap: {model.duality_gap_:.1e}")

# %%
# Loaded models predict the same, to the last bit.

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    adatron.save(model, folder / "model.adatron")
    adatron.save(small, folder / "compact.adatron")
    save_libsvm(model, folder / "libsvm.model")
    sizes = {path.name: path.stat().st_size / 1000 for path in sorted(folder.iterdir())}
    loaded = adatron.load(folder / "model.adatron")
assert (loaded.decision_function(X) == model.decision_function(X)).all()

# %%
# ``to_sklearn`` makes an estimator of scikit-learn. It needs nothing of this library any more.

exported = small.to_sklearn()
assert np.allclose(exported.decision_function(X), model.decision_function(X))
print(f"{type(exported).__module__.partition('.')[0]}'s {type(exported).__name__}")

figure, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
bars = ax.barh(list(sizes), list(sizes.values()), color=["C0", "C1", "C0"])
ax.bar_label(bars, fmt="%.1f kB", padding=4)
ax.set(xlabel="kB", title="The same decisions in three files")
ax.margins(x=0.15)
plt.show()
