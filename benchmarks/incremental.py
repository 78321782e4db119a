"""Incremental models against fits from nothing: ``python -m benchmarks.incremental step|window|leave-one-out``."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import sklearn.svm
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from adatron import IncrementalSVC
from adatron.fitting import engine
from adatron.fitting.programs import Listed, Program
from adatron.fitting.samples import Samples
from adatron.problems import csvc
from adatron.threads import Clock

from . import tables
from .datasets import CASES

FOLDER = Path(__file__).parent / "results" / "incremental"
SMALL = ("Pima", "heart_scale", "sonar")
Row = dict[str, Any]


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def whole(name: str) -> tuple[Any, Any]:
    """Return all samples of a data set, including those for testing."""
    split = CASES[name].load()
    if split.X_test is None:
        return split.X, split.y
    return np.concatenate([split.X, split.X_test]), np.concatenate([split.y, split.y_test])


@click.group()
def main() -> None:
    """Measure the incremental models; tables go to benchmarks/results/incremental."""


@main.command()
@click.option("--samples", default=10_000, show_default=True)
@click.option("--steps", default=200, show_default=True)
@click.option("--refits", default=3, show_default=True, help="Of each kind, to compare with.")
def step(samples: int, steps: int, refits: int) -> None:
    """Measure one more sample on a9a: partial_fit, a warm-started block fit, and a fit of scikit-learn."""
    case = CASES["a9a, dense"]
    split = case.load()
    X, y = split.X[: samples + steps], split.y[: samples + steps]
    model = IncrementalSVC(**case.parameters)
    start = seconds(lambda: model.fit(X[:samples], y[:samples]))
    times, events = [], []
    for i in range(samples, samples + steps):
        times.append(seconds(lambda i=i: model.partial_fit(X[i : i + 1], y[i : i + 1])))
        events.append(int(model.n_iter_[0]))
    theirs = [seconds(lambda: sklearn.svm.SVC(**case.parameters).fit(X, y)) for _ in range(refits)]
    warm = [_warm(case, X[: samples + k], y[: samples + k]) for k in range(1, refits + 1)]
    median = statistics.median(times)
    rows: list[Row] = [
        {"what": f"partial_fit, median of {steps}", "seconds": median, "ratio": 1.0},
        {"what": "partial_fit, mean", "seconds": statistics.mean(times), "ratio": statistics.mean(times) / median},
        {"what": "partial_fit, mean of those with events", "seconds": _mean(times, events)},
        {"what": "partial_fit, slowest", "seconds": max(times)},
        {"what": "warm-started block fit", "seconds": statistics.median(warm)},
        {"what": "scikit-learn, fit", "seconds": statistics.median(theirs)},
        {"what": "IncrementalSVC.fit", "seconds": start},
    ]
    for row in rows:
        row["ratio"] = row["seconds"] / median
        row["of_mean"] = row["seconds"] / statistics.mean(times)
    notes = (
        f"a9a, dense, {samples:,} samples, RBF kernel, C 1, gamma 0.05. KKT violation at the end "
        f"{model.kkt_violation_:.1e}, gap {model.duality_gap_:.1e}; {sum(e > 0 for e in events)} of {steps} samples "
        f"moved the solution, with {sum(events)} events in all; {model.n_refit_} refits, {model.n_refactor_} gradients "
        "computed anew. The block fit starts at the coefficients without the new sample, with its default tolerance."
    )
    columns = [("what", "what", "name"), ("seconds", "seconds", "time"), ("/ median", "ratio", "ratio"),
               ("/ mean", "of_mean", "ratio")]  # fmt: skip
    click.echo(tables.write(FOLDER, "step", notes, rows, columns))


def _mean(times: list[float], events: list[int]) -> float:
    moved = [t for t, e in zip(times, events, strict=True) if e]
    return statistics.mean(moved) if moved else 0.0


def _warm(case: Any, X: Any, y: Any) -> float:
    """Return the seconds of our block solver with all samples from the solution without the last one."""
    from adatron import SVC

    n = len(y)
    model = SVC(**case.parameters).fit(X[:-1], y[:-1])
    labels = np.where(y == model.classes_[1], 1.0, -1.0)
    begin = np.zeros(n)
    begin[model.support_] = model.dual_coef_[0]
    everything = np.arange(n)
    samples = Samples(everything, np.array([n]), np.ones(n), everything, everything, np.ones(n))
    programs = Listed([Program([0], lambda _: csvc(labels, np.full(n, case.C)))])
    return seconds(
        lambda: engine.solve(X, samples, programs, model.settings(model.kernel_, Clock(), False), lambda _: begin)
    )


@main.command()
@click.option("--window", default=2000, show_default=True)
@click.option("--steps", default=10_000, show_default=True)
@click.option("--check", default=500, show_default=True, help="Steps after which the gradient is computed anew.")
def window(window: int, steps: int, check: int) -> None:
    """Measure a window that goes over ijcnn1 sample by sample: each step learns one and forgets one."""

    case = CASES["ijcnn1"]
    split = case.load()
    X, y = split.X, split.y
    model = IncrementalSVC(window=window, **case.parameters).fit(X[:window], y[:window])
    worst = gap = proven = events = 0.0
    start = time.perf_counter()
    for i in range(window, window + steps):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        worst, gap = max(worst, model.kkt_violation_), max(gap, model.duality_gap_)
        events += int(model.n_iter_[0])
        if (i + 1) % check == 0:
            proven = max(proven, model.deletion_report()["kkt_violation"])
    row = {
        "data": "ijcnn1", "steps": steps, "window": window, "seconds": time.perf_counter() - start, "violation": worst,
        "proven": proven, "gap": gap, "events": int(events), "refits": model.n_refit_, "anew": model.n_refactor_,
    }  # fmt: skip
    notes = (
        "C 32, gamma 2. The KKT violation and the gap are the worst of all steps, from the gradient that is kept; "
        f"'proven' is the worst violation with a gradient computed anew, every {check} steps."
    )
    columns = [("data", "data", "name"), ("steps", "steps", "count"), ("window", "window", "count"),
               ("seconds", "seconds", "time"), ("KKT violation", "violation", "small"), ("proven", "proven", "small"),
               ("relative gap", "gap", "small"), ("events", "events", "count"), ("refits", "refits", "count"),
               ("gradients anew", "anew", "count")]  # fmt: skip
    click.echo(tables.write(FOLDER, "window", notes, [row], columns))


@main.command("leave-one-out")
@click.option("--data", multiple=True, type=click.Choice(SMALL), default=SMALL, help="Data sets.")
@click.option("--brute-force/--no-brute-force", default=True, help="Compare with n certified fits, too.")
def leave_one_out(data: tuple[str, ...], brute_force: bool) -> None:
    """Measure the exact leave-one-out error, and that of scikit-learn's LeaveOneOut."""
    rows = []
    for name in data:
        X, y = whole(name)
        case = CASES[name]
        model = IncrementalSVC(**case.parameters).fit(X, y)
        model.loo_error()
        times = [seconds(model.loo_error) for _ in range(5)]
        peer = sklearn.svm.SVC(**case.parameters)
        begin = time.perf_counter()
        predicted = cross_val_predict(peer, X, y, cv=LeaveOneOut())
        theirs = time.perf_counter() - begin
        row: Row = {
            "data": name, "samples": len(y), "support": len(model.support_), "error": model.loo_error(),
            "peer_error": float(np.mean(predicted != y)), "seconds": statistics.median(times), "peer": theirs,
            "ratio": theirs / statistics.median(times),
        }  # fmt: skip
        if brute_force:
            row["difference"] = _difference(model, case, X, y)
        rows.append(row)
    notes = (
        "All samples of each set. 'difference' is the largest one between a decision value of loo_decision and that of "
        "a fit to the other samples with a relative gap below 1e-10. Seconds of loo_error are medians of five."
    )
    columns = [("data", "data", "name"), ("samples", "samples", "count"), ("SVs", "support", "count"),
               ("error %", "error", "percent"), ("scikit-learn, error %", "peer_error", "percent"),
               ("difference", "difference", "small"), ("seconds", "seconds", "time"),
               ("scikit-learn, s", "peer", "time"), ("ratio", "ratio", "ratio")]  # fmt: skip
    click.echo(tables.write(FOLDER, "leave-one-out", notes, rows, columns))


def _difference(model: IncrementalSVC, case: Any, X: Any, y: Any) -> float:
    from adatron import SVC

    found, worst = model.loo_decision(), 0.0
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        other = SVC(**case.parameters, tol=1e-9, gap_tol=1e-10).fit(X[rest], y[rest])
        worst = max(worst, abs(float(other.decision_function(X[i : i + 1])[0]) - found[i]))
    return worst


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.incremental")
