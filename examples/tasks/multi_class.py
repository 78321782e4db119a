"""
More than two classes
=====================

Ten digits make 45 problems of two classes, one for each pair. They are solved together, share their kernel values, and
each has a certificate of its own.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from adatron import SVC

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
pairs = SVC(C=10, gamma=0.001).fit(X, y)
rest = SVC(C=10, gamma=0.001, multi_class="ovr").fit(X, y)
print(
    f"one for each pair: {len(pairs.duality_gap_)} problems, accuracy {pairs.score(X_test, y_test):.3f}"
)
print(
    f"one against the rest: {len(rest.duality_gap_)} problems, accuracy {rest.score(X_test, y_test):.3f}"
)
print(f"largest relative duality gap of a pair: {pairs.duality_gap_.max():.1e}")

# %%
# The dual objective of a pair grows with the effort that it takes to separate the two digits. **So one fit also says
# which classes are hard to tell apart.** Here these are 8 and 1; the digit 0 is easy to tell from all others.

effort = np.full((10, 10), np.nan)
effort[np.triu_indices(10, 1)] = (
    pairs.dual_objective_
)  # the pairs (0, 1), (0, 2), ..., (8, 9)
effort = np.fmax(effort, effort.T)
figure, ax = plt.subplots(layout="constrained")
image = ax.imshow(effort, cmap="cividis")
ax.set(
    xticks=range(10),
    yticks=range(10),
    title="How hard it is to separate two digits",
    xlabel="digit",
    ylabel="digit",
)
figure.colorbar(image, label="objective of the pair")
plt.show()
