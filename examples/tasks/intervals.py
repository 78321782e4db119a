"""
Intervals that hold
===================

A prediction is a number, and the next question is how far off it may be. Jackknife+ answers with an interval that holds
the truth with a guaranteed probability, whatever the distribution. It needs the models that lack one sample each. Here
each sample leaves the solution along its exact path, so nothing is fitted again.
"""

from importlib.util import find_spec
from time import process_time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import LeaveOneOut
from sklearn.svm import SVR as TheirSVR

from adatron import SVR
from adatron.intervals import CVPlus, JackknifePlus


def draw(n, seed):
    """Draw samples of a curve with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-4, 4, n)
    return x[:, None], np.sinc(x) + rng.normal(0, 0.15, n)


X, y = draw(200, 0)
X_new, y_new = draw(2000, 1)
machine = SVR(C=10, gamma=1.0)
model = JackknifePlus(machine, alpha=0.1).fit(X, y)
low, high = model.predict_interval(X_new).T
print(f"relative duality gap: {model.estimator_.duality_gap_:.1e}")
print(f"found by: {model.left_out_}, KKT violation {model.left_out_violation_:.1e}")
print(f"{np.mean((low <= y_new) & (y_new <= high)):.0%} of new samples are inside")

# %%
# **The interval is about as wide as the noise asks for, and wider where few samples are.** ``CVPlus`` leaves out a
# tenth of the samples at a time. That is ten fits, however many samples there are, and about the same intervals.

grid = np.linspace(-4.6, 4.6, 300)[:, None]
figure, ax = plt.subplots(layout="constrained")
ends = model.predict_interval(grid)
ax.fill_between(grid[:, 0], *ends.T, color="C0", alpha=0.2, label="jackknife+, 90 %")
others = CVPlus(machine, alpha=0.1).fit(X, y).predict_interval(grid)
ax.plot(grid, others, "--", color="C1", linewidth=1, label=["CV+, 90 %", "_"])
ax.plot(grid, model.predict(grid), color="C0", label="prediction")
ax.plot(X, y, ".", color="0.4")
ax.set(xlabel="x", ylabel="y", title="Nine of ten new samples are in the band")
ax.legend()
plt.show()

# %%
# MAPIE gives the same intervals over any regressor, by a fit for each sample. It works over the estimators of this
# library, too. The times are those of the processor, of fit and intervals of 100 samples.


def timed(model, fit, ends):
    """Return the ends of intervals, and the seconds for them."""
    begin = process_time()
    getattr(model, fit)(X, y)
    found = ends(model.predict_interval(X_new[:100]))
    return found, process_time() - begin


ours, seconds = timed(model, "fit", lambda found: found)
print(f"JackknifePlus over adatron.SVR        {seconds:6.2f} s")
if find_spec("mapie") is None:
    print("MAPIE is not installed here: pip install mapie")
else:
    from mapie.regression import CrossConformalRegressor

    for name, one in (("adatron", machine), ("sklearn.svm", TheirSVR(C=10, gamma=1.0))):
        theirs = CrossConformalRegressor(
            one, confidence_level=0.9, cv=LeaveOneOut(), method="plus"
        )
        found, seconds = timed(theirs, "fit_conformalize", lambda pair: pair[1][..., 0])
        off = np.abs(found - ours).max()
        print(
            f"MAPIE over {name + '.SVR':18} {seconds:14.2f} s, at most {off:.0e} apart"
        )
