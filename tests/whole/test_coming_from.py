"""The pages for those who come from another tool name what gives the same model: the tool and adatron are compared."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import adatron
from adatron.cli import main

DOCS = Path(__file__).parents[2] / "docs"
NAMES = {name: getattr(adatron, name) for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")}
SVM_TRAIN = shutil.which("svm-train")
TOL = 1e-6  # of both tools


def lines_of(page, columns, start="| `"):
    """The cells that are code, of each row of a page's tables that begins so and has so many that make a machine."""
    rows = [re.findall(r"`([^`]*)`", line) for line in (DOCS / page).read_text().splitlines() if line.startswith(start)]
    tables = [row for row in rows if len(row) == columns and re.search(r"(SVC|SVR|SVM)\(", row[1])]
    assert len(tables) >= 8
    return [pytest.param(*row, id=row[0]) for row in tables]


def data(task):
    """Two features far apart in scale, in an order that begins with the first of the sorted classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)).round(3) * [1.0, 2.0] + [0.0, 1.0]
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(0, 0.3, 80)
    if task == "regression":
        return X, score.round(3)
    y = np.where(score > np.median(score), 2, 1)
    order = np.argsort(y != 1, kind="stable")
    return X[order], y[order]


def task_of(python):
    return "regression" if "SVR(" in python else "classification"


def values_of(model, X, python):
    """Predictions of a regression, else decision values."""
    return model.predict(X) if "SVR(" in python else model.decision_function(X)


def same(theirs, model, X, python):
    """Compare values; with two classes the sign of theirs is that of the first class."""
    ours = values_of(model, X, python)
    if "SVC(" in python:
        ours = -ours
    np.testing.assert_allclose(theirs, ours, atol=2e-4 * np.abs(ours).max())


def made(python):
    model = eval(python, dict(NAMES))  # noqa: S307 (our own manual)
    name = next((n for n in model.get_params() if n.endswith("tol") and not n.endswith("gap_tol")), "tol")
    return model.set_params(**{name: TOL})


@pytest.mark.skipif(SVM_TRAIN is None, reason="needs LIBSVM's tools")
@pytest.mark.parametrize(("options", "python", "tool"), lines_of("from-libsvm.md", 3))
def test_libsvm(options, python, tool, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = data(task_of(python))
    dump_svmlight_file(X, y, "data.svm", zero_based=False)
    subprocess.run([SVM_TRAIN, "-q", "-e", str(TOL), *options.split(), "data.svm", "their.model"], check=True)
    theirs = values_of(adatron.load("their.model"), X, python)
    model = made(python).fit(X, y)
    same(-theirs if "SVC(" in python else theirs, model, X, python)
    # The tool does the same.
    assert main(["train", "data.svm", *tool.split(), "--tol", str(TOL), "--model", "our.adatron", "--quiet"]) == 0
    again = values_of(adatron.load("our.adatron"), X, python)
    np.testing.assert_allclose(again, values_of(model, X, python), atol=1e-4)


@pytest.fixture(scope="module")
def rscript():
    """R with e1071."""
    program = shutil.which("Rscript")
    if (
        program is None
        or subprocess.run([program, "-e", "library(e1071)"], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs R with e1071")
    return program


@pytest.mark.parametrize(("arguments", "python"), lines_of("coming-from.md", 2, "| e1071 | `type"))
def test_e1071(arguments, python, rscript, tmp_path):
    X, y = data(task_of(python))
    np.savetxt(tmp_path / "x.txt", X)
    np.savetxt(tmp_path / "y.txt", y)
    target = "y" if task_of(python) == "regression" else "factor(y)"
    values = "predict(m, x)" if target == "y" else 'attr(predict(m, x, decision.values = TRUE), "decision.values")'
    (tmp_path / "script.R").write_text(
        'library(e1071); x <- as.matrix(read.table("x.txt")); y <- scan("y.txt", quiet = TRUE)\n'
        f"m <- svm(x, {target}, {arguments}, tolerance = {TOL})\n"
        f'write(format(as.vector({values}), digits = 15), "values.txt", ncolumns = 1)\n'
    )
    subprocess.run([rscript, "script.R"], cwd=tmp_path, check=True, capture_output=True)
    same(np.loadtxt(tmp_path / "values.txt"), made(python).fit(X, y), X, python)
