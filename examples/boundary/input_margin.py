"""
How far is a sample from the boundary?
======================================

:func:`adatron.input_margin` measures in the units of the data how far a sample may move before its class changes. Each
answer is an interval: the way to a point of the other class, and a distance within which there is proven to be none.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from adatron import SVC, input_margin
from adatron.plots.input_margin import InputMarginDisplay, MarginDisplay

X, y = make_moons(80, noise=0.15, random_state=0)
model = SVC(C=10, gamma=1.0).fit(X, y)
margins = input_margin(model, X)
nearest = margins.distance.argmin()
print(
    f"nearest sample: {nearest}, a step of {margins.distance[nearest]:.3f} changes its class"
)
print(f"proven for the farthest one: no step below {margins.certified.max():.3f} does")
print(f"relative duality gap: {model.duality_gap_:.1e}")

# %%
# A decision value is no distance: where the decision function is steep, a large value may be near the boundary. **A
# short line in the picture is a prediction that a small error of measurement could flip.**

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
InputMarginDisplay.from_estimator(model, X, y, ax=left)
MarginDisplay.from_estimator(model, X, ax=right)
right.set(title="Distances, and what is proven of them")
plt.show()

# %%
# The steps need not cost the same in all directions: ``metric`` says what a step costs. Here a step along the first
# feature costs ten times as much as one along the second.

uneven = input_margin(model, X, metric=np.diag([100.0, 1.0]))
print(
    f"mean distance {margins.distance.mean():.2f}, with a dear first feature {uneven.distance.mean():.2f}"
)
