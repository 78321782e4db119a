"""Fits on Dask clusters of processes on this machine: their bits, also while workers are killed, and their traffic."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
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

REST = 60.0  # Seconds between two kills of one worker, which has to start meanwhile.
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

    how = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=workers, **how) as here, Client(here):
        yield here


@contextmanager
def mixed() -> Iterator[Any]:
    """Start a worker with the code of this processor, and one with that of processors without AVX-512."""
    from distributed import Client, Nanny, Scheduler, SpecCluster

    from adatron.compiled.cache.processor import CLASSES

    narrow = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": CLASSES["x86-64-v3"]}
    workers = [{"cls": Nanny, "options": {"nthreads": 1, "env": env}} for env in ({}, narrow)]
    scheduler = {"cls": Scheduler, "options": {"dashboard_address": ":0"}}
    with SpecCluster(dict(enumerate(workers)), scheduler, silence_logs=logging.CRITICAL) as here, Client(here):
        yield here


@contextmanager
def deaths(here: Any, every: float) -> Iterator[list[int]]:
    """Kill a random worker now and then, while two are up; the nanny starts it again."""
    over, killed, choice = threading.Event(), [0], np.random.default_rng(0)

    def run() -> None:
        last: dict[Any, float] = {}
        while not over.wait(choice.uniform(0.5 * every, 1.5 * every)):
            now, up = time.monotonic(), here.scheduler_info["workers"]
            ready = [one for one in here.workers.values() if one.worker_address in up and one.pid]
            old = [
                one for one in ready if now - last.get(one.name, -REST) >= REST
            ]  # a nanny whose start fails gives up
            if len(ready) > 1 and old:
                one = old[int(choice.integers(len(old)))]
                last[one.name] = now
                os.kill(one.pid, signal.SIGKILL)
                killed[0] += 1

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


class Traffic(NamedTuple):
    """Bytes of one fit.

    iterations : changes of the gradient
    points, numbers : all that travelled for them, as rows and otherwise
    changed : what the changed points, and a number for each of them, weigh on their way to every worker
    block : what as many points and numbers as a block has would weigh
    """

    iterations: int
    points: int
    numbers: int
    changed: int
    block: int


def traffic(one: Example, workers: int) -> Traffic:
    """Count the bytes of all tasks' arguments and results in a fit, as they are packed for their way."""
    from distributed import Client, LocalCluster

    from adatron.dask.cluster import Cluster
    from adatron.solvers.plan import WIDE

    plain, row, total = Cluster.ask, 8 * one.X.shape[1], dict.fromkeys(Traffic._fields, 0)

    def ask(self: Any, calls: Any, *rest: Any) -> Any:
        found = plain(self, calls, *rest)
        steps = [call for call in calls if call.function.__name__ == "step"]
        asked = [(call, result) for call, result in zip(calls, found, strict=True) if call.function.__name__ in GOING]
        for call, result in asked:
            total["numbers" if call.function.__name__ != "taken" else "points"] += _size(call.arguments) + _size(result)
        if steps and steps[0].arguments[3] is not None:
            count = len(steps[0].arguments[3].ids)
            total["iterations"] += 1
            total["points"] += count * row * (len(steps) - 1)
            total["changed"] += count * (row + 8) * len(steps)
            total["block"] += min(WIDE, one.X.shape[0]) * (row + 8) * len(steps)
        return found

    Cluster.ask = ask
    try:
        with LocalCluster(workers, processes=False, threads_per_worker=1, dashboard_address=":0") as here, Client(here):
            together(one, 999)
    finally:
        Cluster.ask = plain
    return Traffic(**total)


GOING = ("step", "look", "taken", "put")  # tasks of iterations


def _size(values: Any) -> int:
    return len(pickle.dumps(values, protocol=5))
