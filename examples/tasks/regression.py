"""
Regression with a tube
======================

Support vector regression ignores errors up to ``epsilon``. Samples within that tube have no influence, and the ones
outside pull with a bounded force, so outliers cannot run away with the curve.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from adatron import SVR, NuSVR

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-4, 4, 120))
clean = np.sinc(x)
y = clean + rng.normal(0, 0.06, x.size)
outliers = rng.choice(x.size, 8, replace=False)
y[outliers] += 1.0
X = x[:, None]

model = SVR(C=10, gamma=1.0, epsilon=0.1).fit(X, y)
squares = make_pipeline(PolynomialFeatures(12), Ridge(1e-3)).fit(X / 4, y)
print(f"{len(model.support_)} of {x.size} samples are support vectors")
print(f"relative duality gap: {model.duality_gap_:.1e}")

# %%
# **The eight outliers hardly move the tube, but they lift the curve of least squares.** Samples inside the tube have a
# coefficient of 0.

grid = np.linspace(-4, 4, 400)
curve = model.predict(grid[:, None])
figure, ax = plt.subplots(layout="constrained")
ax.fill_between(
    grid,
    curve - model.epsilon,
    curve + model.epsilon,
    color="C0",
    alpha=0.2,
    label="tube of ± 0.1",
)
ax.plot(grid, curve, color="C0", label="SVR")
ax.plot(
    grid, squares.predict(grid[:, None] / 4), "--", color="C1", label="least squares"
)
ax.plot(x, y, ".", color="0.5")
ax.plot(
    x[model.support_],
    y[model.support_],
    "o",
    fillstyle="none",
    color="0.3",
    label="support vectors",
)
ax.set(xlabel="x", ylabel="y", title="Errors within the tube are free")
ax.legend()
plt.show()

# %%
# Without an idea of the noise, give :class:`adatron.NuSVR` the share of samples that may lie outside, at most. It
# finds the width of the tube itself.

for nu in (0.1, 0.3, 0.5):
    found = NuSVR(C=10, gamma=1.0, nu=nu).fit(X, y)
    outside = np.mean(np.abs(found.predict(X) - y) > found.epsilon_ + 1e-2)
    print(
        f"nu = {nu}: a tube of ± {found.epsilon_:.3f}, {outside:.0%} of the samples outside"
    )
