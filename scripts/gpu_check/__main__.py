"""Run on a machine with a GPU what no other machine can: the CUDA source, launched. Under four minutes.

    PYTHONPATH=src python scripts/gpu_check [--device cuda] [--quick] [--only WORD] [--json FILE]

Prints the name of the GPU and a table with a line for each case. A line says whether the certificate holds when the
processor computes it anew in float64 from the public attributes, whether two fits have equal bits, the seconds of the
processor and of the GPU in this run, and their ratio. The exit status is 1 if anything is wrong. ``--device torch``
runs the same cases by plain torch on the processor, as a test of this script.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_classification, make_moons
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, NuSVC, OneClassSVM
from adatron.devices import Device, resolved

LIMIT = 230.0  # Seconds after which no further case is begun.
CHECKED = 2000  # Rows whose gradient is computed anew if there are many.
START = time.perf_counter()


def mixed(n: int, d: int) -> tuple[Any, Any]:
    X, y = make_classification(n, d, n_informative=max(2, d // 2), flip_y=0.05, class_sep=0.7, random_state=0)
    return StandardScaler().fit_transform(X), y


def moons(n: int) -> tuple[Any, Any]:
    X, y = make_moons(n, noise=0.2, random_state=0)
    return StandardScaler().fit_transform(X), y


def blobs(n: int, d: int, classes: int = 2) -> tuple[Any, Any]:
    X, cloud = make_blobs(n, d, centers=20, cluster_std=3.0, random_state=0)
    wrong = np.random.default_rng(0).random(n) < 0.01
    return StandardScaler().fit_transform(X), (cloud + wrong) % classes


def smooth(n: int, d: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).standard_normal((n, d))
    return X, 10.0 * np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.1 * np.random.default_rng(1).standard_normal(n)


#: Name, data, machine; a quick one runs first, and with --quick alone. The last says whether the processor fits, too.
CASES: list[tuple[str, Any, Any, bool, bool]] = [
    ("SVC 3,000 x 20", lambda: mixed(3000, 20), lambda d: SVC(C=1.0, gamma=0.05, device=d), True, True),
    ("SVC augmented", lambda: mixed(3000, 20), lambda d: SVC(C=1.0, bias="augmented", device=d), True, True),
    ("SVC none", lambda: mixed(3000, 20), lambda d: SVC(C=1.0, bias="none", device=d), True, True),
    ("SVC double", lambda: mixed(3000, 20), lambda d: SVC(C=1.0, precision="double", device=d), True, True),
    ("SVC 200 features", lambda: mixed(3000, 200), lambda d: SVC(C=1.0, device=d), True, True),
    ("SVC poly", lambda: mixed(3000, 20), lambda d: SVC(C=0.01, kernel="poly", coef0=1.0, device=d), True, True),
    ("SVC 4 classes ovo", lambda: blobs(6000, 10, 4), lambda d: SVC(C=1.0, device=d), True, True),
    ("SVC 4 classes ovr", lambda: blobs(6000, 10, 4), lambda d: SVC(C=1.0, multi_class="ovr", device=d), True, True),
    ("NuSVC", lambda: mixed(4000, 20), lambda d: NuSVC(nu=0.3, device=d), True, True),
    ("SVR", lambda: smooth(4000, 6), lambda d: SVR(C=10.0, epsilon=0.3, device=d), True, True),
    ("OneClassSVM", lambda: mixed(4000, 20), lambda d: OneClassSVM(nu=0.1, device=d), True, True),
    ("20,000 x 20, C 1", lambda: mixed(20000, 20), lambda d: SVC(C=1.0, gamma=0.05, device=d), False, True),
    ("20,000 x 20, C 100", lambda: mixed(20000, 20), lambda d: SVC(C=100.0, gamma=0.05, device=d), False, True),
    ("moons 200,000", lambda: moons(200_000), lambda d: SVC(C=10.0, gamma=1.0, device=d), False, True),
    ("1,000,000 x 20", lambda: blobs(1_000_000, 20), lambda d: SVC(C=1.0, gamma=0.05, device=d), False, True),
    ("500,000 x 54", lambda: blobs(500_000, 54), lambda d: SVC(C=1.0, gamma=0.02, device=d), False, False),
]


def beta_of(model: Any, n: int) -> Any:
    beta = np.zeros(n)
    beta[model.support_] = np.asarray(model.dual_coef_).ravel()
    return beta


def recomputed(model: Any, X: Any, y: Any) -> float | None:
    """Return the violation of a two-class SVC with explicit bias, on some rows, by the processor alone; else None."""
    if not isinstance(model, SVC) or len(model.classes_) != 2 or model.bias != "explicit":
        return None
    n = len(y)
    beta, t = beta_of(model, n), np.where(y == model.classes_[1], 1.0, -1.0)
    free = np.flatnonzero((beta != 0.0) & (np.abs(beta) < model.C))
    rows = np.unique(np.concatenate([free[:: max(1, len(free) // CHECKED)], np.arange(0, n, max(1, n // CHECKED))]))
    vectors, w = model.support_vectors_, np.asarray(model.dual_coef_).ravel()
    g = np.concatenate([model.kernel_(X[rows[a : a + 256]], vectors) @ w for a in range(0, len(rows), 256)]) - t[rows]
    lower, upper = np.minimum(model.C * t, 0.0)[rows], np.maximum(model.C * t, 0.0)[rows]
    grow, shrink = np.where(beta[rows] < upper, -g, -np.inf), np.where(beta[rows] > lower, g, -np.inf)
    return max(0.0, float(grow.max() + shrink.max()))


def timed(make: Any, device: Any, X: Any, y: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    model = make(device).fit(X, y)
    return model, time.perf_counter() - start


def check(case: tuple[Any, ...], device: Device) -> dict[str, Any]:
    """Run one case; return its line."""
    name, data, make, _, both = case
    X, y = data()
    a, first = timed(make, device, X, y)
    b, again = timed(make, device, X, y)
    c, seconds = timed(make, None, X, y) if both else (None, float("nan"))
    tol, gap = 1e-3, float(np.nanmax(a.duality_gap_))
    violation = recomputed(a, X, y)
    faults = [] if a.fit_status_ == 0 and np.max(a.kkt_violation_) <= tol else ["not converged"]
    if not a.route_.device:
        faults.append(f"it ran on the processor: {a.route_.placed}")
    if violation is not None and not violation <= float(np.max(a.kkt_violation_)) + 1e-9:
        faults.append(f"the violation is {violation:.2e}, not {float(np.max(a.kkt_violation_)):.2e}")
    same = all(np.array_equal(getattr(a, one), getattr(b, one)) for one in ("dual_coef_", "intercept_", "support_"))
    if not same:
        faults.append("two fits differ")
    if c is not None:
        size = np.maximum(1.0, np.abs(c.dual_objective_))
        off = np.max(np.abs(np.asarray(a.dual_objective_) - c.dual_objective_) / size)
        if not off <= 1.2 * max(gap, float(np.nanmax(c.duality_gap_))) + 1e-6:
            faults.append(f"the objective differs from the processor's by {off:.2e}")
    some = X[: min(len(X), 20000)]
    values = [np.asarray(m.decision_function(some) if hasattr(m, "decision_function") else m.predict(some))
              for m in (a, a.set_params(device="cpu"))]  # fmt: skip
    if not np.abs(values[0] - values[1]).max() <= 1e-9 * max(1.0, float(np.abs(values[1]).max())):
        faults.append(f"predictions differ by {np.abs(values[0] - values[1]).max():.2e}")
    return {
        "case": name, "cpu": seconds, "first": first, "gpu": again, "ratio": seconds / again, "gap": gap,
        "same bits": same, "recomputed": violation, "updates": int(np.sum(a.n_iter_)), "faults": faults,
    }  # fmt: skip


def predictions(device: Device, n: int, d: int, m: int) -> dict[str, Any]:
    """Time decision values of a model with m support vectors, on the GPU for n rows, on the processor for fewer."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((m, d)), np.tile([0, 1], m // 2)
    model = SVC(C=1.0, gamma=1.0 / d).fit(X, y)
    new, few = rng.standard_normal((n, d)).astype(np.float32), max(1, n // 50)
    out: dict[str, Any] = {"case": f"predict {n:,} x {d}, {len(model.support_):,} vectors"}
    for precision in ("single", "double"):
        model.set_params(precision=precision, device=None)
        model.decision_function(new[:1000])
        start = time.perf_counter()
        model.decision_function(new[:few])
        cpu = (time.perf_counter() - start) * n / few
        model.set_params(device=device)
        model.decision_function(new[:1000])
        start = time.perf_counter()
        model.decision_function(new)
        out[precision] = {"cpu": cpu, "gpu": time.perf_counter() - start}
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true", help="only the small cases")
    parser.add_argument("--only", default="", help="only cases with this word in their name")
    parser.add_argument("--json", help="file for the figures")
    given = parser.parse_args()
    import torch

    found = resolved(given.device)
    if found is None:
        parser.error("--device cpu has nothing to check")
    device = replace(found, fit=0.0, prediction=0.0)  # small cases, too
    cores = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
    print(f"{device.label}; torch {torch.__version__}; {cores}")
    print(f"{'case':<24}{'CPU s':>8}{'first':>8}{'GPU s':>8}{'ratio':>7}{'gap':>9}  bits  violation anew", flush=True)
    lines: list[dict[str, Any]] = []
    for case in CASES:
        if (given.quick and not case[3]) or given.only not in case[0] or time.perf_counter() - START > LIMIT:
            continue
        try:
            line = check(case, device)
        except Exception as error:
            traceback.print_exc(limit=-4)
            line = {"case": case[0], "faults": [repr(error)]}
        lines.append(line)
        if "gpu" in line:
            anew = "-" if line["recomputed"] is None else f"{line['recomputed']:.2e}"
            print(
                f"{line['case']:<24}{line['cpu']:>8.2f}{line['first']:>8.2f}{line['gpu']:>8.2f}{line['ratio']:>7.1f}"
                f"{line['gap']:>9.1e}  {'equal' if line['same bits'] else 'DIFFER'} {anew}  "
                + "; ".join(line["faults"]),
                flush=True,
            )
    if not given.only and time.perf_counter() - START < LIMIT:
        size = (20_000, 20, 2_000) if given.quick else (500_000, 784, 10_000)
        lines.append(predictions(device, *size))
        print(json.dumps(lines[-1]), flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(lines, indent=1, default=float), encoding="utf-8")
    faults = [f"{line['case']}: {fault}" for line in lines for fault in line.get("faults", [])]
    print("\n".join(["", *faults]) if faults else f"nothing wrong in {time.perf_counter() - START:.0f} s")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
