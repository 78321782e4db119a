"""
The classical solvers compared
==============================

The algorithms of the literature solve the same program, and each ends with the same certificate. The picture shows how
they get there.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from adatron import SVC
from adatron.solvers import SMO

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
solvers = {
    "block (the default)": "block",
    "Kernel-Adatron (1998)": "kernel_adatron",
    "ISDA (2004)": "isda",
    "SMO (1999)": SMO(),
    "SMO, second order (2005)": SMO(second_order=True),
    "decomposition (1999)": "decomposition",
}
SVC().fit(X, y)  # what the first fit of a program prepares is in no curve
models = {
    name: SVC(C=100, solver=solver, gap_tol=1e-5).fit(X, y)
    for name, solver in solvers.items()
}
best = max(model.dual_objective_ for model in models.values())
for name, model in models.items():
    print(
        f"{name:26} {model.n_iter_[0]:7} iterations, relative duality gap {model.duality_gap_:.0e}"
    )

# %%
# Every curve ends at the same objective. **The way differs, the solution does not**, and the certificate says so
# without knowing which solver ran. The default solver takes few, large steps, so its curve is only a short line at the
# arrow. The classical ones are here to be read, taught and compared.

figure, ax = plt.subplots(layout="constrained")
for (name, model), mark in zip(models.items(), "osv^xd", strict=True):
    trace = model.trace_
    missing = (np.abs(best - trace["dual_objective"]) / best).clip(1e-9)
    ax.loglog(
        trace["seconds"].clip(1e-4),
        missing,
        f"{mark}-",
        markersize=5,
        markevery=0.1,
        label=name,
    )
ax.set(
    xlabel="seconds",
    ylabel="relative distance from the best objective",
    title="Six ways to one solution",
)
ax.annotate(
    "the default ends here",
    (models["block (the default)"].trace_["seconds"].clip(1e-4)[-1], 1e-9),
    xytext=(-50, 0),
    textcoords="offset points",
    ha="right",
    va="center",
    fontsize="small",
    arrowprops={"arrowstyle": "->"},
)
ax.legend(fontsize="small")
plt.show()
