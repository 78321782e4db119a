"""
Find wrong labels
=================

Leave a sample out, and ask the model about it. If the answer contradicts the label with force, the label may be wrong.
An incremental model leaves each sample out exactly, without as many fits.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from adatron import IncrementalSVC

digits = load_digits()
chosen = np.isin(digits.target, (3, 8))
images, truth = digits.images[chosen], digits.target[chosen]
X = StandardScaler(with_std=False).fit_transform(digits.data[chosen])
rng = np.random.default_rng(0)
spoilt = rng.choice(len(truth), 12, replace=False)
labels = truth.copy()
labels[spoilt] = 11 - truth[spoilt]  # a 3 becomes an 8, and an 8 a 3

model = IncrementalSVC(C=10, gamma=5e-4).fit(X, labels)
start = time.perf_counter()
values = model.loo_decision()
print(f"{len(labels)} samples left out, one by one, in {1e3 * (time.perf_counter() - start):.0f} ms")
print(f"exact leave-one-out error {model.loo_error():.1%}, relative duality gap {model.duality_gap_:.1e}")

# %%
# The margin of a sample is its decision value, counted from the side of its label, by the model that never saw it.
# **The most negative margins point at wrong labels.** Look at the ten worst samples before you train on the others.

margin = np.where(labels == 8, values, -values)
worst = np.argsort(margin)[:10]
found = np.isin(worst, spoilt).sum()
print(f"{found} of the 10 most suspicious labels are wrong; {len(spoilt)} of {len(labels)} are wrong in all")

figure, axes = plt.subplots(2, 5, figsize=(7, 3.6), layout="constrained")
for ax, sample in zip(axes.flat, worst, strict=True):
    ax.imshow(images[sample], cmap="gray_r")
    right = labels[sample] == truth[sample]
    ax.set_title(f"labelled {labels[sample]}" + ("" if right else " (wrong)"), fontsize="medium")
    ax.set_xlabel(f"margin {margin[sample]:.1f}")
    ax.set(xticks=[], yticks=[])
plt.show()
