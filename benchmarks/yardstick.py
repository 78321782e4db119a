"""The rows of the SVM configuration of scikit-learn_bench (IntelPython) whose data are at hand.

Parameters, splits and scaling are those of its ``configs/regular/svm.json`` of 2025-12: gamma='scale', tol 1e-3,
float32 data in Fortran order, features standardised over all samples except MNIST's. There every fit stops after 10,000
iterations, also one that is far from its solution. fried and 2dplanes are made by their published formulas, as many
samples as there. Two splits differ: the configuration draws them from the files of OpenML, whose order is another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_friedman1, make_regression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from .datasets import CASES, Split

KEPT = 1.1e-3  # Violation up to which a fit counts as one to tol 1e-3.
ITERATIONS = 10_000  # The limit of the configuration.
COMMON = {"gamma": "scale", "tol": 1e-3, "cache_size": 24_576}
PLANES = 40_768  # Samples of fried and 2dplanes.
NOTES = (
    "Rows of the SVM configuration of scikit-learn_bench whose data are at hand: gamma 'scale', tol 1e-3, cache_size "
    "24576, float32 data in Fortran order. As there, a fit stops after 10,000 iterations; what an iteration is differs "
    "between the libraries. The second line of a row and library has no limit. Seconds are medians of three processes, "
    "the libraries in turn, in each the fits after the first one, or the first one if it took more than 20 s. A fit of "
    "more than a minute is measured once, one of more than 600 s is cut off (≥). The first call is the first fit of a "
    "process. Dual objective, violation and relative gap are recomputed in float64 from the coefficients. A fit has "
    "the tolerance if its violation is at most 1.1e-3; coefficients that miss a bound by 1e-6 of it are on it. The "
    "coefficients of NuSVR do not tell the violation; there the relative gap stands for it. The score is the accuracy "
    "or R² of the other samples."
)
COLUMNS = [("data", "data", "name"), ("samples", "rows", "count"), ("features", "features", "count"),
           ("iterations", "limit", "name"), ("library", "library", "name"), ("threads", "threads", "name"),
           ("seconds", "seconds", "time"), ("/ adatron", "ratio", "ratio"), ("first call", "first", "time"),
           ("dual objective", "dual_objective", "objective"), ("KKT violation", "kkt_violation", "small"),
           ("relative gap", "relative_gap", "small"), ("has tol 1e-3", "kept", "name"),
           ("SVs", "support_vectors", "count"), ("score %", "accuracy", "percent")]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A row of the configuration."""

    load: Callable[[], Split]
    machine: str
    own: dict[str, Any] = field(default_factory=dict)
    one_vs_rest: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters for every library; the defaults that the check of a result needs are spelled out."""
        tube = {"epsilon": 0.1} if self.machine == "SVR" else {}
        return {**COMMON, **tube, **self.own}


def both(measure: Callable[[int], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows with the limit of iterations and without, side by side."""
    parts = {limit: measure(limit) for limit in (ITERATIONS, -1)}
    for limit, rows in parts.items():
        for row in rows:
            row["limit"] = f"{limit:,}" if limit > 0 else "no limit"
            found = row.get("kkt_violation", row.get("relative_gap"))
            found = row.get("relative_gap") if found is None else found
            row["kept"] = None if found is None else "yes" if found <= KEPT else "no"
    with_limit, without = parts.values()
    order = {name: k for k, name in enumerate(dict.fromkeys(row["data"] for row in with_limit))}
    return sorted([*with_limit, *without], key=lambda row: order[row["data"]])


def _all(name: str) -> Split:
    """Return training and test samples of a file of LIBSVM together, standardised."""
    X, y, X_test, y_test = CASES[name].load()
    parts = [one.toarray() if sparse.issparse(one) else one for one in (X, X_test)]
    return Split(StandardScaler().fit_transform(np.concatenate(parts)), np.concatenate([y, y_test]))


def _drawn(whole: Split, seed: int = 42, **sizes: Any) -> Split:
    """Return a split of a seed, in float32."""
    X, X_test, y, y_test = train_test_split(whole.X, whole.y, random_state=seed, **sizes)
    return Split(_single(X), y, _single(X_test), y_test)


def _single(X: Any) -> Any:
    return np.asfortranarray(X, np.float32)


def _a9a() -> Split:
    return _drawn(_all("a9a"), 11, train_size=5_000)


def _ijcnn1() -> Split:
    return _drawn(_all("ijcnn1"), train_size=20_000)


def _mnist() -> Split:
    """Return the first 20,000 images, grey values from 0 to 255."""
    split = CASES["MNIST"].load()
    return Split(_single(255.0 * split.X[:20_000]), split.y[:20_000], _single(255.0 * split.X_test), split.y_test)


def _regression() -> Split:
    return _drawn(_scaled(*make_regression(20_000, 1_000, n_informative=500, random_state=42)), train_size=0.5)


def _fried(train: float) -> Split:
    """Return the first formula of Friedman (1991) with noise of variance 1."""
    return _drawn(_scaled(*make_friedman1(PLANES, 10, noise=1.0, random_state=0)), train_size=train)


def _planes() -> Split:
    """Return the data of Breiman, Friedman, Olshen, Stone (1984), page 238: the first feature chooses a plane."""
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(PLANES, 10)).astype(np.float64)
    X[:, 0] = rng.choice([-1.0, 1.0], PLANES)
    one, other = 3.0 + X[:, 1:4] @ [3.0, 2.0, 1.0], -3.0 + X[:, 4:7] @ [3.0, 2.0, 1.0]
    return _drawn(_scaled(X, np.where(X[:, 0] > 0, one, other) + rng.normal(size=PLANES)), train_size=25_000)


def _scaled(X: Any, y: Any) -> Split:
    return Split(StandardScaler().fit_transform(X), np.asarray(y, np.float64))


def _rows() -> dict[str, Row]:
    rows = {"a9a, linear, C 1": Row(_a9a, "SVC", {"C": 1.0, "kernel": "linear"})}
    for kernel in ("poly", "rbf"):
        rows[f"a9a, {kernel}, nu 0.1"] = Row(_a9a, "NuSVC", {"nu": 0.1, "kernel": kernel})
    rows["ijcnn1, rbf, C 100"] = Row(_ijcnn1, "SVC", {"C": 100.0, "kernel": "rbf"})
    rows["ijcnn1, rbf, nu 0.1"] = Row(_ijcnn1, "NuSVC", {"nu": 0.1, "kernel": "rbf"})
    for kernel in ("poly", "rbf"):
        rows[f"MNIST, {kernel}, C 1"] = Row(_mnist, "SVC", {"C": 1.0, "kernel": kernel})
    for machine, nu, half in (("SVR", {}, 0.5), ("NuSVR", {"nu": 0.8}, 0.8)):
        rows[f"fried, rbf, {machine}"] = Row(partial(_fried, half), machine, {**nu, "C": 2.0, "kernel": "rbf"})
    for machine, nu in (("SVR", {}), ("NuSVR", {"nu": 0.5})):
        for kernel in ("linear", "poly", "rbf"):
            rows[f"2dplanes, {kernel}, {machine}"] = Row(_planes, machine, {**nu, "C": 1.0, "kernel": kernel})
        rows[f"make_regression, linear, {machine}"] = Row(_regression, machine, {**nu, "C": 0.1, "kernel": "linear"})
    return rows


MEASURED_ROWS = _rows()
