"""Searches over C and gamma: ours against scikit-learn's search over our machines and over its own.

Each measurement is a process of its own: ``python -m benchmarks.search SPECIFICATION``, in JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV as Plain
from sklearn.preprocessing import StandardScaler

import adatron
from adatron.selection import GridSearchCV

from . import tables

HERE = Path(__file__).parent
OURS, PLAIN, THEIRS = "adatron search", "plain search, adatron", "plain search, sklearn.svm, n_jobs=2"
LIMIT = 1800.0  # Seconds after which a search is cut off.
LONG = 60.0  # Seconds above which a search is not repeated.
QUICK = 600  # Samples of a quick run.
FEW = 200  # Samples of the search that loads the code.
SAME = {False: 1e-12, True: 1e-3}  # Largest difference of equal scores: of classifications, of regressions.
Data = tuple[Any, Any]


class Case(NamedTuple):
    """Samples and ranges: how many C, from where to where, and how many folds, if they are not those of the others."""

    load: Callable[[], Data]
    gammas: tuple[float, float]
    C: tuple[float, float] = (1e-2, 1e3)
    regression: bool = False
    protocol: tuple[int, int, float] | None = None  # values of C, folds and gap of another library's protocol


def _mixture(n: int, d: int) -> Data:
    X, y = make_classification(n, d, n_informative=8, flip_y=0.1, random_state=0)
    return StandardScaler().fit_transform(X), y


def _digits() -> Data:
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def _named(name: str, most: int) -> Data:
    """Return some samples of a set of the other benchmarks."""
    from .datasets import CASES as SETS

    split = SETS[name].load()
    some = np.random.default_rng(0).permutation(len(split.y))[:most]
    return split.X[some], split.y[some]


def _apart(n: int, d: int) -> Data:
    """Return two classes that are nearly separable."""
    generator = np.random.default_rng(0)
    y = np.arange(n) % 2
    return generator.standard_normal((n, d)) + np.where(y, 0.35, -0.35)[:, None], y


CASES = {
    "500 x 20": Case(partial(_mixture, 500, 20), (1e-3, 1e1)),
    "moons 2,000": Case(partial(make_moons, 2000, noise=0.3, random_state=0), (1e-2, 1e2)),
    "2,000 x 20": Case(partial(_mixture, 2000, 20), (1e-3, 1e1)),
    "digits": Case(_digits, (1e-3, 1e1)),
    "cal.housing 5,000": Case(partial(_named, "cal.housing, regression", 5000), (1e-2, 1e1), regression=True),
    "USPS": Case(partial(_named, "USPS", 7291), (1e-4, 1e-1)),
    "a9a 8,000": Case(partial(_named, "a9a", 8000), (1e-3, 1e0)),
    "ijcnn1 10,000": Case(partial(_named, "ijcnn1", 10_000), (1e-2, 1e1)),
    "20,000 x 20": Case(partial(_mixture, 20_000, 20), (1e-3, 1e1)),
    "moons 20,000": Case(partial(make_moons, 20_000, noise=0.3, random_state=0), (1e-2, 1e2)),
    "TorchKM": Case(partial(_apart, 20_000, 100), (5e-3, 5e-3), (1e-3, 1e3), protocol=(50, 10, 1e-4)),
}
COLUMNS = [("data", "data", "name"), ("C x gamma x folds", "grid", "name"), ("way", "way", "name"),
           ("runs", "runs", "count"), ("seconds", "seconds", "time"), ("/ ours", "ratio", "ratio"),
           ("CPU s", "cpu", "time"), ("peak MB", "peak", "MB"), ("largest gap", "gap", "small"),
           ("proven candidates", "proven", "name"), ("scores that differ", "differ", "name"),
           ("by at most", "by", "small")]  # fmt: skip
NOTES = (
    "Searches with tol 1e-3 and without a refit, each in a process of its own, the ways in turn, after a small search "
    "that loads the code. TorchKM is that library's protocol: 20,000 samples of 100 features, two nearly separable "
    "classes, one gamma, C from 1e-3 to 1e3, and here a relative gap of 1e-4 in each fit. Seconds are medians of as "
    "many runs as the column says, one if a search took more than a minute. ≥ is a search that was cut off. CPU "
    "seconds are those of all threads; processes of joblib are not counted. The peak is what the search adds to the "
    "data. Mean scores differ by anything in classification, by more than 1e-3 in regression."
)
WANTED = {"digits", "cal.housing 5,000", "USPS", "a9a 8,000", "ijcnn1 10,000", "20,000 x 20", "moons 20,000"}


def searched(name: str, ways: list[str], sizes: dict[str, Any], repeats: int) -> list[dict[str, Any]]:
    """Return a row for each way, with the median of its times; the ways take turns."""
    case = CASES[name]
    shown = f"{name}, first {sizes['rows']:,}" if sizes["rows"] else name
    rows: list[dict[str, Any]] = [{"data": shown, "way": way, "runs": []} for way in ways]
    if case.protocol is not None:
        rows = rows[:1]
    for turn in range(repeats):
        for row in rows:
            if turn and row["runs"][0]["seconds"] > LONG:
                continue
            row["runs"].append(_process({"data": name, "way": row["way"], **sizes}))
    for row in rows:
        runs = row.pop("runs")
        row.update(runs[0], runs=len(runs), seconds=float(np.median([run["seconds"] for run in runs])))
    for row in rows:
        row |= {"ratio": row["seconds"] / rows[0]["seconds"], "circumstances": tables.circumstances()}
        if row.get("scores") and rows[0].get("scores"):
            off = np.abs(np.subtract(row["scores"], rows[0]["scores"]))
            row["differ"], row["by"] = int(np.count_nonzero(off > SAME[case.regression])), float(off.max())
    return rows


def _process(spec: dict[str, Any]) -> dict[str, Any]:
    """Return what a process has measured; the limit if it was cut off."""
    command = [sys.executable, "-m", "benchmarks.search", json.dumps(spec)]
    process = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=HERE.parent, start_new_session=True
    )
    try:
        out, _ = process.communicate(timeout=spec["limit"] + 300)
    except subprocess.TimeoutExpired:
        out = ""
    finally:
        if process.poll() is None:  # with the processes that it has begun
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode == -signal.SIGALRM or not out:
        return {"seconds": spec["limit"], "cut": True, "grid": _grid(spec)}
    return json.loads(out.splitlines()[-1])


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Search once; return seconds, memory, scores and what is proven."""
    case = CASES[spec["data"]]
    X, y = case.load()
    n_C, n_gamma, folds = _sizes(spec)
    gap = case.protocol and case.protocol[2]
    if spec["rows"]:
        X, y = X[: spec["rows"]], y[: spec["rows"]]
    gammas = np.geomspace(*case.gammas, n_gamma)
    kind = getattr(sklearn.svm if spec["way"] == THEIRS else adatron, "SVR" if case.regression else "SVC")
    model = kind() if gap is None else kind(gap_tol=gap)
    make = partial(GridSearchCV, refit=False) if spec["way"] == OURS else partial(Plain, refit=False)
    jobs = 2 if spec["way"] == THEIRS else None
    warnings.simplefilter("ignore", ConvergenceWarning)
    make(model, {"C": [1.0, 10.0], "gamma": [gammas[0]]}, cv=2, n_jobs=jobs).fit(X[:FEW], y[:FEW])
    search = make(model, {"C": np.geomspace(*case.C, n_C), "gamma": gammas}, cv=folds, n_jobs=jobs)
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # from here on VmHWM is the peak of the search
    signal.alarm(int(spec["limit"]))
    begun, used = time.perf_counter(), time.process_time()
    search.fit(X, y)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    signal.alarm(0)
    results = search.cv_results_
    found = {"seconds": seconds, "grid": _grid(spec), "scores": results["mean_test_score"].tolist()}
    if spec["way"] != THEIRS:
        found["cpu"] = cpu
    if spec["way"] == OURS:
        found |= {
            "peak": _memory("VmHWM") - before,
            "gap": float(np.max(results["max_duality_gap"])),
            "proven": f"{np.sum(results['proven'])} of {len(results['proven'])}",
            "converged": bool(np.all(results["converged"])),
        }
    return found


