"""Fit, read the certificate, watch the gap fall, save and load."""

import tempfile
from pathlib import Path

from sklearn.datasets import make_moons

import adatron
from adatron import SVC

X, y = make_moons(5000, noise=0.2, random_state=0)
model = SVC(C=10, gamma=1.0, gap_tol=1e-5).fit(X, y)
print(f"primal {model.primal_objective_:.4f} >= dual {model.dual_objective_:.4f}")
print(f"relative duality gap {model.duality_gap_:.1e}, KKT violation {model.kkt_violation_:.1e}")
print(model.route_)
print(f"{model.n_iter_[0]} updates, {len(model.support_)} support vectors")
for seconds, objective in zip(model.trace_["seconds"], model.trace_["dual_objective"], strict=True):
    print(f"  {seconds:.3f} s  dual objective {objective:.3f}")

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "moons.adatron"
    adatron.save(model, path)
    assert (adatron.load(path).decision_function(X) == model.decision_function(X)).all()
