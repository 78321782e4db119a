"""A kernel, a problem, a machine and a solver are each one file and one line: CONTRIBUTING's steps, done to a copy.

The files are those of ``toys``. The compiler is off, except for the map of the kernel: it would take minutes.
"""

import os
import shutil
from pathlib import Path

import pytest

import adatron
from processes import COMPILING, python

TESTS = Path(__file__).parents[1]
# A line that is new, where CONTRIBUTING says, before a line that is there; imports beside it.
LINES = {
    "kernels/table.py": {
        "from .sigmoid import": "from .square import Square, square_map",
        '    ("_distance_rbf"': '    ("square", Square, square_map),',
    },
    "solvers/table.py": {
        "from .classic.isda": "from .classic.greedy import Greedy",
        '    "isda": ISDA': '    "greedy": Greedy,',
    },
    "files/models/contents.py": {
        "from ...estimators.incremental": "from ...estimators.asymmetric import AsymmetricSVR",
        "    SVC, NuSVC, InputMarginSVC, SVR": "    AsymmetricSVR,",
    },
    "__init__.py": {'    "forget": "estimators': '    "AsymmetricSVR": "estimators.asymmetric",'},
    "cli/options.py": {'    "novelty": {"nu": "OneClassSVM"': '    "asymmetric": {"c": "AsymmetricSVR"},'},
}

KERNEL = """
import numpy as np, sklearn.svm
from adatron import SVC, load, save
from adatron.devices import unsuited
from adatron.files.onnx.kernels import values
from adatron.kernels import RBF
from adatron.kernels.square import Square

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = (X**2).sum(axis=1) + 0.3 * rng.normal(size=60) > 1.5
model = SVC(kernel="square", gamma=0.3, C=2.0, tol=1e-6).fit(X, y)
theirs = sklearn.svm.SVC(kernel=Square(0.3), C=2.0, tol=1e-6).fit(X, y)
np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-4)
assert model.kernel_ == Square(0.3, 0.5)
assert model.kkt_violation_ <= 1e-6 and model.duality_gap_ <= 1e-4
mixed = 0.5 * Square(0.3, 1.0) + RBF(0.4)
ours, theirs = SVC(kernel=mixed, tol=1e-6).fit(X, y), sklearn.svm.SVC(kernel=mixed, tol=1e-6).fit(X, y)
np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
save(model, "model")
np.testing.assert_array_equal(load("model").predict(X), model.predict(X))
bound = Square(0.3).error_bound(float((X**2).sum(axis=1).max()), 2, 2.0**-24)
assert 0 < bound < 1e-4
assert unsuited(Square()) == "its formula is not written for devices"
for refuse in (lambda: values(Square(), None), model.to_sklearn):
    try:
        refuse()
    except ValueError as error:
        print(error)
"""

MACHINE = """
import numpy as np
from adatron import AsymmetricSVR, load, save
from adatron.kernels import RBF
from adatron.problems.asymmetric import Asymmetric
from twins import programs

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (50, 1))
y = np.sin(X[:, 0]) + rng.normal(size=50) * 0.3
model = AsymmetricSVR(above=4.0, C=2.0, gamma=0.5, tol=1e-6).fit(X, y)
K, dual = RBF(0.5)(X), Asymmetric(2.0, 4.0).dual(y, np.ones(50), None)
best = programs.objective(K, dual, programs.solve(K, dual, tol=1e-9))
np.testing.assert_allclose(model.dual_objective_, -best, rtol=1e-6)
assert model.kkt_violation_ <= 1e-6 and model.duality_gap_ <= 1e-4
assert (y - model.predict(X) > 1e-4).mean() <= 0.2 and (y - model.predict(X) < -1e-4).mean() <= 0.8
save(model, "model")
np.testing.assert_array_equal(load("model").predict(X), model.predict(X))
"""

