"""
Several labels of a sample
==========================

A song may be both loud and sad. ``SVC`` takes labels of shape (n, T), a column of 0 and 1 for each, and learns all of
them in one fit over one kernel matrix. Each label has a boundary and a certificate of its own.
"""

from time import process_time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.multioutput import MultiOutputClassifier

from adatron import SVC

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (300, 2))
round_ = np.hypot(*X.T) + 0.15 * rng.normal(size=300) < 1.3
high = X[:, 1] - np.sin(2 * X[:, 0]) + 0.15 * rng.normal(size=300) > 0
Y = np.column_stack([round_, high]).astype(int)
model = SVC(C=10, gamma=1.0).fit(X, Y)
print(
    f"predictions: {model.predict(X).shape}; both labels right: {model.score(X, Y):.0%}"
)
print(f"largest relative duality gap of a label: {model.duality_gap_.max():.1e}")

# %%
# **Two boundaries make four regions: each sample has none, one or both of the labels.**

side = np.linspace(-2, 2, 200)
grid = np.stack(np.meshgrid(side, side), axis=-1)
values = model.decision_function(grid.reshape(-1, 2)).reshape(200, 200, 2)
figure, ax = plt.subplots(layout="constrained")
for label, (name, color) in enumerate((("round", "C0"), ("high", "C1"))):
    ax.contourf(side, side, values[..., label], [0, np.inf], colors=color, alpha=0.25)
    ax.contour(side, side, values[..., label], [0], colors=color)
    ax.plot([], [], color=color, label=name)
for code, mark in zip(((0, 0), (1, 0), (0, 1), (1, 1)), ".os^", strict=True):
    own = (code == Y).all(axis=1)
    ax.plot(*X[own].T, mark, color="0.3", markersize=4, fillstyle="none")
ax.set(xlabel="x", ylabel="y", title="Regions of two labels overlap")
ax.legend(loc="lower left")
plt.show()

# %%
# scikit-learn's ``MultiOutputClassifier`` fits a classifier for each label, with the same solutions up to the
# tolerance. With many features, sharing the kernel values pays. The times are those of the processor.

A, labels = make_multilabel_classification(1000, 500, n_classes=10, random_state=0)
for machine in (SVC(), MultiOutputClassifier(SVC())):
    machine.fit(A[:100], labels[:100])  # compiles
    begin = process_time()
    right = np.mean(machine.fit(A, labels).predict(A) == labels)
    print(f"{process_time() - begin:5.2f} s, {right:.1%} right: {machine}")
