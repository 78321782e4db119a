"""
Sets of classes that hold
=========================

If classes overlap, an honest answer is a set: one class if the data decide, and several if they do not. Full conformal
prediction learns each new sample with each class, exactly. It keeps the classes with which the sample is not too
strange. The set then holds the true class with a probability of at least 90 %.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from adatron import SVC, IncrementalSVC
from adatron.intervals import FullConformal, JackknifePlus

centers = [(0, 0), (2.5, 0), (1.2, 2.2)]
X, y = make_blobs(150, centers=centers, cluster_std=0.9, random_state=0)
X_new, y_new = make_blobs(150, centers=centers, cluster_std=0.9, random_state=1)
machine = IncrementalSVC(C=1.0, gamma=0.5, multi_class="ovr")
model = FullConformal(machine, alpha=0.1).fit(X, y)
print(f"relative duality gap: {max(model.estimator_.duality_gap_):.1e}")

sets = model.predict_set(X_new)
hits = sets[np.arange(len(y_new)), y_new]
print(f"full conformal: {hits.mean():.0%} hold the true class,", end=" ")
print(f"{sets.sum(axis=1).mean():.2f} classes on average")

# %%
# Each new sample took some milliseconds for each class. A line on stderr would have announced more than five seconds.
# ``JackknifePlus`` over an ``SVC`` pays once, for the models that lack a sample. Its guarantee is weaker, and its sets
# are nearly the same.

plus = JackknifePlus(SVC(C=1.0, gamma=0.5, multi_class="ovr"), alpha=0.1).fit(X, y)
others = plus.predict_set(X_new)
hits = others[np.arange(len(y_new)), y_new]
print(f"jackknife+: {hits.mean():.0%} hold the true class,", end=" ")
print(f"{(others == sets).all(axis=1).mean():.0%} of the sets are equal")

# %%
# **The sets have one class in the middle of each cloud, and two or three between the clouds.** Far from all samples
# they have all classes, since nothing speaks against any. The sets are those of full conformal prediction on a grid.

sides = np.linspace(-2.5, 5.0, 19), np.linspace(-2.5, 5.0, 19)
grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
sizes = model.set_params(verbose=0).predict_set(grid).sum(axis=1)
figure, ax = plt.subplots(layout="constrained")
shades = ax.pcolormesh(
    *sides,
    sizes.reshape(19, 19),
    cmap=plt.get_cmap("Blues", 4),
    vmin=-0.5,
    vmax=3.5,
    alpha=0.6,
)
figure.colorbar(shades, ticks=range(4), label="classes in the set")
for label, mark in zip(range(3), "os^", strict=True):
    ax.plot(*X[y == label].T, mark, markersize=5, label=f"class {label}")
ax.set(title="Sets are large where classes overlap")
ax.legend(loc="upper right")
plt.show()
