"""
First fit
=========

Three lines train a support vector machine: data in, model out, score. The picture shows what the machine learned: the
boundary, the margins beside it, and the samples that decide both.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split

from adatron import SVC

X, y = make_moons(600, noise=0.2, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
model = SVC(C=10, gamma=1.0).fit(X, y)

print(f"accuracy on new samples: {model.score(X_test, y_test):.3f}")
print(f"support vectors: {len(model.support_)} of {len(X)} samples")
print(f"relative duality gap: {model.duality_gap_:.1e}")

# %%
# The classes, parameters and attributes are those of :class:`sklearn.svm.SVC`, so scikit-learn's tools take the model
# as it is. Here :class:`sklearn.inspection.DecisionBoundaryDisplay` draws it.
#
# The solid line is the boundary. The dashed lines are the margins, where the decision value is 1 or -1. Every sample
# with a ring is a support vector: it lies on a margin or on the wrong side of it. **The other samples could be removed
# and the model would stay the same.**

figure, ax = plt.subplots(figsize=(4.8, 4), layout="constrained")
DecisionBoundaryDisplay.from_estimator(
    model,
    X,
    grid_resolution=200,
    eps=0.3,
    response_method="decision_function",
    plot_method="contour",
    levels=[-1, 0, 1],
    linestyles=["--", "-", "--"],
    colors="0.3",
    ax=ax,
)
for label, mark in ((0, "o"), (1, "s")):
    ax.plot(*X[y == label].T, mark, markersize=5, label=f"class {label}")
ax.plot(
    *model.support_vectors_.T,
    "o",
    markersize=10,
    fillstyle="none",
    color="0.3",
    label="support vectors",
)
ax.set(title="Few samples decide", xlabel="first feature", ylabel="second feature")
ax.margins(0)
ax.legend(loc="upper right", framealpha=1, handletextpad=0.2)
plt.show()
