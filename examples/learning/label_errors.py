"""
Find wrong labels
=================

Leave a sample out, and ask the model about it. If the answer contradicts the label with force, the label may be wrong.
Each sample leaves the solution along its exact path, which needs no new fit.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from adatron import SVC
from adatron.insight import label_issues
from adatron.plots import LabelIssueDisplay

X, truth = load_digits(return_X_y=True)
chosen = np.isin(truth, (3, 8))
X, truth = X[chosen], truth[chosen]
rng = np.random.default_rng(0)
spoilt = rng.choice(len(truth), 12, replace=False)
labels = truth.copy()
labels[spoilt] = 11 - truth[spoilt]  # a 3 becomes an 8, and an 8 a 3

model = SVC(C=10, gamma=5e-4).fit(X, labels)
start = time.perf_counter()
issues = label_issues(model, X, labels)
print(
    f"{len(labels)} samples left out, one by one, in {time.perf_counter() - start:.1f} s"
)
print(
    f"exact leave-one-out error {issues.left_out.error:.1%}, relative duality gap {model.duality_gap_:.1e}"
)

# %%
# ``issues`` begins with the worst samples. Its ``score`` is the decision value, counted from the side of the label, by
# the model that never saw the sample. **The most negative scores point at wrong labels.** Look at these samples before
# you train on the others.

worst = issues.numbers[:10]
print(
    f"{np.isin(worst, spoilt).sum()} of the 10 most suspicious labels are wrong; {len(spoilt)} are wrong in all"
)
for row, given, proposed, score in zip(
    worst, issues.given, issues.proposed, issues.score, strict=False
):
    print(f"row {row:3}: labelled {given}, looks like {proposed}, score {score:.1f}")

# %%
# The display shows each sample beside its nearest opponents: samples of the proposed class that the model recognises.

figure, ax = plt.subplots(figsize=(6, 6.5), layout="constrained")
LabelIssueDisplay.from_estimator(model, X, labels, image_shape=(8, 8), ax=ax)
plt.show()
