"""
Every C at once
===============

Between two values of C the solution is a piecewise linear function. ``C_path`` follows it exactly from breakpoint to
breakpoint, so no grid of C can miss anything.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from adatron import IncrementalSVC

X, y = make_moons(120, noise=0.25, random_state=3)
model = IncrementalSVC(C=0.05, gamma=1.0).fit(X, y)
(path,) = model.C_path(20.0)
print(f"{len(path.C)} breakpoints between C = {path.C[0]:g} and C = {path.C[-1]:g}")

# %%
# ``at`` reads the solution for any C of the path. A fit with this C confirms the coefficients.

coefficients, intercept = path.at(3.3)
fitted = IncrementalSVC(C=3.3, gamma=1.0).fit(X, y)
print(f"intercept {intercept:.6f} on the path, {fitted.intercept_[0]:.6f} by a fit")
print(f"relative duality gap of that fit: {fitted.duality_gap_:.1e}")
assert np.isclose(intercept, fitted.intercept_[0], atol=1e-6)

# %%
# Each line is a sample. Lines on the diagonal are at their bound C: those samples are within the margin or wrong.
# **A line that leaves the diagonal belongs to a sample that the model now gets right.** The number of bound samples
# falls as C grows, and then the fit has little left to gain.

C = np.geomspace(path.C[0], path.C[-1], 300)
sizes = np.array([np.abs(path.at(value)[0]) for value in C])
bound = (sizes > C[:, None] * (1 - 1e-9)).sum(axis=1)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.loglog(C, sizes.clip(1e-3), color="C0", linewidth=0.7, alpha=0.6)
left.set(xlabel="C", ylabel="|coefficient|", title="The coefficient of each sample")
right.semilogx(C, bound, label="at the bound")
right.semilogx(C, (sizes > 0).sum(axis=1), "--", label="support vectors")
right.set(
    xlabel="C",
    ylabel="samples",
    title="Fewer samples decide as C grows",
    ylim=(0, None),
)
right.legend()
plt.show()