def _sizes(spec: dict[str, Any]) -> tuple[int, int, int]:
    """Return how many values of C and of gamma, and folds, a search has."""
    case, values, folds = CASES[spec["data"]], spec["values"], spec["folds"]
    if case.protocol is None:
        return values, values, folds
    n_C, n_folds, _ = case.protocol
    return (min(n_C, values), 1, min(n_folds, folds)) if spec["rows"] else (n_C, 1, n_folds)


def _grid(spec: dict[str, Any]) -> str:
    return " x ".join(map(str, _sizes(spec)))


def _memory(name: str) -> int:
    """Return a number of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def write(folder: Path, rows: list[dict[str, Any]]) -> str:
    """Write search.md and search.json, in which rows of the same search are replaced; return the page."""
    path = folder / "search.json"
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    new = {_search_of(row) for row in rows}
    order = {name: place for place, name in enumerate(CASES)}
    kept = [*(row for row in before if _search_of(row) not in new), *rows]
    kept.sort(key=lambda row: order.get(row["data"], len(order)))
    told = " ".join(dict.fromkeys(row["circumstances"] for row in kept))
    return tables.write(folder, "search", f"{NOTES}\n\n{means(kept)}", kept, COLUMNS, told)


def _search_of(row: dict[str, Any]) -> tuple[str, ...]:
    return row["data"], row["way"], row["grid"]


def means(rows: list[dict[str, Any]]) -> str:
    """Return the geometric mean of the sets that the goals are about, in a sentence for each way."""
    said = []
    for way in (PLAIN, THEIRS):
        ratios = [row["ratio"] for row in rows if row["way"] == way and row["data"] in WANTED]
        if len(ratios) > 1:
            mean, sets = float(np.exp(np.mean(np.log(ratios)))), ", ".join(sorted(WANTED))
            said.append(f"{way} / ours: {mean:.1f}, the geometric mean of {sets}; at least {min(ratios):.1f}.")
    return " ".join(said)


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
