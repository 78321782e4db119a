"""
Choose C and gamma
==================

Two numbers decide how good an RBF machine is. A grid of powers of ten finds them, and a picture of the grid says
whether the search was wide enough.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC

X, y = load_breast_cancer(return_X_y=True)
C, gamma = np.logspace(-2, 4, 7), np.logspace(-5, 1, 7)
pipeline = make_pipeline(StandardScaler(), SVC())
search = GridSearchCV(pipeline, {"svc__C": C, "svc__gamma": gamma}, cv=5).fit(X, y)
print(f"best: {search.best_params_}, accuracy {search.best_score_:.3f}")
print(f"relative duality gap of the best model: {search.best_estimator_[-1].duality_gap_:.1e}")

# %%
# The scaler is part of the pipeline, so each fold is scaled by its own training samples. ``n_jobs`` of the search stays
# at its default, because one fit already uses all cores.
#
# Good values form a ridge: a larger C goes with a smaller gamma. **If the best cell lies at the edge of the grid, the
# grid is too small.** Here it lies inside.

scores = search.cv_results_["mean_test_score"].reshape(len(C), len(gamma))
figure, ax = plt.subplots(layout="constrained")
image = ax.imshow(scores, origin="lower", cmap="cividis")
row, column = np.unravel_index(scores.argmax(), scores.shape)
ax.plot(column, row, "*", color="white", markeredgecolor="black", markersize=18)
ax.set(xlabel="gamma", ylabel="C", title="Accuracy in cross-validation; the star is the best")
ax.set_xticks(range(len(gamma)), [f"{value:g}" for value in gamma])
ax.set_yticks(range(len(C)), [f"{value:g}" for value in C])
figure.colorbar(image)
plt.show()
