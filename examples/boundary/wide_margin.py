"""
A model with a large margin in the space of the data
====================================================

A support vector machine makes its margin large in the space of the kernel. :class:`adatron.InputMarginSVC` goes on from
there and makes the smallest distance between a sample and the boundary large, in the space where the samples live.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from adatron import SVC, InputMarginSVC
from adatron.plots.input_margin import InputMarginDisplay, MarginPathDisplay

X, y = make_moons(40, noise=0.15, random_state=4)
ordinary = SVC(C=float("inf"), gamma=1.0).fit(X, y)
wide = InputMarginSVC(C=float("inf"), gamma=1.0).fit(X, y)
print(
    f"smallest distance: {wide.margin_path_[0]:.4f} of the ordinary SVM, {wide.margin_:.4f} in the end"
)
print(f"relative duality gap of the ordinary SVM: {ordinary.duality_gap_:.1e}")

# %%
# **The boundary of the second model keeps away from the samples of both classes.** The ring in each picture is the
# smallest distance; the last picture shows how it grew step by step.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for ax, model, name in ((axes[0], ordinary, "SVC"), (axes[1], wide, "InputMarginSVC")):
    display = InputMarginDisplay.from_estimator(model, X, y, ax=ax)
    ax.set(title=f"{name}: {display.ax_.get_title()}")
MarginPathDisplay.from_estimator(wide, ax=axes[2])
axes[2].set(title="Step by step", box_aspect=0.6)
plt.show()
