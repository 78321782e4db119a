"""Decision values of the problems of a fitted machine, as nodes."""

from __future__ import annotations

from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...arrays import Vector
from ...fitting.layout import feature_weights, pairs
from ...fitting.storage import dense_rows
from ...model.function import DecisionFunctions, KernelSum
from ...model.tilted import Tilted, outputs
from .graph import Graph
from .kernels import Own, Pairs, values


@singledispatch
def decision_values(function: DecisionFunctions, graph: Graph, x: str) -> str:
    """Return the decision values of the rows of ``x``, (n, n_problems)."""
    raise TypeError(f"There is no network for a {type(function).__name__}.")


@decision_values.register
def _(function: KernelSum, graph: Graph, x: str) -> str:
    if function.kernel.plain:
        weights: Any = feature_weights(function.coefficients(), function.vectors)
        weights = weights.toarray() if sparse.issparse(weights) else weights
        sums = graph.add("MatMul", x, graph.constant(weights.T))
    elif not len(function.columns):
        return graph.filled(function.intercepts, x)
    else:
        K = values(function.kernel, Pairs(graph, x, dense_rows(function.vectors)))
        if function.counts is None:
            sums = graph.add("MatMul", K, graph.constant(function.coefficients().T))
        else:
            sums = _of_pairs(graph, K, dense_rows(function.dual), function.counts)
    if function.diagonal:
        own = values(function.kernel, Own(graph, x))
        sums = graph.add("Add", sums, graph.scaled(own, function.diagonal))
    return graph.add("Add", sums, graph.constant(function.intercepts))


@decision_values.register
def _(function: Tilted, graph: Graph, x: str) -> str:
    found: list[str] = []
    for field in function.fields():
        value = graph.filled(field.f0, x)
        for kernel, coefficients in outputs(field).items() if len(field.points) else ():
            K = values(kernel, Pairs(graph, x, dense_rows(field.points)))
            plain, tilted = graph.constant(coefficients[:, :1]), graph.constant(coefficients[:, 1:])
            slopes = graph.add("Mul", x, graph.add("MatMul", K, tilted))
            value = graph.add("Add", value, graph.add("MatMul", K, plain))
            value = graph.add("Add", value, graph.add("ReduceSum", slopes, graph.whole(1), keepdims=1))
        found.append(value)
    return graph.add("Concat", *found, axis=1)


def _of_pairs(graph: Graph, K: str, dual: Vector, counts: Any) -> str:
    """Return the sums of all pairs of classes, (n, n_pairs).

    Each class has a product of its own columns of K with its own columns of the coefficients, (n, k - 1). A pair takes
    one entry of each of its two classes. A table of all pairs' coefficients would be k / 2 times as large.
    """
    parts = [
        graph.add("MatMul", _columns(graph, K, some), graph.constant(coefficients.T))
        for some, coefficients in by_class(dual, counts)
    ]
    sums = graph.add("Concat", *parts, axis=1)
    first, second = (graph.constant(part, np.int64) for part in sides(len(counts)))
    return graph.add("Add", graph.add("Gather", sums, first, axis=1), graph.add("Gather", sums, second, axis=1))


def by_class(dual: Vector, counts: Any) -> list[tuple[slice, Vector]]:
    """Return the support vectors of each class and their coefficients; of a class without any, one times 0."""
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    spans = [slice(a, b) for a, b in pairwise(ends)]
    return [(span, dual[:, span]) if span.stop > span.start else (slice(0, 1), 0.0 * dual[:, :1]) for span in spans]


def sides(k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each pair i < j the place of its coefficients of class i, and of class j, in rows class by class."""
    i, j = pairs(k)
    return i * (k - 1) + j - 1, j * (k - 1) + i


def _columns(graph: Graph, K: str, some: slice) -> str:
    return graph.add("Slice", K, graph.whole(some.start), graph.whole(some.stop), graph.whole(1))
