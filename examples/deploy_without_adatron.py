"""Fit here, predict elsewhere: a compact model, and one for a machine that has scikit-learn only."""

import pickle

import numpy as np
from sklearn.datasets import make_moons

from adatron import SVC

X, y = make_moons(3000, noise=0.3, random_state=0)
X = X.round(1)  # measured to one digit: many samples are equal, and some of these belong to both classes
model = SVC(C=10).fit(X, y)
print(f"{len(model.support_)} support vectors, duality gap {model.duality_gap_:.1e}")

small = model.compact()
print(f"{len(small.support_)} in the compact model")
assert (small.predict(X) == model.predict(X)).all()

deployed = pickle.loads(pickle.dumps(small.to_sklearn()))  # noqa: S301 (our own bytes)
print(
    f"{type(deployed).__module__.partition('.')[0]}'s {type(deployed).__name__} with {len(deployed.support_)} vectors"
)
assert np.allclose(deployed.decision_function(X), model.decision_function(X))
