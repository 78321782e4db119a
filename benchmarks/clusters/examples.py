"""What is fitted, on one machine and on a cluster, and the digest of a fit."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import adatron

from ..datasets import CASES

NAMES = ("support_", "dual_coef_", "intercept_", "n_iter_", "duality_gap_", "kkt_violation_", "dual_objective_")
HOW = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}


class Example(NamedTuple):
    """A machine, its parameters, and what it is fitted to."""

    machine: str
    parameters: dict[str, Any]
    X: Any
    y: Any


def example(name: str, rows: int | None) -> Example:
    """Return a case of the benchmarks, the one-class machine over its rows, or its first two classes."""
    base, _, part = name.partition(", ") if name.endswith((", one class", ", two classes")) else (name, "", "")
    case = CASES[base]
    split = case.load()
    X, y = split.X, split.y
    if part == "two classes":
        two = np.flatnonzero(np.isin(y, np.unique(y)[:2]))
        X, y = X[two], y[two]
    X, y = X[:rows], y[:rows]
    if part == "one class":
        return Example("OneClassSVM", {"nu": 0.1, "gamma": case.gamma}, X, None)
    return Example("SVC" if case.epsilon is None else "SVR", case.parameters, X, y)


def noisy(n: int, d: int, C: float) -> Example:
    """Return two overlapping clouds, of which every seventh label is wrong."""
    rng = np.random.default_rng([n, d])
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, :2] += 1.2 * np.eye(2)[y]
    return Example("SVC", {"C": C}, X, np.where(np.arange(n) % 7 == 0, 1 - y, y))


def digest(model: Any) -> str:
    """Return a digest of coefficients, intercept and certificate."""
    found = hashlib.sha256()
    for name in NAMES:
        value = getattr(model, name)
        found.update(np.asarray(value.toarray() if sparse.issparse(value) else value).tobytes())
    return found.hexdigest()[:16]


def alone(one: Example) -> str:
    """Return the digest of the one-machine fit."""
    return digest(getattr(adatron, one.machine)(**one.parameters).fit(one.X, *(() if one.y is None else (one.y,))))


def collections(one: Example, chunks: int, order: Any = None) -> list[Any]:
    """Return the rows, and the targets if there are some, as Dask arrays; ``order``: of the partitions."""
    from dask import array as da
    from dask import delayed

    n, d = one.X.shape
    starts = list(range(0, n, chunks))
    starts = [starts[i] for i in order] if order is not None else starts
    rows = [
        da.from_delayed(delayed(one.X[i : i + chunks]), (min(chunks, n - i), d), one.X.dtype, one.X[:0]) for i in starts
    ]
    found = [da.concatenate(rows)]
    if one.y is not None:
        found.append(da.concatenate([da.from_array(one.y[i : i + chunks], chunks=chunks) for i in starts]))
    return found


def together(one: Example, chunks: int, order: Any = None, callback: Any = None) -> Any:
    """Return the fit on the current cluster. Shuffled partitions come with their numbers in the given order."""
    from adatron import dask as ad

    model = getattr(ad, f"Dask{one.machine}")(**one.parameters, callback=callback)
    return model.fit(*collections(one, chunks, order))


def searched(one: Example, grid: dict[str, Any], spread: bool) -> str:
    """Return the digest of the scores of a search, by the current cluster or by one machine."""
    from adatron.dask import DaskGridSearchCV
    from adatron.selection import GridSearchCV

    search: Any = (DaskGridSearchCV if spread else GridSearchCV)(getattr(adatron, one.machine)(), grid, refit=False)
    found = search.fit(one.X, one.y).cv_results_
    scores = np.array([found[name] for name in sorted(found) if name.startswith(("split", "mean_test", "rank"))])
    return hashlib.sha256(np.ascontiguousarray(scores, dtype=float).tobytes()).hexdigest()[:16]


@contextmanager
def cluster(workers: int, **more: Any) -> Iterator[Any]:
    """Start processes with one thread each."""
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=workers, **{**HOW, **more}) as here, Client(here):
        yield here


@contextmanager
def mixed() -> Iterator[Any]:
    """Start a worker with the code of this processor, and one with that of processors without AVX-512."""
    from distributed import Client, Nanny, Scheduler, SpecCluster

    from adatron.compiled.cache.precompiled import PROCESSOR_CLASSES

    narrow = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": PROCESSOR_CLASSES["x86-64-v3"]}
    workers = [{"cls": Nanny, "options": {"nthreads": 1, "env": env}} for env in ({}, narrow)]
    scheduler = {"cls": Scheduler, "options": {"dashboard_address": ":0"}}
    with SpecCluster(dict(enumerate(workers)), scheduler, silence_logs=logging.CRITICAL) as here, Client(here):
        yield here
