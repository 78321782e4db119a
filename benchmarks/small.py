"""Small problems beside scikit-learn, in one process and in turn: the ratio is scikit-learn's time by adatron's.

A case gives two calls that do the same, one of each library. Both are called before anything is timed. A time is the
mean of as many calls as take MOMENT seconds; the libraries take turns, and medians of REPEATS turns are shown.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_digits, make_blobs, make_classification
from sklearn.metrics.pairwise import rbf_kernel

import adatron.files

REPEATS, MOMENT = 7, 0.1
NOTES = (
    "Default parameters but for those that a line names. adatron proves a relative gap of 1e-3 beside tol; "
    "scikit-learn has tol alone. Milliseconds of one call, medians of seven turns in one process. Lines that begin "
    "with 'process' are whole processes. The ratio is scikit-learn's time by adatron's; "
    "'wanted' is the ratio that this project aims at."
)
ROW_CALLS, SERVICE_THREADS = 2000, 4
SERVICE = f"predict, one row, {SERVICE_THREADS} threads, 99th percentile"
Call = Callable[[], Any]


class Pair(NamedTuple):
    """Two calls that do the same: ours, and scikit-learn's."""

    name: str
    ours: Call
    theirs: Call
    wanted: float


def two_classes(n: int, d: int = 10, classes: int = 2) -> tuple[Any, Any]:
    return make_classification(n, d, n_informative=max(5, d // 2), flip_y=0.1, n_classes=classes, random_state=0)


def clouds(classes: int, each: int) -> tuple[Any, Any]:
    return make_blobs(classes * each, 10, centers=classes, cluster_std=3.0, random_state=0)


def fits(name: str, kind: str, X: Any, y: Any, wanted: float, **parameters: Any) -> Pair:
    ours, theirs = getattr(adatron, kind)(**parameters), getattr(svm, kind)(**parameters)
    return Pair(name, lambda: ours.fit(X, y), lambda: theirs.fit(X, y), wanted)


def given_values() -> Iterator[Pair]:
    for n in (100, 300, 600, 1000):
        X, y = two_classes(n)
        yield fits(
            f"fit, {n:,} samples, given kernel values", "SVC", rbf_kernel(X, gamma=0.1), y, 1.0, kernel="precomputed"
        )
    X, y = load_digits(return_X_y=True)
    yield fits("fit, ten digits, given kernel values", "SVC", rbf_kernel(X, gamma=1e-3), y, 1.0, kernel="precomputed")


def functions() -> Iterator[Pair]:
    for n in (100, 300, 600):
        yield fits(f"fit, {n} samples, a Python function", "SVC", *two_classes(n), 0.9, kernel=rbf_kernel)


def machines() -> Iterator[Pair]:
    for n in (100, 200, 300):
        X, y = two_classes(n)
        yield fits(f"fit, {n} samples, SVC", "SVC", X, y, 1.0)
        yield fits(f"fit, {n} samples, NuSVC", "NuSVC", X, y, 1.0, nu=0.4)
        yield fits(f"fit, {n} samples, OneClassSVM", "OneClassSVM", X, None, 1.0, nu=0.2)
        yield fits(f"fit, {n} samples, SVR", "SVR", X, X[:, 0] + 0.1 * y, 1.0)
    X, y = two_classes(150, classes=3)
    yield fits("fit, three classes of 50, sigmoid kernel", "SVC", X, y, 1.0, kernel="sigmoid", gamma=0.01)
    X, y = two_classes(200)
    yield fits("fit, 200 samples, lists", "SVC", X.tolist(), y.tolist(), 1.0)
    yield fits("fit, 200 samples, CSR rows", "SVC", sparse.csr_matrix(np.where(np.abs(X) < 1.0, 0.0, X)), y, 1.0)


def many_classes() -> Iterator[Pair]:
    for classes, each in ((26, 385), (100, 50), (300, 4), (800, 5)):
        yield fits(f"fit, {classes} classes of {each}", "SVC", *clouds(classes, each), 1.0)
    noise = np.random.default_rng(0).normal(size=(1200, 10))
    yield fits("fit, 300 classes of 4 in one cloud", "SVC", noise, np.repeat(np.arange(300), 4), 1.0)
    yield fits("fit, 300 classes of 4, NuSVC", "NuSVC", *clouds(300, 4), 1.0, nu=0.2)
    X, y = clouds(100, 10)
    ours = adatron.SVC(probability=True)
    theirs = svm.SVC(probability=True)
    yield Pair("fit, 100 classes of 10, probability=True", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 1.0)


def single_rows() -> Iterator[Pair]:
    import pandas as pd

    for n, noise, d in ((200, 0.0, 20), (2_000, 0.1, 20), (10_000, 0.3, 20), (3_000, 0.6, 784)):
        X, y = make_classification(n, d, n_informative=d // 2, flip_y=noise, random_state=0)
        ours, theirs, row = adatron.SVC().fit(X, y), svm.SVC().fit(X, y), X[:1].copy()
        for name in ("predict", "decision_function"):
            a, b = getattr(ours, name), getattr(theirs, name)
            yield Pair(f"{name}, one row, {len(ours.support_):,} x {d} support vectors", lambda a=a, row=row: a(row),
                       lambda b=b, row=row: b(row), 1.2)  # fmt: skip
    X, y = two_classes(2_000, 20)
    frame = pd.DataFrame(X).rename(columns=str)
    for kind, rows in (("CSR", sparse.csr_matrix(np.where(np.abs(X) < 1.0, 0.0, X))), ("DataFrame", frame)):
        ours, theirs, row = adatron.SVC().fit(rows, y), svm.SVC().fit(rows, y), rows[:1]
        yield Pair(
            f"predict, one {kind} row",
            lambda a=ours, row=row: a.predict(row),
            lambda b=theirs, row=row: b.predict(row),
            1.0,
        )


def processes() -> Iterator[Pair]:
    """Yield whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        X, y = two_classes(300)
        model, rows = Path(folder) / "model.adatron", Path(folder) / "rows.csv"
        adatron.files.save(adatron.SVC().fit(X, y), model)
        np.savetxt(rows, X[:10], delimiter=",")
        python, head = [sys.executable, "-c"], "from sklearn.datasets import make_classification as make; "
        fit = "X, y = make(300, 10, random_state=0); SVC().fit(X, y)"
        theirs = "import numpy, sklearn.svm; " + head + fit.replace("SVC()", "sklearn.svm.SVC()")
        tool = [sys.executable, "-m", "adatron", "predict", str(model), str(rows)]
        for name, ours, other, wanted in (
            (
                "process: import of SVC",
                [*python, "from adatron import SVC"],
                [*python, "from sklearn.svm import SVC"],
                0.95,
            ),
            ("process: one fit", [*python, "from adatron import SVC; " + head + fit], [*python, theirs], 0.9),
            ("process: adatron predict, ten rows", tool, [*python, theirs], 1.0),
        ):
            yield Pair(name, lambda c=ours: _run(c), lambda c=other: _run(c), wanted)


def rows(only: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table whose name has this in it."""
    for group in (given_values, functions, machines, many_classes, single_rows, processes):
        yield from (measured(pair) for pair in group() if only in pair.name)
    if only in SERVICE:
        yield service()


def _row(name: str, ours: float, theirs: float, wanted: float) -> dict[str, Any]:
    return {"data": name, "library": "scikit-learn", "ours": 1e3 * ours, "theirs": 1e3 * theirs,
            "ratio": theirs / ours, "wanted": wanted}  # fmt: skip


def measured(pair: Pair) -> dict[str, Any]:
    """Return the medians of both libraries and their ratio."""
    counts = []
    for call in (pair.ours, pair.theirs):
        call()
        start = time.perf_counter()
        call()
        counts.append(max(1, int(MOMENT / (time.perf_counter() - start))))
    times: tuple[list[float], list[float]] = [], []
    for _ in range(REPEATS):
        for call, count, own in zip((pair.ours, pair.theirs), counts, times, strict=True):
            start = time.perf_counter()
            for _ in range(count):
                call()
            own.append((time.perf_counter() - start) / count)
    ours, theirs = map(statistics.median, times)
    return _row(pair.name, ours, theirs, pair.wanted)


def service() -> dict[str, Any]:
    """Return the 99th percentile of one row's time, when several threads ask at the same time."""
    X, y = two_classes(2_000, 20)
    found = []
    for model in (adatron.SVC().fit(X, y), svm.SVC().fit(X, y)):
        taken: list[float] = []

        def ask(model: Any = model, taken: list[float] = taken) -> None:
            for i in range(ROW_CALLS):
                row, start = X[i % len(X)][None], time.perf_counter()
                model.predict(row)
                taken.append(time.perf_counter() - start)

        threads = [threading.Thread(target=ask) for _ in range(SERVICE_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found.append(float(np.quantile(taken, 0.99)))
    return _row(SERVICE, *found, 2.0)


def _run(command: list[str]) -> None:
    """Run a process that keeps its bytecode, as that of an installed package is kept."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603