SOLVER = """
import numpy as np
from adatron import SVC, load, save
from adatron.kernels import RBF
from adatron.problems import csvc
from adatron.solvers.classic.greedy import Greedy
from twins import programs

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
signs = np.where(y, 1.0, -1.0)
for bias in ("augmented", "none"):
    model = SVC(gamma=0.5, solver="greedy", bias=bias, tol=1e-6).fit(X, y)
    dual = csvc(signs, np.ones(60), bias)
    K = RBF(0.5)(X)
    best = programs.objective(K, dual, programs.solve(K, dual, tol=1e-9))
    np.testing.assert_allclose(model.dual_objective_, -best, rtol=1e-6)
    assert model.kkt_violation_ <= 1e-6 and model.duality_gap_ <= 1e-4
    assert model.fit_status_ == 0
SVC(solver=Greedy(), bias="none").fit(X, y)
save(model, "model")
assert load("model").solver == "greedy"
try:
    SVC(solver="greedy").fit(X, y)
except ValueError as error:
    print(error)
"""

# One process for all commands.
TOOL = """
from adatron.cli import main

train = ["train", "rows.csv", "--label", "label", "--model", "fitted", "--kernel", "square"]
for command in (
    ["train", "--help"],
    ["info", "--solvers"],
    [*train, "--gamma", "0.1", "--solver", "greedy", "--bias", "none"],
    ["info", "fitted"],
    [*train, "--task", "asymmetric", "--gamma", "0.01"],
    ["info", "fitted"],
):
    assert main(command) == 0, command
    print("The end", flush=True)
"""

MAP = """
import numpy as np
from adatron.kernels.square import Square, square_map

X = np.random.default_rng(0).normal(size=(9, 3))
for dtype, unit in ((np.float32, 2.0**-24), (np.float64, 2.0**-53)):
    tile, norms = (X @ X.T).astype(dtype), np.zeros(9, dtype)
    square_map(tile, norms, norms, 0.3, 0.5, 0.0)
    bound = Square(0.3).error_bound(float((X**2).sum(axis=1).max()), 3, unit)
    assert np.abs(tile - Square(0.3)(X)).max() <= bound
assert square_map.signatures
"""


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """A folder with a copy of the package, to which the toys have been added."""
    folder = tmp_path_factory.mktemp("added")
    package = folder / "adatron"
    shutil.copytree(Path(adatron.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(TESTS / "toys", package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, lines in LINES.items():
        text = (package / name).read_text()
        for place, line in lines.items():
            before, found, after = text.partition(f"\n{place}")
            assert found, (name, place)
            text = f"{before}\n{line}{found}{after}"
        (package / name).write_text(text)
    return folder


def run(folder, *command, jit=False):
    own = {"PYTHONPATH": os.pathsep.join([str(folder), str(TESTS)]), "ADATRON_CACHE_DIR": folder / "cache"}
    return python(*command, cwd=folder, **{**COMPILING, "NUMBA_DISABLE_JIT": int(not jit), **own}).stdout


@pytest.mark.slow
def test_a_kernel(added):
    no_onnx, no_sklearn = run(added, "-c", KERNEL).splitlines()
    assert no_onnx == "There are no ONNX operators for the kernel Square(gamma=1.0, shift=0.5)."
    assert "knows only the kernels 'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'; not Square(" in no_sklearn


@pytest.mark.slow
def test_the_compiled_map_of_a_kernel(added):
    run(added, "-c", MAP, jit=True)


@pytest.mark.slow
def test_a_machine_and_its_problem(added):
    run(added, "-c", MACHINE)


def test_a_solver(added):
    refused = run(added, "-c", SOLVER)
    assert "The solver 'greedy' is not made for an explicit bias; these are: " in refused


def test_the_tool_knows_them_all(added):
    rows = "\n".join(f"{x % 7},{x % 5},{int(x % 7 > 3)}" for x in range(40))
    (added / "rows.csv").write_text(f"a,b,label\n{rows}\n")
    shown, solvers, _, square, _, asymmetric = run(added, "-c", TOOL).split("The end\n")[:-1]
    names = "".join(shown.split())
    assert "poly,precomputed,rbf,sigmoid,square" in names
    assert "greedy" in solvers
    assert "square" in square
    assert "greedy" in square
    assert "AsymmetricSVR" in asymmetric
