"""
Probabilities that can be trusted
=================================

A decision value is a distance, not a probability. Two ways turn the one into the other. The picture checks them on
samples that no model has seen.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from adatron import SVC

X, y = make_classification(
    6000, 10, n_informative=6, flip_y=0.2, class_sep=0.7, random_state=0
)
X, X_test, y, y_test = train_test_split(X, y, train_size=2000, random_state=0)
model = SVC(C=10, gamma=0.05, probability=True).fit(X, y)
wrapper = CalibratedClassifierCV(SVC(C=10, gamma=0.05), ensemble=False).fit(X, y)
found = {
    "SVC(probability=True)": model.predict_proba(X_test)[:, 1],
    "CalibratedClassifierCV": wrapper.predict_proba(X_test)[:, 1],
    "decision values, squeezed into 0 to 1": (
        model.decision_function(X_test).clip(-1, 1) + 1
    )
    / 2,
}
for name, values in found.items():
    print(f"{name}: Brier score {brier_score_loss(y_test, values):.3f}")
print(f"relative duality gap: {model.duality_gap_:.1e}")

# %%
# On the diagonal, an event with a probability of 80 % happens in 80 % of the cases. **Both ways stay near the diagonal.
# A decision value alone claims certainty where every seventh case goes the other way.** ``SVC(probability=True)``
# always agrees with ``predict``; the wrapper fits one more number and may shift the threshold.

assert ((found["SVC(probability=True)"] > 0.5) == (model.predict(X_test) == 1)).all()
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for (name, values), mark in zip(found.items(), "os^", strict=True):
    CalibrationDisplay.from_predictions(
        y_test, values, n_bins=8, name=name, marker=mark, ax=ax
    )
ax.set(
    title="Predicted and observed",
    xlabel="predicted probability",
    ylabel="share that came true",
)
plt.show()
