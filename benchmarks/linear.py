"""Linear machines beside other libraries: the time, and how near the optimum the model is that the time has bought.

A pair, ours and another library's machine of the same program, is a process of its own, in which both take turns:
``python -m benchmarks.linear SPECIFICATION``, in JSON. It prints a line for each fit that is done.
"""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from . import tables
from .cell import LIMIT, _limited
from .cells import threads
from .datasets import CASES as SETS
from .linear_machines import LIBRARIES, MORE, OURS, PROGRAMS, Multicore, Samples, objective

HERE = Path(__file__).parent
LONG = 60.0  # Seconds from which on a fit is measured once, by its first call.
REPEATS, MOST, SHORT = 3, 9, 2.0  # Turns: at least, and at most for pairs that take fewer seconds together.
FEW = 5_000  # Most samples for which scikit-learn's SVC takes part.
Row = dict[str, Any]


class Case(NamedTuple):
    """A set: its files, if it is not made, and whether it is measured raw and standardised, or raw only."""

    load: Callable[[], Samples]
    files: tuple[str, ...] = ()
    both: bool = True
    penalties: tuple[float, ...] = (1.0, 100.0, 1e4)
    large: bool = False  # measured only if asked for by name


def _plane(n: int, d: int) -> Samples:
    """Return normal features, with deviations from 0.1 to 10 and labels on the sides of a plane, some of them wrong."""
    generator = np.random.default_rng(0)
    X, normal = generator.standard_normal((n, d)), generator.standard_normal(d) / np.sqrt(d)
    y = (X @ normal + 0.5 * generator.standard_normal(n) > 0.0).astype(np.int64)
    X *= 10.0 ** generator.uniform(-1.0, 1.0, d)
    return X, y


def _text(n: int, d: int, each: int) -> Samples:
    """Return sparse rows of length 1: the j-th feature is as frequent as the j-th word of a language."""
    generator = np.random.default_rng(0)
    frequency = 1.0 / np.arange(1, d + 1)
    columns = generator.choice(d, n * each, p=frequency / frequency.sum())
    values = generator.exponential(size=n * each)
    X = sparse.csr_matrix((values, (np.repeat(np.arange(n), each), columns)), (n, d))
    X = sparse.csr_matrix(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))))
    scores = X @ generator.standard_normal(d)
    return X, (scores + 0.3 * scores.std() * generator.standard_normal(n) > 0.0).astype(np.int64)


def _stored(name: str) -> Samples:
    return SETS[name].load()[:2]


