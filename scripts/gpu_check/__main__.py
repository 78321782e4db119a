"""Run on a machine with a GPU what no other machine can: the CUDA source, launched. Under four minutes.

    PYTHONPATH=src:. python scripts/gpu_check [--device NAME] [--quick] [--only WORD ...] [--skip WORD ...]
                                              [--json FILE]

Prints the name of the GPU and a table with a line for each case. A line says whether the bounds hold when the processor
computes them anew in float64 from the public attributes, whether two fits have equal bits, the seconds of the processor
and of the GPU in this run (medians of up to three, the GPU's first fit apart), their ratio, the share of the proofs in
the GPU's time, and its memory. The exit status is 1 if anything is wrong.

With ``--json`` each line is written when its case has ended. A run with the same file leaves out the cases in it, so a
check that was cut off goes on. A case that leaves the GPU unusable is followed by a new process, which goes on.
``--device torch`` runs the same cases by plain torch on the processor, as a test of this script; it is slow, so add
``--quick`` or ``--only``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from anew import proven
from cases import CASES, Case, mixed
from scipy import sparse

from adatron import SVC
from adatron.devices import Device, resolved
from adatron.selection import GridSearchCV
from adatron.solvers import ascent

LIMIT = 215.0  # Seconds after which no further case is begun.
LONG = 3.0  # Seconds of fits after which none is repeated.
TOL = 1e-3
COLUMNS = "cpu", "first", "gpu", "proof", "memory", "gap", "violation"
START = time.perf_counter()
Line = dict[str, Any]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def repeated(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the last of up to three runs returns, and their median time."""
    found, seconds = timed(work)
    times = [seconds]
    while len(times) < 3 and sum(times) < LONG:
        found, seconds = timed(work)
        times.append(seconds)
    return found, float(np.median(times))


class Proofs:
    """Within this, the seconds that proofs take."""

    def __enter__(self) -> Proofs:
        self.seconds, self._whole = 0.0, ascent.certify
        ascent.certify = self._certify
        return self

    def __exit__(self, *_: object) -> None:
        ascent.certify = self._whole

    def _certify(self, *given: Any, **named: Any) -> Any:
        found, seconds = timed(lambda: self._whole(*given, **named))
        self.seconds += seconds
        return found


def peak(device: Device) -> Any:
    """Return the most bytes of arrays on a GPU since the last call."""
    if device.where.type != "cuda":
        return float("nan")
    import torch

    found = torch.cuda.max_memory_allocated(device.where)
    torch.cuda.reset_peak_memory_stats(device.where)
    return found


def bits(model: Any) -> list[Any]:
    return [np.asarray(getattr(model, name)) for name in ("dual_coef_", "intercept_", "support_")]


