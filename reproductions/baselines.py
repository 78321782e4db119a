"""The machines that the papers compare with, as scikit-learn has them, run instead of quoted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from .fits import quietly, standard_error

HIDDEN_UNITS, NETWORK_EPOCHS = 12, 300  # Gorman and Sejnowski's best network, and their epochs.
RBF_CENTRES = 30  # Of an RBF network.


def network(hidden: int = HIDDEN_UNITS) -> Any:
    """Return a network with one hidden layer, or none."""
    if hidden == 0:
        return make_pipeline(StandardScaler(), LogisticRegression())
    return make_pipeline(StandardScaler(), MLPClassifier((hidden,), max_iter=NETWORK_EPOCHS))


def rbf_network(gamma: float, centres: int = RBF_CENTRES, random_state: int = 0) -> Any:
    """Return an RBF network: Gaussians around the centres of k-means, and a linear layer."""
    means = KMeans(centres, n_init="auto", random_state=random_state)
    squares = FunctionTransformer(_bells, kw_args={"gamma": gamma})
    return make_pipeline(means, squares, RidgeClassifier(1e-3))


def _bells(distances: Any, gamma: float) -> Any:
    return np.exp(-gamma * distances**2)


BASELINES: dict[str, Any] = {
    "k nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "CART": DecisionTreeClassifier(random_state=0),
    "C4.5": DecisionTreeClassifier(criterion="entropy", random_state=0),
    "linear discriminant": LinearDiscriminantAnalysis(),
    "back-propagation network": network(),
    "RBF network": rbf_network(0.01),
}
STAND_INS = "C4.5 is stood in for by a tree with the entropy as its criterion"


def scores(name: Any, X: Any, y: Any, X_test: Any, y_test: Any, repeats: int = 1) -> list[float]:
    """Return the percentage of right test samples of a baseline or its name, for several seeds if it draws weights."""
    model = BASELINES[name] if isinstance(name, str) else name
    found = []
    for seed in range(repeats):
        one: Any = clone(model)
        last = one.steps[-1][0] if hasattr(one, "steps") else ""
        if last == "mlpclassifier":
            one.set_params(mlpclassifier__random_state=seed)
        found.append(100.0 * float(quietly(one, X, y).score(X_test, y_test)))
    return found


def spread(values: list[float]) -> str:
    """Return a mean and its standard error as a table shows them."""
    return f"{np.mean(values):.1f} ± {standard_error(values):.1f}"
