"""A training set that does not fit one worker: peak memory of the workers and of the coordinator."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from .examples import cluster


def clouds(number: int, rows: int, features: int) -> Any:
    """Return a partition of two clouds; the last column is the label. It is made where it is needed."""
    rng = np.random.default_rng([7, number])
    table = rng.normal(size=(rows, features + 1))
    table[:, -1] = np.arange(rows) % 2
    table[:, :4] += 4.0 * table[:, -1:]
    return table


def peak() -> float:
    """Return the most bytes of memory that this process has had."""
    with Path("/proc/self/status").open() as stream:
        lines = dict(line.split(":", 1) for line in stream)
    return 1024.0 * float(lines["VmHWM"].split()[0])


def measure(workers: int, limit: float, partitions: int, rows: int, features: int) -> dict[str, Any]:
    """Fit on workers with a limit, and return the peaks.

    limit : bytes of a worker
    partitions, rows : how many partitions there are, and rows in each
    """
    from distributed import get_client

    from adatron.dask import DaskSVC
    from dask import array as da
    from dask import delayed

    parts = [delayed(clouds)(i, rows, features) for i in range(partitions)]
    X = da.concatenate([da.from_delayed(part[:, :-1], (rows, features), float) for part in parts])
    y = da.concatenate([da.from_delayed(part[:, -1], (rows,), float) for part in parts])
    with cluster(workers, memory_limit=int(limit)):
        client = get_client()
        before = {"workers": max(client.run(peak).values()), "coordinator": peak()}
        pids = set(client.run(os.getpid).values())
        model = DaskSVC(gamma=1.0 / features).fit(X, y)
        killed = len(pids - set(client.run(os.getpid).values()))
        after = {"workers": max(client.run(peak).values()), "coordinator": peak()}
    return {
        "samples": partitions * rows, "features": features, "bytes": 8.0 * partitions * rows * features,
        "workers": workers, "limit": limit, "ended": killed, "support": int(model.n_support_.sum()),
        "gap": float(model.duality_gap_), "violation": float(model.kkt_violation_), "worker": after["workers"],
        "worker idle": before["workers"], "coordinator": after["coordinator"] - before["coordinator"],
    }  # fmt: skip