def fit(case: Case, device: Device) -> Line:
    """Fit on the device and on the processor, and compare."""
    X, y = case.data()
    place = device if case.bytes is None else replace(device, bytes=case.bytes)
    peak(device)
    a, first = timed(lambda: case.make(place).fit(X, y))
    with Proofs() as proofs:
        (b, again), spent = timed(lambda: repeated(lambda: case.make(place).fit(X, y)))
    memory = peak(device)
    c, seconds = repeated(lambda: case.make(None).fit(X, y)) if case.both else (None, float("nan"))
    claimed, gap = float(np.max(a.kkt_violation_)), float(np.nanmax(a.duality_gap_))
    violation, anew = proven(a, X, y)
    faults = [] if np.all(a.fit_status_ == 0) and claimed <= TOL else ["not converged"]
    if not a.route_.device:
        faults.append(f"it ran on the processor: {a.route_.placed}")
    if case.bytes is not None and a.route_.resident == 12:
        faults.append("no row travelled")
    if case.name.startswith(("NuSVC", "OneClass")):
        violation = float("nan")  # what is claimed has a unit of its own
    elif not violation <= claimed + 1e-9:
        faults.append(f"the violation is {violation:.2e}, not {claimed:.2e}")
    if anew > gap * (1.0 + 1e-6) + 1e-12:
        faults.append(f"the gap is {anew:.2e}, not {gap:.2e}")
    same = all(map(np.array_equal, bits(a), bits(b)))
    if not same:
        faults.append("two fits differ")
    if c is not None:
        size = np.maximum(1.0, np.abs(c.dual_objective_))
        off = np.max(np.abs(np.asarray(a.dual_objective_) - c.dual_objective_) / size)
        if not off <= 1.2 * max(gap, float(np.nanmax(c.duality_gap_))) + 1e-6:
            faults.append(f"the objective differs from the processor's by {off:.2e}")
    some = X[: min(len(X), 20_000 // max(1, X.shape[1] // 20))]
    values = []
    for where in (place, "cpu"):
        model = a.set_params(device=where)
        values.append(model.decision_function(some) if hasattr(model, "decision_function") else model.predict(some))
    if not np.abs(values[0] - values[1]).max() <= 1e-9 * max(1.0, float(np.abs(values[1]).max())):
        faults.append(f"predictions differ by {np.abs(values[0] - values[1]).max():.2e}")
    return {
        "cpu": seconds, "first": first, "gpu": again, "proof": proofs.seconds / spent, "memory": memory, "gap": gap,
        "bits": same, "violation": violation, "updates": int(np.sum(a.n_iter_)), "faults": faults,
    }  # fmt: skip


def search(device: Device) -> Line:
    """Search a grid on the device and on the processor."""
    X, y = mixed(4000, 20)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.02, 0.1]}
    (a, gpu), (c, cpu) = (
        timed(lambda place=place: GridSearchCV(SVC(device=place), grid, cv=3).fit(X, y)) for place in (device, None)
    )
    off = float(np.abs(a.cv_results_["mean_test_score"] - c.cv_results_["mean_test_score"]).max())
    return {"cpu": cpu, "gpu": gpu, "faults": [f"scores differ by {off:.2e}"] if off > 2e-3 else []}


