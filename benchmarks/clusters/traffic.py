"""Bytes of the messages of a fit, kind by kind."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse

from .examples import Example, cluster, together

WORKERS = 3
ITERATIONS = ("step", "taken", "look", "survey", "put", "restore")  # tasks of iterations


class Meter:
    """Counts bytes as they are packed for their way.

    kinds : bytes of each kind of message
    changed : what the changed points, and a number for each of them, weigh on their way to every worker
    blocks : what as many points and numbers as a block has would weigh
    """

    def __init__(self, one: Example) -> None:
        self.row, self.n = bytes_of_row(one.X), one.X.shape[0]
        self.kinds, self.iterations, self.changed, self.blocks = Counter[str](), 0, 0.0, 0.0

    def count(self, calls: Any, found: Any) -> None:
        from adatron.solvers.plan import WIDE

        steps = [call for call in calls if call.function.__name__ == "step" and edit_of(call) is not None]
        for call, result in zip(calls, found, strict=True):
            name = call.function.__name__
            if name in ITERATIONS:
                self._add(name, call, result)
        if steps:
            count = len(edit_of(steps[0]).places)
            self.iterations += 1
            self.changed += count * (self.row + 8) * len(steps)
            self.blocks += min(WIDE, self.n) * (self.row + 8) * len(steps)

    def _add(self, name: str, call: Any, result: Any) -> None:
        told = size(call.arguments)
        if name == "taken":
            self.kinds["rows to the coordinator"] += told + size(result)
        elif name == "step":
            self.kinds["changes to workers"] += told
            self.kinds["violators to the coordinator"] += size(getattr(result, "ends", None))
            self.kinds["terms of the objective"] += size(result) - size(getattr(result, "ends", None))
            others = {other.slab: len(other.arguments[0]) for other in call.others}
            self.kinds["points to workers"] += int(sum(n * self.row for j, n in others.items() if j != call.slab))
            self.kinds["changes to workers"] += size([other.arguments for other in call.others]) // WORKERS
        elif name == "restore":
            points = sum(len(other.arguments[0]) for other in call.others if other.slab != call.slab)
            self.kinds["beginnings"] += told + size(result) + int(points * self.row)
        elif name == "look" and call.arguments[2] is None:
            self.kinds["whole gradients"] += told + size(result)
        else:
            self.kinds["gradients of blocks" if name == "look" else "more violators"] += told + size(result)


def edit_of(call: Any) -> Any:
    """Return the change that a step makes, or None."""
    return next((one for one in call.arguments if type(one).__name__ == "Edit"), None)


def bytes_of_row(X: Any) -> float:
    """Return the bytes of a row, as it is stored."""
    if sparse.issparse(X):
        return (X.data.itemsize + 4) * X.nnz / X.shape[0] + 4
    return float(np.dtype(X.dtype).itemsize * X.shape[1])


def size(values: Any) -> int:
    """Return the bytes of a message."""
    return len(pickle.dumps(values, protocol=5))


def traffic(one: Example) -> dict[str, Any]:
    """Count the bytes of all tasks' arguments and results in a fit."""
    from adatron.dask.cluster import Cluster

    plain, meter = Cluster.ask, Meter(one)

    def ask(self: Any, calls: Any, *rest: Any, **more: Any) -> Any:
        found = plain(self, calls, *rest, **more)
        meter.count(calls, found)
        return found

    Cluster.ask = ask
    try:
        with cluster(WORKERS, processes=False):
            together(one, 999)
    finally:
        Cluster.ask = plain
    total = sum(meter.kinds.values())
    return {"iterations": meter.iterations, **meter.kinds, "total": total, "changed": meter.changed,
            "blocks": meter.blocks, "ratio": total / meter.changed, "of blocks": total / meter.blocks}  # fmt: skip
