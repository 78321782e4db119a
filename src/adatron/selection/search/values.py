"""Values of the functions of many problems at the rows of a fold.

They are summed class by class, for all problems with samples of the class at once: a class of ten is in nine pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...fitting.engine import Settings
from ...predicting.decision import decision_values
from ...predicting.expansion import Expansion
from .programs import Entry
from .rows import Rows

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]


def values_at(where: Ids, entries: list[Entry], rows: Rows, K: Vector | None, settings: Settings) -> Vector:
    """Return the values of the functions of some problems at some rows of X, (n, n_problems).

    K : the kernel matrix of all distinct samples, if it is at hand
    """
    where, back = np.unique(rows.group[where], return_inverse=True)
    out = np.tile([entry.intercept for entry in entries], (len(where), 1))
    own = None if K is None else K[where]
    for segment, numbers, B in _by_segment(entries, rows):
        ids = rows.ids([segment])
        if own is None:
            out[:, numbers] += _sums(rows, where, ids, B, settings)
        else:
            out[:, numbers] += own[:, ids[0] : ids[-1] + 1] @ B
    return out[back]


def _by_segment(entries: list[Entry], rows: Rows) -> list[tuple[int, list[int], Vector]]:
    """Return for each class the numbers of the problems that have it, and their coefficients there."""
    parts: dict[int, list[tuple[int, Vector]]] = {}
    for number, entry in enumerate(entries):
        start = 0
        for segment in entry.side.segments:
            end = start + int(rows.distinct.sizes[segment])
            if end > start:
                parts.setdefault(segment, []).append((number, entry.beta[start:end]))
            start = end
    return [(s, [k for k, _ in some], np.stack([beta for _, beta in some], axis=1)) for s, some in parts.items()]


def _sums(rows: Rows, where: Ids, ids: Ids, B: Vector, settings: Settings) -> Vector:
    """Return sums of kernel values of some distinct samples with others, which no matrix holds."""
    used = B.any(axis=1)
    distinct = rows.distinct.rows
    expansion = Expansion(rows.X[distinct[ids[used]]], B[used], settings.kernel, np.arange(np.count_nonzero(used)))
    zero = np.zeros(B.shape[1])
    return decision_values(rows.X[distinct[where]], expansion, zero, "double", settings.n_jobs, np.asarray)