TEXT: dict[str, Any] = {"both": False, "penalties": (1.0,)}
MNIST = tuple(f"{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))
CASES = {
    "2,000 x 50": Case(partial(_plane, 2_000, 50)),
    "100,000 x 50": Case(partial(_plane, 100_000, 50)),
    "1,000,000 x 50": Case(partial(_plane, 1_000_000, 50), large=True),
    "a9a": Case(partial(_stored, "a9a, dense"), ("a9a.gz", "a9a.t.gz")),
    "ijcnn1": Case(partial(_stored, "ijcnn1"), ("ijcnn1.trn.bz2", "ijcnn1.tst.bz2")),
    "MNIST": Case(partial(_stored, "MNIST"), MNIST, both=False, penalties=(1.0,), large=True),
    "text 5,000 x 100,000": Case(partial(_text, 5_000, 100_000, 200), **TEXT),
    "text 20,000 x 50,000": Case(partial(_text, 20_000, 50_000, 50), **TEXT),
    "text 100,000 x 10,000": Case(partial(_text, 100_000, 10_000, 30), **TEXT),
}
SMALL = ("2,000 x 50", "text 5,000 x 100,000")  # Of at most FEW samples; --quick measures them, with C = 1.
COLUMNS = [("data", "data", "name"), ("C", "C", "objective"), ("program", "program", "name"),
           ("library", "library", "name"), ("threads", "threads", "count"), ("tol", "tol", "small"),
           ("seconds", "seconds", "time"), ("/ adatron", "ratio", "ratio"), ("first call", "first", "time"),
           ("objective", "objective", "objective"), ("above the bound, %", "above", "small"),
           ("proven gap", "gap", "small"), ("iterations", "iterations", "count"),
           ("not converged", "unfinished", "name")]  # fmt: skip
NOTES = (
    "Hinge and squared hinge have a penalised bias, that of LinearSVC. Several classes are each against the rest. The "
    "objective is recomputed in float64, by one function for all, from coef_ and intercept_. The bound is the largest "
    "dual objective of adatron, without the rounding that it may have: no model is below it. The gap is what adatron "
    "itself has proven, with the best bias if it is free. Each library stops by its own rule with tol. The others also "
    "have a largest number of iterations: 1,000 (scikit-learn's LinearSVC, rehline) and 300 (liblinear-multicore). "
    f"adatron and one other library take turns in a process of their own. "
    f"Seconds are medians of {REPEATS} to {MOST} turns after the first "
    "call, adatron's over all its pairs; the ratio is that of the pair. A fit whose first call takes more than "
    f"{LONG:.0f} s is measured by it alone, one of more than {LIMIT} s is cut off (≥). liblinear-multicore gets its "
    "form of the data beforehand. Iterations are the largest number of a problem, in the unit of the solver. "
    f"scikit-learn's SVC takes part up to {FEW:,} samples."
)


def measure(spec: Row) -> Iterator[Row]:
    """Yield a line for the first call of each library of a pair, with the quality, and one for each later fit."""
    program, (X, y) = PROGRAMS[spec["program"]], CASES[spec["data"]].load()
    X, y = X[: spec["rows"]], y[: spec["rows"]]
    if spec["standardised"]:
        X = StandardScaler().fit_transform(X)
    makes = {name: partial(program.machines[name], spec["C"]) for name in spec["libraries"]}
    models = {name: make() for name, make in makes.items()}  # imports are not timed
    data = {name: one.converted(X, y) if isinstance(one, Multicore) else (X, y) for name, one in models.items()}
    spent: dict[str, list[float]] = {}
    for name, model in models.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spent[name] = [_limited(partial(model.fit, *data[name]))]
        if isinstance(model, Multicore):
            model.read()
        warned = any(issubclass(one.category, ConvergenceWarning) for one in caught)
        line = {"library": name, "first": spent[name][0], "objective": objective(X, y, model, spec["C"], program)}
        line["unfinished"] = "yes" if warned or not np.all(getattr(model, "converged_", True)) else "no"
        line["iterations"] = int(np.max(model.n_iter_))
        if name == OURS:
            line |= {"gap": float(np.max(model.duality_gap_)), "dual": float(np.sum(model.dual_objective_))}
        yield line
    warnings.simplefilter("ignore", ConvergenceWarning)
    short = [name for name in makes if spent[name][0] < LONG]
    for turn in range(MOST):
        if turn >= REPEATS and sum(map(sum, spent.values())) > SHORT:
            break
        for name in short:
            spent[name].append(_limited(partial(makes[name]().fit, *data[name])))
            yield {"library": name, "seconds": spent[name][-1]}


def specifications(name: str, rows: int | None, quick: bool) -> Iterator[Row]:
    """Yield what is measured of a set."""
    for standardised in (False, True) if CASES[name].both else (False,):
        for C in CASES[name].penalties[: 1 if quick else None]:
            for program in PROGRAMS:
                yield {"data": name, "standardised": standardised, "C": C, "program": program, "rows": rows}


def measured(spec: Row) -> list[Row]:
    """Return a row for each library that takes part: adatron beside each of the others, or alone."""
    name, program, first = spec["data"], PROGRAMS[spec["program"]], spec["rows"]
    peers = [one for one in program.machines if one != OURS and LIBRARIES[one].installed]
    if not (program.penalised or name in SMALL or (first and first <= FEW)):
        peers = []
    pairs = [_process(spec, pair) for pair in ([[OURS, one] for one in peers] or [[OURS]])]
    for ours, *theirs in pairs:
        for row in (ours, *theirs):
            if "seconds" in row and "seconds" in ours and not ours.get("cut"):
                row["ratio"] = row["seconds"] / ours["seconds"]
    bound = max((ours["dual"] for ours, *_ in pairs if "dual" in ours), default=0.0)
    scale = ("standardised" if spec["standardised"] else "raw") if CASES[name].both else ""
    told = f"{tables.circumstances()[:-1]}, {', '.join(f'{one} {MORE[one].version}' for one in MORE)}."
    shown = ", ".join(filter(None, (name, scale, first and f"first {first:,}")))
    common = {"data": shown, "C": spec["C"], "program": spec["program"], "tol": program.tol, "told": told}
    found = [tables.combined([ours for ours, *_ in pairs]), *(row for _, *theirs in pairs for row in theirs)]
    for row in found:
        used = LIBRARIES[row["library"]].threads
        row |= {**common, "threads": threads() if used == "all" else int(used)}
        if bound and "objective" in row:
            row["above"] = 100.0 * (row["objective"] - bound) / bound
    return found


def _process(spec: Row, libraries: list[str]) -> list[Row]:
    """Return a row for each of two libraries; after one was cut off, the other is measured alone."""
    command = [sys.executable, "-m", "benchmarks.linear", json.dumps({**spec, "libraries": libraries})]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parent)  # noqa: S603
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    own = {name: [line for line in lines if line["library"] == name] for name in libraries}
    missing, rows = [name for name in libraries if not own[name]], []
    for name in libraries:
        if hasattr(signal, "SIGALRM") and done.returncode == -signal.SIGALRM:
            cut = {"library": name, "seconds": float(LIMIT), "cut": True}
            rows.append(cut if name == missing[0] else _process(spec, [name])[0])
        elif own[name]:
            times = [line["seconds"] for line in own[name][1:]] or [own[name][0]["first"]]
            rows.append({**own[name][0], "seconds": statistics.median(times)})
        else:
            rows.append({"library": name, "failed": (done.stderr.strip().splitlines() or ["no report"])[-1][:300]})
    return rows


def write(folder: Path, rows: list[Row]) -> str:
    """Write linear.md and linear.json, in which rows of the same program are replaced; return the page."""
    path, new = folder / "linear.json", {_program_of(row) for row in rows}
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    kept = [*(row for row in before if _program_of(row) not in new), *rows]
    told = " ".join(dict.fromkeys(row["told"] for row in kept))
    return tables.write(folder, "linear", NOTES, kept, COLUMNS, told)


def _program_of(row: Row) -> tuple[Any, ...]:
    return row["data"], row["C"], row["program"]


if __name__ == "__main__":
    for line in measure(json.loads(sys.argv[1])):
        print(json.dumps(line), flush=True)
