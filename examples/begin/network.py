"""
A pipeline becomes an ONNX network
==================================

A runtime of ONNX predicts in a browser, a telephone or a database, without Python. The export takes the scaler, the
model and its probabilities along. It writes nothing unless the network decides as the model does.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, to_onnx

wine = load_wine()
X, y = wine.data, wine.target_names[wine.target]
model = make_pipeline(StandardScaler(), SVC(C=10, probability=True)).fit(X, y)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "wine.onnx"
    network = to_onnx(model, X, path)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
    session = onnxruntime.InferenceSession(path)
label, decision, probabilities = session.run(None, {"X": X})
assert (label == model.predict(X)).all()
off = np.abs(probabilities - model.predict_proba(X)).max(axis=1)
print(
    f"largest difference of a decision value: {np.abs(decision - model.decision_function(X)).max():.1e}"
)
print(f"largest difference of a probability: {off.max():.1e}")

# %%
# **The file says how the comparison ended, and holds the certificate of the fit.**

about = {one.key: one.value for one in network.metadata_props}
for name, value in json.loads(about["adatron.parity"]).items():
    print(f"{name}: {value}")
gaps = json.loads(about["adatron.certificate"])["duality_gap"]
print(
    f"relative duality gap of each pair of classes: {', '.join(f'{gap:.1e}' for gap in gaps)}"
)

# %%
# The network computes in float64 by plain operators. The differences are those of rounding.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.ecdf(np.maximum(off, 1e-18), color="C0")
ax.axvline(
    np.finfo(float).eps, color="0.4", linestyle="--", label="one rounding of 1.0"
)
ax.set(
    xscale="log",
    xlabel="largest difference of the probabilities of a wine",
    ylabel="share of the wines",
)
ax.set(title="The network and the model agree to rounding")
ax.legend()
plt.show()
