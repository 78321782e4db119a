"""
Several computers, one solution
===============================

``adatron.dask`` fits on a Dask cluster. The solution is that of one computer, to the last bit, for any number of
workers. Here the cluster is a few threads; on real computers only the ``Client`` differs.
"""

import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster
from sklearn.datasets import make_moons

from adatron import SVC
from adatron.dask import DaskSVC
from dask import array as da

X, y = make_moons(3000, noise=0.25, random_state=0)
alone = SVC(C=10).fit(X, y)

fits = {}
for workers in (1, 3):
    with (
        LocalCluster(
            n_workers=workers, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        rows, labels = da.from_array(X, chunks=(700, 2)), da.from_array(y, chunks=700)
        model = fits[workers] = DaskSVC(C=10).fit(rows, labels)
        corner = da.linspace(-1.5, 2.5, 120, chunks=40)
        grid = da.stack(da.meshgrid(corner, corner * 0.5 + 0.25), axis=-1).reshape(
            -1, 2
        )
        values = (
            model.decision_function(grid).compute().reshape(120, 120)
        )  # computed by the workers, chunk by chunk
    print(
        f"{workers} workers: duality gap {model.duality_gap_:.1e}, intercept {model.intercept_[0]}"
    )
print(
    f"one computer: duality gap {alone.duality_gap_:.1e}, intercept {alone.intercept_[0]}"
)

# %%
# **Not one bit differs.** Kernel values depend on their two samples alone, and sums follow the order of the samples.

same = all(
    model.dual_coef_.tobytes() == alone.dual_coef_.tobytes() for model in fits.values()
)
print(f"the same bits: {same}")

# %%
# Predictions of Dask arrays are lazy. The picture was computed by the workers, chunk by chunk.

figure, ax = plt.subplots(layout="constrained")
x0, x1 = np.meshgrid(np.linspace(-1.5, 2.5, 120), np.linspace(-0.5, 1.5, 120))
ax.contourf(x0, x1, values, levels=[-1e9, 0, 1e9], colors=["C0", "C1"], alpha=0.25)
ax.contour(
    x0, x1, values, levels=[-1, 0, 1], colors="0.3", linestyles=["--", "-", "--"]
)
for label, mark in ((0, "o"), (1, "s")):
    support = alone.support_vectors_[y[alone.support_] == label]
    ax.plot(*support.T, mark, markersize=3, label=f"support vectors of class {label}")
ax.set(
    title="A boundary found by three workers",
    xlabel="first feature",
    ylabel="second feature",
    ylim=(-0.5, 1.5),
)
ax.legend(loc="upper right", framealpha=1)
plt.show()
