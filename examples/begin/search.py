"""
Choose C and gamma
==================

Two numbers decide how good an RBF model is. A search tries many pairs of them, and a map of the scores says whether
the search was wide enough. This search finds its ranges itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC
from adatron.plots import SearchDisplay
from adatron.selection import GridSearchCV

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), SVC())
search = GridSearchCV(pipeline, "auto").fit(X, y)
print(
    f"best of {len(search.cv_results_['params'])}: {search.best_params_}, accuracy {search.best_score_:.3f}"
)
print(
    f"largest relative duality gap of all fits: {search.cv_results_['max_duality_gap'].max():.1e}"
)

# %%
# ``"auto"`` takes the ranges from the distances between samples, and widens a range while the best candidate is at its
# edge. The scaler is part of the pipeline, so each fold is scaled by its own training samples. All C and all folds of
# one gamma are solved over one kernel matrix. The scores are those of scikit-learn's search.
#
# Good values form a ridge: a larger C goes with a smaller gamma. **If the best cell lies at an edge of the map, a
# better one may lie beyond it.** Then that side of the map is dashed.

figure, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
SearchDisplay.from_search(search, ax=ax)
plt.show()

# %%
# A dot marks a proven cell: no label of a left-out sample could change at any tighter tolerance. ``prove=True`` solves
# the best candidates on until this holds for them, too.
#
# Ranges of your own are as good. A list stands for itself, also beside ``"auto"``.

grid = {"svc__C": np.geomspace(0.1, 1000, 9), "svc__gamma": [0.003, 0.01, 0.03]}
own = GridSearchCV(pipeline, grid, prove=True).fit(X, y)
print(
    f"best: C = {own.best_params_['svc__C']:.3g}, gamma = {own.best_params_['svc__gamma']}, {own.best_score_:.3f}"
)
print(
    f"proven: {own.cv_results_['proven'].sum()} of {len(own.cv_results_['proven'])} candidates"
)
