"""The benchmark for benchopt: it finds of coefficients what their certificate says, and it runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.benchopt.benchmark_utils.truth import decisions, truth
from scipy import sparse

from adatron import SVC
from machines import spread

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


def test_no_sum_of_coefficients_beats_the_optimum():
    """Nor one beyond the constraints: its dual is that of coefficients within them."""
    X, y = data()
    rng, C = np.random.default_rng(1), 2.0
    best = truth(X, y, C, RBF, spread(SVC(C=C, gap_tol=1e-9, **RBF).fit(X, y), len(y))[0])
    for size in (0.0, 0.1, 10.0):
        found = truth(X, y, C, RBF, size * rng.normal(size=len(y)))
        assert found["dual"] <= best["dual"] * (1 + 1e-9)
        assert found["primal"] >= best["primal"] * (1 - 1e-9)
        assert (found["infeasibility"] > 0) == (size > 0)
    assert truth(X, y, C, RBF, np.zeros(len(y)))["kkt_violation"] == 2.0


def test_kernel_values_are_computed_in_parts(monkeypatch):
    X, y = data()
    whole = decisions(X, RBF, y)
    monkeypatch.setattr("benchmarks.benchopt.benchmark_utils.truth.VALUES_AT_A_TIME", 7 * len(y))
    np.testing.assert_allclose(decisions(X, RBF, y), whole, rtol=1e-12, atol=1e-12)


def ran(tmp_path, data, **more):
    """Run the benchmark on a data set; return where each solver has ended."""
    pytest.importorskip("benchopt", reason="needs benchopt")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    shutil.copytree(ROOT / "benchmarks/benchopt", tmp_path / "svm", ignore=shutil.ignore_patterns("outputs", "__*__"))
    command = [sys.executable, "-m", "benchopt", "run", tmp_path / "svm", "-d", data, "-s", "adatron"]
    options = ("-s", "scikit-learn", "-n", "3", "-r", "1", "--no-plot", "--output", "test")
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, env={**os.environ, **more}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return pandas.read_parquet(tmp_path / "svm/outputs/test.parquet").groupby("solver_name").last()


@pytest.mark.slow
def test_it_runs(tmp_path):
    found = ran(tmp_path, "simulated[n_samples=200]")
    assert len(found) == 2
    assert (found.objective_value < 0.1).all()  # the tolerance bounds the violation, not the gap
    assert (found.objective_kkt_violation <= 1.001e-2).all()


@pytest.mark.slow
@pytest.mark.data
def test_it_runs_on_a_file_of_libsvm(tmp_path, data_dir):
    found = ran(tmp_path, "files[data=heart_scale]", ADATRON_DATA=str(data_dir))
    assert len(found) == 2
    assert (found.objective_kkt_violation <= 1.001e-2).all()