def predictions(quick: bool, precision: str, device: Device) -> Line:
    """Time decision values: for all rows on the device, for a fiftieth of them on the processor."""
    n, d, m = (20_000, 20, 2_000) if quick else (1_000_000, 784, 10_000)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((m, d)), np.tile([0, 1], m // 2)
    model = SVC(C=1.0, gamma=1.0 / d, precision=precision).fit(X, y)
    new, few = rng.standard_normal((n, d), np.float32), max(1, n // 50)
    model.decision_function(new[:1000])
    truth, cpu = timed(lambda: model.decision_function(new[:few]))
    model.set_params(device=device).decision_function(new[:1000])
    found, gpu = repeated(lambda: model.decision_function(new))
    off, allowed = float(np.abs(found[:few] - truth).max()), 1e-3 if precision == "single" else 1e-9
    return {"cpu": cpu * n / few, "gpu": gpu, "faults": [f"values differ by {off:.2e}"] if off > allowed else []}


def sparse_rows(device: Device) -> Line:
    """Ask for CSR rows on the device, which refuses them if they are too wide to be made dense."""
    X = sparse.random(3000, 2000, 0.01, format="csr", random_state=0)
    try:
        SVC(device=device).fit(X, np.arange(3000) % 2)
    except ValueError as error:
        return {"note": f"refused: {error}", "faults": []}
    return {"faults": ["CSR rows were not refused"]}


def torchkm(n: int, device: Device) -> Line:
    """Compare with TorchKM's exact mode at a relative gap of 1e-4, if it is installed."""
    try:
        import torch
        from sklearn.metrics.pairwise import rbf_kernel
        from torchkm.cvksvm import cvksvm
    except ImportError as error:
        return {"note": f"left out: {error}", "faults": []}
    X, y = mixed(n, 100)
    gamma, given = 0.01, torch.from_numpy(np.where(y == 1, 1.0, -1.0))
    model, ours = timed(lambda: SVC(C=1.0, gamma=gamma, gap_tol=1e-4, device=device).fit(X, y))

    def theirs() -> Any:
        other = cvksvm(
            Kmat=torch.from_numpy(rbf_kernel(X, gamma=gamma)), y=given, nlam=1,
            ulam=torch.tensor([1.0 / (2.0 * n)], dtype=torch.double), foldid=torch.ones(n), nfolds=0, eps=1e-4,
            KKTeps=1e-4, maxit=100_000, gamma=1e-8, is_exact=1, device=device.where.type,
        )  # fmt: skip
        other.fit()
        return other

    _, seconds = timed(theirs)
    return {"cpu": seconds, "gpu": ours, "gap": float(model.duality_gap_), "note": "TorchKM in place of the CPU",
            "faults": []}  # fmt: skip


def usable(device: Device) -> bool:
    """Return whether the process can still use a device: after a read out of bounds it cannot."""
    import torch

    try:
        return float(torch.zeros(1, device=device.where)) == 0.0
    except RuntimeError:
        return False


def shown(name: str, line: Line) -> str:
    """Return a line of the table."""
    number = {
        key: float(line.get(key, np.nan)) for key in ("cpu", "first", "gpu", "proof", "memory", "gap", "violation")
    }
    same = {True: "equal", False: "DIFFER", None: ""}[line.get("bits")]
    return (
        f"{name:<27}{number['cpu']:>8.3f}{number['first']:>8.3f}{number['gpu']:>8.3f}"
        f"{number['cpu'] / number['gpu']:>7.1f}{number['proof']:>7.0%}{number['memory'] / 1e6:>8.0f}"
        f"{number['gap']:>9.1e} {same:<7}{number['violation']:>9.1e}  "
        + "; ".join([*line["faults"], *([line["note"]] if "note" in line else [])])
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true", help="only the small cases")
    parser.add_argument("--only", nargs="+", default=[""], help="only cases with one of these words in their name")
    parser.add_argument("--skip", nargs="+", default=[], help="no cases with one of these words in their name")
    parser.add_argument("--json", help="file for the figures; cases that are in it are left out")
    given = parser.parse_args()
    import torch

    found = resolved(given.device)
    if found is None:
        parser.error("--device cpu has nothing to check; --device torch runs the solver of devices on the processor")
    device = replace(found, fit=0.0, prediction=0.0)  # small cases, too
    tasks: list[tuple[str, bool, Callable[[Device], Line]]] = [
        *((case.name, case.quick, partial(fit, case)) for case in CASES),
        ("search", True, search),
        ("CSR", True, sparse_rows),
        *((f"predict, {kind}", True, partial(predictions, given.quick, kind)) for kind in ("single", "double")),
        ("TorchKM, 10,000 x 100", False, partial(torchkm, 10_000)),
    ]
    path, machine = Path(given.json) if given.json else None, f"{device.label}; {os.cpu_count()} cores"
    done: dict[str, Line] = json.loads(path.read_text(encoding="utf-8"))["cases"] if path and path.exists() else {}
    print(f"{machine} of {platform.processor() or platform.machine()}; torch {torch.__version__}")
    head = f"{'case':<27}{'CPU s':>8}{'first':>8}{'GPU s':>8}{'ratio':>7}{'proof':>7}{'MB':>8}{'gap':>9}"
    print(f"{head} bits    viol.anew", flush=True)
    for name, quick, work in tasks:
        chosen = any(word in name for word in given.only) and not any(word in name for word in given.skip)
        if name in done or not chosen or (given.quick and not quick):
            continue
        if time.perf_counter() - START > LIMIT:
            print(f"{name}: no time is left; run again with the same --json", flush=True)
            continue
        try:
            done[name] = work(device)
        except Exception as error:
            traceback.print_exc(limit=-4)
            done[name] = {"faults": [repr(error)]}
        print(shown(name, done[name]), flush=True)
        if path:
            path.write_text(json.dumps({"machine": machine, "cases": done}, indent=1, default=float), encoding="utf-8")
            if not usable(device):
                print("The GPU can no longer be used by this process; a new one goes on.", flush=True)
                os.execv(sys.executable, sys.orig_argv)  # noqa: S606
    ratios = [line["cpu"] / line["gpu"] for line in done.values() if line.get("cpu", np.nan) > 0.0]
    if ratios:
        print(f"geometric mean of the ratios of {len(ratios)} cases: {np.exp(np.mean(np.log(ratios))):.1f}")
    faults = [f"{name}: {fault}" for name, line in done.items() for fault in line["faults"]]
    print("\n".join(["", *faults]) if faults else f"nothing wrong in {time.perf_counter() - START:.0f} s")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
