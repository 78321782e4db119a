"""
Rare classes and weights
========================

One sample in twenty belongs to the class that matters. A model that counts errors alone may ignore that class.
Weights say what an error costs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import train_test_split

from adatron import SVC

X, y = make_blobs(
    [1900, 100], centers=[[0, 0], [2, 2]], cluster_std=[1.3, 0.8], random_state=0
)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
models = {
    "all errors cost the same": SVC(gamma=0.2),
    "class_weight='balanced'": SVC(gamma=0.2, class_weight="balanced"),
    "a miss costs 5 false alarms": SVC(gamma=0.2, class_weight={0: 1, 1: 5}),
}

# %%
# ``class_weight`` multiplies C for each class. ``'balanced'`` gives both classes the same total weight: here an error
# on a rare sample costs 19 times as much. **Weights move the boundary: they trade missed samples for false alarms.**
# The recall is the share of the rare class that is found; the precision is the share of alarms that are right.
# Say what a miss costs if you know it; take ``'balanced'`` if you do not.

figure, axes = plt.subplots(1, 3, figsize=(10, 4.2), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    predicted = model.predict(X_test)
    recall, precision = (
        recall_score(y_test, predicted),
        precision_score(y_test, predicted),
    )
    print(
        f"{name}: finds {recall:.0%} of the rare class; {precision:.0%} of its alarms are right"
    )
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        grid_resolution=300,
        eps=1.5,
        response_method="predict",
        levels=[-0.5, 0.5, 1.5],
        colors=["C0", "C1"],
        alpha=0.25,
        ax=ax,
    )
    for label, kind, mark in ((0, "usual", "o"), (1, "rare", "s")):
        ax.plot(*X_test[y_test == label].T, mark, markersize=3.5, label=kind)
    ax.set(
        title=f"{name}\nrecall {100 * recall:.0f} %, precision {100 * precision:.0f} %",
        xlabel="first feature",
        xlim=(-4, 5),
        ylim=(-4, 5),
    )
axes[0].set(ylabel="second feature")
axes[0].legend(title="class", loc="lower right", fontsize="small")
plt.show()

# %%
# A weight is a repetition: a sample of weight 2 counts as two. ``sample_weight`` says it sample by sample.

twice = np.where(y == 1, 2, 1)
weighted = SVC(gamma=0.2, tol=1e-6).fit(X, y, sample_weight=twice)
repeated = SVC(gamma=0.2, tol=1e-6).fit(
    np.repeat(X, twice, axis=0), np.repeat(y, twice)
)
difference = np.abs(
    weighted.decision_function(X_test) - repeated.decision_function(X_test)
).max()
print(f"largest difference between weights and repetitions: {difference:.0e}")
print(f"relative duality gap: {weighted.duality_gap_:.1e}")
