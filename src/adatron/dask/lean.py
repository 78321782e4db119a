"""Whether dense rows on a cluster are mostly zero, so that CSR rows are faster, see ``fitting.engine``."""

from __future__ import annotations

from typing import Any

from ..fitting.engine import FEW, may_be_lean
from ..gram.source import DOUBT
from ..kernels import resolve
from . import partition
from .cluster import Call


def lean(model: Any, counted: Any, classes: Any, class_weight: Any) -> bool:
    """Return whether one machine would make the dense rows CSR rows."""
    n, d = counted.shape
    kernel = resolve(model.kernel, model.gamma, model.degree, model.coef0)
    if counted.sparse or not may_be_lean(d, kernel):
        return False
    step, cluster = -(-n // 1000), counted.cluster
    calls = [Call(i, partition.nonzero_of_some, (first, step)) for i, first in enumerate(counted.first)]
    some = cluster.ask(calls)
    nonzero = sum(one.nonzero for one in counted.facts)
    if sum(count for count, _ in some) > FEW * sum(size for _, size in some) or nonzero > FEW * n * d:
        return False
    arguments = class_weight, classes
    largest = max(cluster.ask([Call(i, partition.largest_size, arguments) for i in range(len(cluster))]))
    longest = max(one.longest for one in counted.facts)
    return kernel.error_bound(largest, float(longest), 2.0**-24) <= DOUBT * kernel.magnitude(largest)
