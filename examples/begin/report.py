"""
A report of a fit
=================

One call answers eight questions about a fitted model: whether it is optimal, good and well chosen, which samples
decide, which labels are suspicious, where the boundary is, which features matter, and how robust it is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron.plots import InfluenceDisplay

wine = load_wine(as_frame=True)
y = wine.target_names[wine.target]
X, X_test, y, y_test = train_test_split(
    wine.data, y, test_size=0.3, stratify=y, random_state=0
)
model = make_pipeline(StandardScaler(), adatron.SVC(C=10)).fit(X, y)
report = adatron.report(model, X, y, X_test, y_test)
print(f"largest relative duality gap: {model[-1].duality_gap_.max():.1e}")
print(report)

# %%
# ``report.save("fit.html")`` writes one file that needs nothing else, and ``adatron report`` does so for a model file.
# In a notebook the report is what a cell shows. Here it is, in a frame of its own:

report

# %%
# **Every picture of the report is also a display of scikit-learn's kind.** This one deletes samples, one after the
# other, along the exact path of the solution. A bar says by how much the decision values change.

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
InfluenceDisplay.from_estimator(model, X, y, ax=ax)
ax.set(title="The samples without which the model changes most")
plt.show()
