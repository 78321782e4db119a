"""Fits on Dask clusters of processes on this machine: their bits, also while workers are killed, and their traffic."""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import adatron

from .datasets import CASES

NAMES = ("support_", "dual_coef_", "intercept_", "n_iter_", "duality_gap_", "kkt_violation_", "dual_objective_")


class Example(NamedTuple):
    """A machine, its parameters, and what it is fitted to."""

    machine: str
    parameters: dict[str, Any]
    X: Any
    y: Any


def example(name: str, rows: int | None) -> Example:
    """Return a case of the benchmarks, or the one-class machine over its rows."""
    case = CASES[name.removesuffix(", one class")]
    split = case.load()
    X, y = split.X[:rows], split.y[:rows]
    if name.endswith(", one class"):
        return Example("OneClassSVM", {"nu": 0.1, "gamma": case.gamma}, X, None)
    return Example("SVC" if case.epsilon is None else "SVR", case.parameters, X, y)


def digest(model: Any) -> str:
    """Return a digest of coefficients, intercept and certificate."""
    found = hashlib.sha256()
    for name in NAMES:
        value = getattr(model, name)
        found.update(np.asarray(value.toarray() if sparse.issparse(value) else value).tobytes())
    return found.hexdigest()[:16]


def alone(one: Example) -> tuple[str, float]:
    """Return the digest of the one-machine fit, and its seconds."""
    start = time.monotonic()
    model = getattr(adatron, one.machine)(**one.parameters).fit(one.X, one.y)
    return digest(model), time.monotonic() - start


def together(one: Example, chunks: int) -> tuple[str, float]:
    """Return the digest of a fit on the current cluster, and its seconds."""
    from adatron import dask as ad
    from dask import array as da
    from dask import delayed

    n, d = one.X.shape
    if sparse.issparse(one.X):
        X = da.concatenate([
            da.from_delayed(delayed(one.X[i : i + chunks]), (min(chunks, n - i), d), meta=one.X[:0])
            for i in range(0, n, chunks)
        ])  # fmt: skip
    else:
        X = da.from_array(one.X, chunks=(chunks, d))
    start = time.monotonic()
    model = getattr(ad, f"Dask{one.machine}")(**one.parameters)
    model.fit(X, *(() if one.y is None else (da.from_array(one.y, chunks=chunks),)))
    return digest(model), time.monotonic() - start


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """Start processes with one thread each."""
    from distributed import Client, LocalCluster

    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=workers, **how) as here, Client(here):
        yield here


@contextmanager
def deaths(here: Any, every: float) -> Iterator[list[int]]:
    """Kill a random worker now and then, while two are up; the nanny starts it again."""
    over, killed, choice = threading.Event(), [0], np.random.default_rng(0)

    def run() -> None:
        while not over.wait(choice.uniform(0.5 * every, 1.5 * every)):
            up = here.scheduler_info["workers"]
            pids = [one.pid for one in here.workers.values() if one.worker_address in up and one.pid]
            if len(pids) > 1:
                os.kill(int(choice.choice(pids)), signal.SIGKILL)
                killed[0] += 1

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()
