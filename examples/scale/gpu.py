"""
A fit on a GPU, if there is one
===============================

``device="cuda"`` solves on a GPU and proves on the processor. Here the program takes a GPU if torch finds one, else the
processor. The bounds mean the same on both: each is proven in float64.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from adatron import SVC
from adatron.plots import GapDisplay

devices = ["cpu"]
if find_spec("torch") is not None:
    import torch

    if torch.cuda.is_available():
        devices.append("cuda")

X, y = make_moons(5000, noise=0.3, random_state=0)
models = {
    device: SVC(C=100, gap_tol=1e-6, device=device).fit(X, y) for device in devices
}
for device, model in models.items():
    print(
        f"{device}: duality gap {model.duality_gap_:.1e}, {len(model.support_)} support vectors"
    )

# %%
# **The route says where a fit ran, and why.** Fits with little to compute stay on the processor.

print(models[devices[-1]].route_)

# %%
# The traces show how each device came to its optimum. Without a GPU there is one picture, of ``device="cpu"``.

figure, axes = plt.subplots(
    1, len(devices), figsize=(6 * len(devices), 4), squeeze=False, layout="constrained"
)
for ax, (device, model) in zip(axes[0], models.items(), strict=True):
    GapDisplay.from_estimator(model, ax=ax)
    ax.set(title=f"device={device!r}", xlabel="time")
plt.show()
