"""The benchmark for benchopt: it finds of coefficients what their certificate says, and it runs."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from benchmarks.benchopt.benchmark_utils.truth import truth
from scipy import sparse

from adatron import SVC
from machines import spread
from processes import python

ROOT = Path(__file__).parents[2]
RBF = {"kernel": "rbf", "gamma": 0.3}
POLY = {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0}


def data(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.2, 1.0, -1.0)


@pytest.mark.parametrize("kernel", [RBF, POLY, {"kernel": "linear"}], ids=lambda kernel: kernel["kernel"])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-5])
def test_the_benchmark_finds_what_the_certificate_says(kernel, tol):
    X, y = data()
    C = 2.0
    model = SVC(C=C, tol=tol, precision="double", **kernel).fit(X, y)
    found = truth(X, y, C, kernel, spread(model, len(y))[0])
    assert found["infeasibility"] == 0.0
    assert found["value"] <= model.duality_gap_ + 1e-12
    assert found["kkt_violation"] <= model.kkt_violation_ + 1e-10
    np.testing.assert_allclose(found["value"], model.duality_gap_, rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(found["kkt_violation"], model.kkt_violation_, rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(found["dual"], model.dual_objective_, rtol=1e-9)
    np.testing.assert_allclose(found["primal"], model.primal_objective_, rtol=1e-9)
    sparse_too = truth(sparse.csr_matrix(X), y, C, kernel, spread(model, len(y))[0])
    np.testing.assert_allclose(sparse_too["value"], found["value"], rtol=1e-3, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", ["simulated[n_samples=200]", pytest.param("files[data=heart_scale]", marks=pytest.mark.data)]
)
def test_it_runs(data, tmp_path, request):
    pytest.importorskip("benchopt", reason="needs benchopt")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    own = {"ADATRON_DATA": request.getfixturevalue("data_dir")} if "files" in data else {}
    shutil.copytree(ROOT / "benchmarks/benchopt", tmp_path / "svm", ignore=shutil.ignore_patterns("outputs", "__*__"))
    options = ("-s", "adatron", "-s", "scikit-learn", "-n", 3, "-r", 1, "--no-plot", "--output", "test")
    python("-m", "benchopt", "run", tmp_path / "svm", "-d", data, *options, cwd=tmp_path, **own)
    found = pandas.read_parquet(tmp_path / "svm/outputs/test.parquet").groupby("solver_name").last()
    assert len(found) == 2
    assert "files" in data or (found.objective_value < 0.1).all()  # the tolerance bounds the violation, not the gap
    assert (found.objective_kkt_violation <= 1.001e-2).all()
