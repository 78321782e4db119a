"""Parts of a matrix, and sums of its rows: numpy's indexing by lists takes several times as long."""

from __future__ import annotations

from typing import Any

from ._jit import jit


@jit
def submatrix(K: Any, rows: Any, columns: Any, out: Any) -> None:
    """out[i, j] = K[rows[i], columns[j]]; what out has beyond stays as it is."""
    for i in range(len(rows)):
        row, values = K[rows[i]], out[i]
        for j in range(len(columns)):
            values[j] = row[columns[j]]


@jit
def scatter(K: Any, rows: Any, columns: Any, out: Any, to_rows: Any, to_columns: Any) -> None:
    """out[to_rows[i], to_columns[j]] = K[rows[i], columns[j]]."""
    for i in range(len(rows)):
        row, values = K[rows[i]], out[to_rows[i]]
        for j in range(len(columns)):
            values[to_columns[j]] = row[columns[j]]


@jit
def add_rows(K: Any, rows: Any, weights: Any, out: Any) -> None:
    """out += sum over i of weights[i] K[rows[i]]."""
    for i in range(len(rows)):
        row, weight = K[rows[i]], weights[i]
        for t in range(len(out)):
            out[t] += weight * row[t]
