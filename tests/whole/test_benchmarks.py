"""The benchmarks, also that for benchopt: what they recompute is right, and what they write is complete."""

import json
import shutil
import signal
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks import linear, tables
from benchmarks.__main__ import QUICK, SHARE, main
from benchmarks.benchopt.benchmark_utils.truth import truth
from benchmarks.libraries import LIBRARIES, Library
from benchmarks.linear_machines import PROGRAMS, objective
from benchmarks.quality import quality, support_vectors
from click.testing import CliRunner
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.svm import SVC as PeerSVC
from sklearn.svm import SVR as PeerSVR
from sklearn.svm import NuSVC as PeerNuSVC
from sklearn.svm import NuSVR as PeerNuSVR

from adatron import SVC, SVR, NuSVC, NuSVR
from machines import altered, spread
from problems import samples
from processes import python

CASES = {
    "two classes": (SVC, PeerSVC, {"C": 3.0}, 2),
    "pairs": (SVC, PeerSVC, {"C": 3.0}, 3),
    "rest": (SVC, partial(LIBRARIES["scikit-learn"].make, one_vs_rest=True), {"C": 3.0}, 3),
    "regression": (SVR, PeerSVR, {"C": 3.0, "epsilon": 0.1}, 0),
    "nu": (NuSVC, PeerNuSVC, {"nu": 0.8}, 2),
    "regression of nu": (NuSVR, PeerNuSVR, {"nu": 0.3, "C": 2.0}, 0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("case", CASES)
def test_quality_is_the_certificate(case, kernel):
    machine, peer, own, classes = CASES[case]
    X, y = make_classification(120, 6, n_classes=classes or 2, n_informative=3, flip_y=0.2, random_state=0)
    y = y if classes else X[:, 0] + 0.3 * y
    parameters = {**own, "gamma": 0.2, "kernel": kernel, "degree": 2, "coef0": 1.0, "tol": 1e-5}
    rest = {"multi_class": "ovr"} if case == "rest" else {}
    ours = machine(**parameters, **rest, gap_tol=None).fit(X, y)  # a margin of 0 has no gap to go on to
    for model in (ours, peer(**parameters).fit(X, y)):
        measured = quality(model, X, y, parameters, machine.__name__, one_vs_rest=bool(rest))
        assert measured.dual_objective == pytest.approx(np.sum(ours.dual_objective_), rel=1e-5, abs=1e-8)
        assert measured.relative_gap >= 0
        assert measured.relative_gap <= 1e-4 or measured.dual_objective < 1e-8  # an optimum of 0 has no relative gap
        assert measured.kkt_violation is None or measured.kkt_violation <= 5e-5  # LIBSVM's values are float32
        if kernel == "rbf":  # with others the coefficients are not unique
            assert measured.support_vectors == pytest.approx(support_vectors(ours), abs=2)
    coarse = peer(**{**parameters, "max_iter": 5}).fit(X, y)
    assert quality(coarse, X, y, parameters, machine.__name__, one_vs_rest=bool(rest)).relative_gap > 1e-3


def test_coefficients_in_float32_are_on_their_bounds():
    X, y = make_classification(300, 6, flip_y=0.2, class_sep=0.5, random_state=0)
    parameters = {"nu": 0.6, "gamma": 0.2, "tol": 1e-6}
    model = NuSVC(**parameters).fit(X, y)
    model = altered(model, dual=model.dual_coef_.astype(np.float32).astype(np.float64))
    assert quality(model, X, y, parameters, "NuSVC").kkt_violation <= 1e-4


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """A command of the benchmarks, each number measured once, in a folder of its own; the rows that it writes."""
    monkeypatch.setenv("ADATRON_CELLS", str(tmp_path / "cells"))
    monkeypatch.setattr("benchmarks.__main__.REPEATS", 1)

    def run(task, *arguments, table=None, fails=False):
        done = CliRunner().invoke(main, [task, *map(str, arguments), "--output", str(tmp_path)])
        assert fails or done.exit_code == 0, done.output
        return done, json.loads((tmp_path / f"{table or task}.json").read_text())["rows"]

    return run


@pytest.mark.slow
def test_the_yardstick_has_both_limits(ran):
    sets = ("fried, rbf, NuSVR", "2dplanes, poly, SVR")
    _, rows = ran("yardstick", *(f"--data={one}" for one in sets), "--library", "adatron", "--first-rows", 200)
    assert [(row["data"], row["limit"]) for row in rows] == [
        (d, limit) for d in sets for limit in ("10,000", "no limit")
    ]
    assert all(row["kept"] == "yes" and row["accuracy"] > 0.3 for row in rows)


@pytest.mark.slow
def test_the_quick_table_needs_no_files_and_only_the_libraries_that_are_installed(ran, tmp_path, monkeypatch):
    monkeypatch.setenv("ADATRON_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr("benchmarks.__main__.QUICK", QUICK[:1])
    monkeypatch.setitem(LIBRARIES, "another", Library("a-package-that-nobody-has", "nothing"))
    _, rows = ran("fit", "--quick")
    assert {row["library"] for row in rows} == {name for name, one in LIBRARIES.items() if one.installed}
    assert all(row["seconds"] > 0 for row in rows)
    assert (tmp_path / "fit.png").exists()


def test_a_cut_fit_is_a_lower_bound():
    rows = [
        {"data": "a", "library": "adatron", "seconds": 2.0},
        {"data": "a", "library": "b", "seconds": 600.0, "cut": True},
    ]
    rows = tables.with_ratios([*rows, {"data": "a", "library": "c", "failed": "x"}])
    text = tables.markdown(rows, [("library", "library", "name"), ("s", "seconds", "time"), ("x", "ratio", "ratio")])
    assert text.splitlines()[2:] == ["| adatron | 2.00 | 1.0 |", "| b | ≥ 600 | ≥ 300 |", "| c | – | – |"]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("task", ["fit", "predict", "memory", "certify"])
def test_a_table_from_start_to_end(task, data_dir, ran, tmp_path):
    library = [] if task == "certify" else ["--library", "adatron"]
    _, (row,) = ran(task, "--data", "heart_scale", *library)
    assert row["seconds"] > 0
    assert "heart_scale" in (tmp_path / f"{task}.md").read_text()
    if task in ("fit", "predict"):  # they also measure the machine's rates, anew each time
        return
    measured = len(list((tmp_path / "cells").iterdir()))
    ran(task, "--data", "heart_scale", *library)
    assert len(list((tmp_path / "cells").iterdir())) == measured  # nothing was measured again


@pytest.mark.slow
def test_the_line_of_many_rows(ran):
    few = ["--many-only", "--rows", 9000, "--vectors", 300]
    done, (row,) = ran("predict", *few, table="predict-many", fails=True)
    assert (row["rows"], row["features"], row["support_vectors"]) == (9000, 784, 300)
    assert 0 <= row["extra"] < 9000 * 784 * 4  # no copy of the rows
    assert row["rate"] == pytest.approx(2 * 9000 * 784 * 300 / row["seconds"])
    assert ("too slow" in done.output) == (done.exit_code != 0) == (row["share"] < SHARE)


@pytest.mark.slow
def test_searches_take_turns_and_have_the_same_scores(ran, tmp_path):
    small = ["--rows", 60, "--values", 2, "--folds", 2, "--repeats", 1]
    for data in ("digits", "digits", "moons 2,000"):  # the second run replaces the rows of the first
        done, rows = ran("search", "--data", data, *small)
    ways = ["adatron search", "plain search, adatron"]
    assert [(row["data"], row["way"]) for row in rows] == [
        (f"{data}, first 60", way) for data in ("digits", "moons 2,000") for way in ways
    ]
    assert [(row["grid"], row["differ"]) for row in rows] == 4 * [("2 x 2 x 2", 0)]
    assert done.stdout == (tmp_path / "search.md").read_text() + "\n"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_objective_of_a_linear_machine_is_the_same_for_every_library(program, classes):
    X, y = make_classification(120, 6, n_classes=classes, n_informative=3, flip_y=0.2, random_state=0)
    machines = PROGRAMS[program].machines
    ours = machines["adatron"](2.0).set_params(gap_tol=1e-6).fit(X, y)
    dual, primal = np.sum(ours.dual_objective_), np.sum(ours.primal_objective_)  # with the best bias, if it is free
    assert dual * (1 - 1e-9) <= objective(X, y, ours, 2.0, PROGRAMS[program]) <= primal * (1 + 1e-6)
    if classes == 2 or program != "hinge, free bias":  # scikit-learn's has a machine for each pair
        assert objective(X, y, machines["scikit-learn"](2.0).fit(X, y), 2.0, PROGRAMS[program]) >= dual * (1 - 1e-9)


@pytest.mark.slow
def test_linear_machines_take_turns(ran, tmp_path):
    for data in ("2,000 x 50", "text 5,000 x 100,000", "2,000 x 50"):  # the third run replaces the rows of the first
        _, rows = ran("linear", "--data", data, "--rows", 100, "--quick")
    found = [(row["data"], row["program"], row["library"]) for row in rows]
    sets = {f"2,000 x 50, {kind}, first 100" for kind in ("raw", "standardised")} | {"text 5,000 x 100,000, first 100"}
    assert {(data, program) for data, program, _ in found} == {(data, program) for data in sets for program in PROGRAMS}
    assert len(found) == len(set(found))
    assert all(row["seconds"] > 0 and row["above"] >= -1e-9 for row in rows)
    assert all(row["gap"] <= 1e-3 for row in rows if row["library"] == "adatron")


def test_after_a_cut_the_other_of_a_pair_is_measured_alone(monkeypatch):
    asked = []

    def run(command, **_):
        asked.append(json.loads(command[-1])["libraries"])
        lines = [json.dumps({"library": "adatron", "first": 2.0})]
        alone = len(asked[-1]) == 1
        lines += [json.dumps({"library": "adatron", "seconds": s}) for s in (1.0, 3.0, 1.5)] if alone else []
        return subprocess.CompletedProcess(command, 0 if alone else -signal.SIGALRM, "\n".join(lines), "")

    monkeypatch.setattr(linear.subprocess, "run", run)
    ours, theirs = linear._process({"data": "a"}, ["adatron", "scikit-learn"])
    assert asked == [["adatron", "scikit-learn"], ["adatron"]]
    assert (ours["first"], ours["seconds"], theirs["cut"]) == (2.0, 1.5, True)


def test_a_set_without_its_files_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.__main__.DATA", tmp_path)
    done = CliRunner().invoke(main, ["linear", "--data", "a9a", "--output", str(tmp_path)])
    assert done.exit_code == 0
    assert "a9a: skipped, no a9a.gz" in done.output
    assert not list(tmp_path.iterdir())


def test_a_spoilt_model_is_found_out():
    X, y = make_classification(300, 6, random_state=0)
    model = SVC(C=3.0, gamma=0.2).fit(X, y)
    model = altered(model, dual=model.dual_coef_ * 0.9)
    assert quality(model, X, y, {"C": 3.0, "gamma": 0.2}).kkt_violation > 0.01


ROOT = Path(__file__).parents[2]
RBF = {"kernel": "rbf", "gamma": 0.3}
POLY = {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0}


@pytest.mark.parametrize("kernel", [RBF, POLY, {"kernel": "linear"}], ids=lambda kernel: kernel["kernel"])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-5])
def test_the_benchmark_finds_what_the_certificate_says(kernel, tol):
    X, y = samples(2, 300, 4)
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
