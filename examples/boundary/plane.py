"""
See the boundary in many dimensions
===================================

A boundary among thirty features cannot be drawn. A plane through it can: the plane of a sample, its nearest boundary
point and a third sample. The curve in it is the true boundary, not that of a model of two projected features.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC
from adatron.insight import boundary_plane
from adatron.plots import BoundaryPlaneDisplay, SensitivityDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
model = make_pipeline(StandardScaler(), SVC(C=10)).fit(X, y)
print(f"relative duality gap: {model[-1].duality_gap_:.1e}")
plane = boundary_plane(model, X, y)
print(
    f"row {plane.numbers[0]} is {plane.points[1, 0]:.3f} away from the boundary, in standard deviations"
)
print(f"proven: within {plane.certified:.3f} the prediction does not change")

# %%
# The first axis leads from the sample straight to its nearest boundary point. **A boundary that stays far from the
# sample in all directions means a prediction that small errors cannot change.** Within the dotted circle this is
# proven, in all thirty dimensions. The other samples are shadows: they are projected onto the plane and do not lie in
# it.

figure, axes = plt.subplots(1, 2, figsize=(11, 5.4), layout="constrained")
BoundaryPlaneDisplay.from_estimator(model, X, y, ax=axes[0])
BoundaryPlaneDisplay.from_estimator(model, X, y, sample=0, ax=axes[1])
axes[0].set(title="A sample at the median distance")
axes[1].set(title="The first sample of the table")
plt.show()

# %%
# Which features lead across the boundary? The slope of the decision function at the boundary points says so.

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
SensitivityDisplay.from_estimator(model, X, ax=ax)
ax.set(title="Features that move the decision most")
plt.show()
