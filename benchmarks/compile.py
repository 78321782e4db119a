"""What the first uses of an installation compile: ``python -m benchmarks.compile USE`` in a process of its own.

A use starts with an empty cache. Processor time is counted, since other processes may compute beside it; the helpers
that compile ahead are left out. Functions of Numba itself, such as ``np.empty``, count with their callers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from numba.core import event

HERE = Path(__file__).parent
SLOWEST = 6  # Functions that a line of the table names.
COLUMNS = [("first use", "use", "name"), ("seconds", "seconds", "time"), ("of them compiling", "compiling", "time"),
           ("functions", "functions", "count"), ("called from Python", "outer", "count"),
           ("slowest, with what they alone call", "slowest", "name")]  # fmt: skip
NOTES = (
    "Each use in a process of its own with an empty cache. Seconds are processor time of that process, without its "
    "imports. The prediction follows the fit in its process. Functions count once for every type of their arguments."
)


def _example() -> tuple[Any, Any, Any, Any]:
    from sklearn.datasets import make_moons
    from sklearn.model_selection import train_test_split

    X, y = make_moons(20_000, noise=0.2, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    return X, y, X_test, y_test


def _small_file(folder: Path) -> str:
    import numpy as np

    X = np.random.default_rng(0).normal(size=(200, 4))
    path = folder / "small.csv"
    np.savetxt(path, np.c_[X, X[:, 0] > X[:, 1]], delimiter=",", header="a,b,c,d,label", comments="")
    return str(path)


def _command(*words: str) -> None:
    from adatron.cli import main

    if main(words):
        raise SystemExit(f"adatron {' '.join(words)} failed")


def _uses(use: str, folder: Path) -> list[tuple[str, Callable[[], Any]]]:
    """Return the stages of a use, ready to run: all is imported."""
    import adatron

    import_module("adatron.cli")
    if use == "fit":
        X, y, X_test, y_test = _example()
        model = adatron.SVC(C=10)
        return [("fit of README", lambda: model.fit(X, y)), ("prediction", lambda: model.score(X_test, y_test))]
    if use == "small fit":
        X, y = (values[:200] for values in _example()[:2])
        return [("fit of 200 samples", lambda: adatron.SVC().fit(X, y))]
    if use == "warmup":
        return [("adatron.warmup()", adatron.warmup)]
    data = _small_file(folder)
    more = [] if use == "search" else ["--model", str(folder / "model.adatron")]
    return [(f"adatron {use}", lambda: _command(use, data, "--quiet", *more))]


def measured(use: str) -> list[dict[str, Any]]:
    """Return a row for each stage of a use, from a process of its own."""
    with tempfile.TemporaryDirectory() as cache:
        alone = {**os.environ, "ADATRON_CACHE_DIR": cache, "ADATRON_COMPILES_AHEAD": "1"}
        command = [sys.executable, "-m", "benchmarks.compile", use]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parent, env=alone)  # noqa: S603
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


class _Compilations(event.Listener):
    """Processor seconds of each function that is compiled, by its name, and whether Python asked for it."""

    def __init__(self) -> None:
        self._begun: list[list[float]] = []
        self.found: list[tuple[str, float, bool]] = []

    def on_start(self, event: Any) -> None:
        self._begun.append([time.thread_time(), 0.0])

    def on_end(self, event: Any) -> None:
        start, within = self._begun.pop()
        seconds, function = time.thread_time() - start, event.data["dispatcher"].py_func
        ours = function.__module__.startswith("adatron.")
        if self._begun:
            self._begun[-1][1] += seconds if ours else 0.0
        if ours:
            name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            self.found.append((name, seconds - within, not self._begun))

    def row(self, use: str, seconds: float) -> dict[str, Any]:
        """Return a row of what was compiled since the last one."""
        by_name: dict[str, float] = {}
        for name, own, _ in self.found:
            by_name[name] = by_name.get(name, 0.0) + own
        slowest = sorted(by_name, key=lambda name: -by_name[name])[:SLOWEST]
        row = {
            "use": use, "library": "adatron", "seconds": seconds, "compiling": sum(own for _, own, _ in self.found),
            "functions": len(self.found), "outer": sum(outer for *_, outer in self.found),
            "slowest": ", ".join(f"{name} {by_name[name]:.1f}" for name in slowest),
        }  # fmt: skip
        self.found.clear()
        return row


def _report(use: str) -> list[dict[str, Any]]:
    seen = _Compilations()
    rows = []
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        stages = _uses(use, Path(folder))
        event.register("numba:compile", seen)
        for name, run in stages:
            start = time.process_time()
            run()
            rows.append(seen.row(name, time.process_time() - start))
    return rows


if __name__ == "__main__":
    print(json.dumps(_report(sys.argv[1])))
