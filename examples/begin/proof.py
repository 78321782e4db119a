"""
What a fit proves
=================

Every solver stops somewhere before the optimum. A fit of this library says how far away it stopped. The two numbers of
its certificate are upper bounds, in float64, with all rounding errors counted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from adatron import SVC
from adatron.plots import GapDisplay

X, y = make_classification(5000, 20, n_informative=10, flip_y=0.05, random_state=0)
SVC(C=1e4).fit(X, y)  # the first fit of an installation compiles code
loose = SVC(C=1e4, gap_tol=None).fit(X, y)  # scikit-learn's rule
print(
    f"best possible objective: between {loose.dual_objective_:.1f} and {loose.primal_objective_:.1f}"
)
print(loose.certificate_)

# %%
# The usual stopping rule of support vector machines asks for a violation of at most 1e-3, and this fit meets it.
# **With a large C that rule is met while the objective is still far from its best value.** The gap shows what is
# missing. The default of ``gap_tol`` goes on to 1e-3, and a smaller one asks for more. The route says how the problem
# was solved.

tight = SVC(C=1e4, gap_tol=1e-5).fit(X, y)
print(
    f"best possible objective: between {tight.dual_objective_:.4f} and {tight.primal_objective_:.4f}"
)
print(tight.certificate_)
print(tight.route_)

# %%
# ``trace_`` holds the solver's estimates over time, and what is proven in its last line.
# :class:`adatron.plots.GapDisplay` draws it: solid lines show the estimates, diamonds and dotted lines what is proven.
# The first fit ends as soon as the violation is small. The estimate of the second one falls to 4e-10 in float32;
# float64 then finds 3e-4, and the fit goes on from there.

figure, axes = plt.subplots(2, 1, figsize=(5, 8), sharey=True, layout="constrained")
for ax, model, name in (
    (axes[0], loose, "tol=1e-3 alone"),
    (axes[1], tight, "gap_tol=1e-5"),
):
    GapDisplay.from_estimator(model, ax=ax)
    ax.set(title=name)
plt.show()

# %%
# What does the gap mean for predictions? Here little: the decision values of both fits differ by some thousandths. The
# gap matters where the objective or the coefficients count, and where you must show that the work was done.

difference = np.abs(loose.decision_function(X) - tight.decision_function(X)).max()
print(f"largest difference of the decision values: {difference:.1e}")
