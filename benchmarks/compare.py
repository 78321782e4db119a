"""Fits of adatron, scikit-learn and scikit-learn-intelex in turn: ``python benchmarks/compare.py [CASE ...]``.

Every library gets the same data and tolerance (1e-3) and its own defaults otherwise. After one fit that is not counted,
the libraries take turns; the table has the medians and, for each model, the dual objective and the KKT violation
recomputed in float64 from its coefficients. ``--peers`` names the peers, ``--runs`` the counted fits.
"""

import argparse
import gzip
import os
import platform
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification, make_moons

CLASSIFY = {
    "10,000 x 100, C 1": ({"n_samples": 10_000, "n_features": 100, "n_informative": 30}, 1.0, 0.01),
    "12,000 x 22 noisy, C 1": ({"n_samples": 12_000, "n_features": 22, "n_informative": 10, "flip_y": 0.2}, 1.0, 0.05),
    "20,000 x 20, C 100": (
        {"n_samples": 20_000, "n_features": 20, "n_informative": 10, "flip_y": 0.05, "class_sep": 0.7}, 100.0, 0.05,
    ),
}  # fmt: skip


def standardised(X):
    return (X - X.mean(0)) / X.std(0)


def mnist(rows=None):
    folder = Path(os.environ.get("ADATRON_DATA", Path(__file__).parents[2] / "shared" / "data"))

    def read(name, offset):
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=offset)

    X = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32) / 255
    return X[:rows], read("train-labels-idx1-ubyte.gz", 8)[:rows]


def case(name):
    """Data, C and gamma."""
    if name in CLASSIFY:
        arguments, C, gamma = CLASSIFY[name]
        X, y = make_classification(**arguments, random_state=0)
        return standardised(X), y, C, gamma
    if name == "20,000 moons, C 10":
        X, y = make_moons(20_000, noise=0.2, random_state=0)
        return standardised(X), y, 10.0, 1.0
    if name == "MNIST 60,000 ovo, C 10":
        return *mnist(), 10.0, 0.02
    raise SystemExit(f"unknown case {name!r}; known: {', '.join(CASES)}")


CASES = [*CLASSIFY, "20,000 moons, C 10", "MNIST 60,000 ovo, C 10"]


def estimators(peers, C, gamma):
    from adatron import SVC

    made = {"adatron": (SVC(C=C, gamma=gamma), None)}
    if "sklearn" in peers:
        from sklearn.svm import SVC as Stock

        made["scikit-learn"] = (Stock(C=C, gamma=gamma, cache_size=500), None)
    if "sklearnex" in peers:
        from sklearnex.svm import SVC as Intel

        made["scikit-learn-intelex f32"] = (Intel(C=C, gamma=gamma, cache_size=500), np.float32)
    return made


def quality(model, X, y, C, gamma):
    """Dual objective and KKT violation of a binary model, in float64 from its coefficients."""
    if len(model.classes_) > 2:
        return "", ""
    beta, Z = np.asarray(model.dual_coef_, np.float64)[0], X[model.support_].astype(np.float64)
    t, norms = np.where(y == model.classes_[1], 1.0, -1.0), np.square(Z).sum(1)
    g = np.empty(len(X))
    for a in range(0, len(X), 1000):
        rows = X[a : a + 1000].astype(np.float64)
        distances = np.square(rows).sum(1)[:, None] + norms - 2 * rows @ Z.T
        g[a : a + 1000] = np.exp(-gamma * np.maximum(distances, 0)) @ beta - t[a : a + 1000]
    full = np.zeros(len(X))
    full[model.support_] = beta
    near = 1e-6 * C  # peers return bounds rounded to float32
    grow, shrink = full < np.maximum(t * C, 0) - near, full > np.minimum(t * C, 0) + near
    return f"{-0.5 * (full @ (g - t)):.6g}", f"{max(0.0, (-g[grow]).max() + g[shrink].max()):.1e}"


def run(name, peers, runs):
    X, y, C, gamma = case(name)
    made = estimators(peers, C, gamma)
    data = {key: X if dtype is None else X.astype(dtype) for key, (_, dtype) in made.items()}
    times = {key: [] for key in made}
    for _ in range(runs + 1):
        for key, (model, _) in made.items():
            start = time.perf_counter()
            model.fit(data[key], y)
            times[key].append(time.perf_counter() - start)
    ours = statistics.median(times["adatron"][1:])
    for key, (model, _) in made.items():
        middle = statistics.median(times[key][1:])
        dual, violation = quality(model, X, y, C, gamma)
        measured = f"{middle:.2f}", f"{middle / ours:.1f}", f"{times[key][0]:.2f}"
        cells = [name, key, *measured, len(model.support_), dual, violation]
        print("|", " | ".join(map(str, cells)), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--peers", nargs="*", default=["sklearn", "sklearnex"], choices=["sklearn", "sklearnex"])
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| data | library | seconds | time / ours | first call | support vectors | dual objective | KKT violation |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.cases:
        run(name, arguments.peers, arguments.runs)


if __name__ == "__main__":
    main()
