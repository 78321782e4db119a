"""
A path of kernels
=================

:func:`adatron.selection.kernel_path` trains with a narrow kernel and widens it step by step. Each step starts from the
last solution. One call gives the whole picture of what gamma does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from adatron.selection import kernel_path

X, y = load_digits(return_X_y=True)
chosen = np.isin(y, (1, 8))
X, y = X[chosen] / 16, y[chosen]
path = kernel_path(
    X[::2], y[::2], np.logspace(1, -3, 17), validation=(X[1::2], y[1::2])
)
print(path.table())
print(f"largest relative duality gap: {path.duality_gap.max():.1e}")

# %%
# The bound R² / margin² needs no validation samples. **Its minimum is near the smallest validation error, so it points
# at a good gamma even when there are no samples to spare.** This holds for the hard margin, ``C=inf``, which is the
# default here. A narrow kernel (a large gamma) makes every sample a support vector.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
path.plot(left)
right.semilogx(path.gamma, path.n_support / len(y[::2]), "o-", color="0.3")
right.set(
    xlabel="gamma",
    ylabel="share of support vectors",
    ylim=(0, 1.05),
    title="Narrow kernels keep every sample",
)
plt.show()
