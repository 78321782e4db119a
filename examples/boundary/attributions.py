"""
Explain a prediction
====================

Shapley values share a decision value out among the features. For an RBF kernel ``shapiq`` computes them exactly, from a
model that scikit-learn could have fitted; ``to_sklearn`` makes one. They stand beside the slopes at the boundary, which
answer another question.
"""

import matplotlib.pyplot as plt
import numpy as np
from shapiq.explainer.product_kernel import ProductKernelExplainer
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from adatron import SVC
from adatron.insight import sensitivity

data = load_wine()
two = data.target < 2
X, y = StandardScaler().fit_transform(data.data[two]), data.target[two]
names = np.array(data.feature_names)
model = SVC(C=10).fit(X, y)
print(f"relative duality gap: {model.duality_gap_:.1e}")

explainer = ProductKernelExplainer(model.to_sklearn())
shapley = np.array(
    [
        [explainer.explain_function(x).dict_values[(j,)] for j in range(X.shape[1])]
        for x in X
    ]
)
off = np.abs(
    shapley.sum(axis=1) + explainer.empty_prediction - model.decision_function(X)
)
print(f"attributions and baseline add up to the decision value, to {off.max():.1e}")

# %%
# The model is the one whose gap was proven, so **the attributions belong to the optimum** and not to where a solver
# happened to stop. The picture shows those of one wine.

wine = 0
order = np.argsort(np.abs(shapley[wine]))
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
ax.barh(
    names[order],
    shapley[wine, order],
    color=np.where(shapley[wine, order] > 0, "C1", "C0"),
)
ax.axvline(0.0, color="0.4", linewidth=0.8)
ax.set(xlabel="share of the decision value", title="Why this wine is of its class")
plt.show()

# %%
# A Shapley value compares a sample with the absence of a feature. A slope says how strongly a feature moves the
# decision *at the boundary*. Where the first bar of a feature is longer, the feature matters away from the boundary.

found = sensitivity(model, X)
sizes = {
    "mean size of the Shapley values": np.abs(shapley).mean(axis=0),
    "slopes at the boundary": found.effect,
}
order = np.argsort(found.effect)
figure, ax = plt.subplots(figsize=(7, 5.5), layout="constrained")
for k, (name, size) in enumerate(sizes.items()):
    ax.barh(
        np.arange(len(order)) + 0.2 - 0.4 * k, size[order] / size.max(), 0.4, label=name
    )
ax.set(
    yticks=range(len(order)), yticklabels=names[order], xlabel="fraction of the largest"
)
ax.set(title="What is shared out, and what moves the decision")
ax.legend(loc="lower right")
plt.show()
