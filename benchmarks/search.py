"""Searches over C and gamma: ours against scikit-learn's search over our machines and over its own."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV as Plain
from sklearn.preprocessing import StandardScaler

from adatron import SVC
from adatron.selection import GridSearchCV

WAYS = ("adatron search", "scikit-learn search over adatron", "scikit-learn search over sklearn.svm, 2 processes")
Data = tuple[Any, Any]


class Case(NamedTuple):
    """Samples and values of gamma; C goes from 1e-2 to 1e3."""

    load: Callable[[], Data]
    gammas: tuple[float, float]
    large: bool = False


def _mixture(n: int, d: int) -> Data:
    X, y = make_classification(n, d, n_informative=8, flip_y=0.1, random_state=0)
    return StandardScaler().fit_transform(X), y


def _digits(n: int) -> Data:
    X, y = load_digits(return_X_y=True)
    return X[:n] / 16.0, y[:n]


def _named(name: str, most: int) -> Data:
    """Return the first samples of a set of the other benchmarks."""
    from .datasets import CASES

    split = CASES[name].load()
    return split.X[:most], split.y[:most]


CASES = {
    "500 x 20": Case(partial(_mixture, 500, 20), (1e-3, 1e1)),
    "digits 700": Case(partial(_digits, 700), (1e-3, 1e1)),
    "moons 2,000": Case(partial(make_moons, 2000, noise=0.3, random_state=0), (1e-2, 1e2)),
    "2,000 x 20": Case(partial(_mixture, 2000, 20), (1e-3, 1e1)),
    "digits": Case(partial(_digits, 1797), (1e-3, 1e1), large=True),
    "20,000 x 20": Case(partial(_mixture, 20_000, 20), (1e-3, 1e1), large=True),
    "USPS": Case(partial(_named, "USPS", 7291), (1e-4, 1e-1), large=True),
}


def searched(name: str, values: int, folds: int, theirs: bool, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each way; the ways take turns, and of each the fastest turn counts."""
    case = CASES[name]
    X, y = case.load()
    grid = {"C": np.geomspace(1e-2, 1e3, values), "gamma": np.geomspace(*case.gammas, values)}
    searches = [GridSearchCV(SVC(), grid, cv=folds, refit=False), Plain(SVC(), grid, cv=folds, refit=False)]
    if theirs:
        searches.append(Plain(sklearn.svm.SVC(), grid, cv=folds, refit=False, n_jobs=2))
    rows = [{"data": name, "way": way, "seconds": np.inf, "cpu": np.inf} for way in WAYS[: len(searches)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(repeats):
            for row, search in zip(rows, searches, strict=True):
                begun, used = time.perf_counter(), time.process_time()
                search.fit(X, y)
                row["seconds"] = min(row["seconds"], time.perf_counter() - begun)
                row["cpu"] = min(row["cpu"], time.process_time() - used)
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    for row, score, search in zip(rows, scores, searches, strict=True):
        row["ratio"] = row["seconds"] / rows[0]["seconds"]
        row["cells that differ"] = int(np.count_nonzero(np.abs(score - scores[0]) > 1e-12))
        row["largest difference"] = float(np.abs(score - scores[0]).max())
        row["best"] = search.best_params_
    return rows


def warm_up() -> None:
    """Compile what the searches need."""
    X, y = _digits(120)
    for labels in (y, y % 2):
        GridSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, cv=3, refit=False).fit(X, labels)
    X, y = _mixture(1200, 20)
    GridSearchCV(SVC(), {"C": [1.0, 100.0], "gamma": [0.1, 1.0]}, cv=2, refit=False).fit(X, y)
    SVC().fit(X, y).predict(X)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| data | way | seconds | / adatron search | CPU s | cells that differ | by at most |", "|---" * 7 + "|"]
    for row in rows:
        cpu = f"{row['cpu']:.2f}" if row["way"] != WAYS[2] else ""  # processes of others are not counted
        lines.append(
            f"| {row['data']} | {row['way']} | {row['seconds']:.2f} | {row['ratio']:.1f} | {cpu} | "
            f"{row['cells that differ']} | {row['largest difference']:.1e} |"
        )
    return "\n".join(lines)
