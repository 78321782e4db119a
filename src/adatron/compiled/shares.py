"""Coefficients of samples from those of the distinct ones among them, and their arrangement by support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit


@jit
def share_out(
    ends: Any, samples: Any, values: Any, below: float, above: float, weight: Any, group: Any, own: Any, members: Any
) -> Any:
    """Fill the members of distinct samples, the last one first, up to their bounds: a number times their own weight.

    ends : where the coefficients of each problem end
    samples, values : the distinct sample of each coefficient, and the coefficient
    below, above : the number for coefficients below 0, and above
    weight, group, own, members : as in ``Samples``, with the groups in their order

    Returns the coefficients that are not 0, their samples and their problems.
    """
    firsts = np.zeros(len(weight) + 1, np.int64)  # the first member of each distinct sample
    for k in group:
        firsts[k + 1] += 1
    for k in range(len(weight)):
        firsts[k + 1] += firsts[k]
    room, at, problem = 0, 0, 0
    for j in range(len(values)):
        if values[j] != 0.0:
            room += firsts[samples[j] + 1] - firsts[samples[j]]
    data, rows, problems = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    for j in range(len(values)):
        while j == ends[problem]:
            problem += 1
        k, value = samples[j], values[j]
        if value == 0.0:
            continue
        C = above if value > 0.0 else below
        bound, size, filled, low = C * weight[k], abs(value), 0.0, 0.0
        for i in range(firsts[k + 1] - 1, firsts[k] - 1, -1):
            most = C * own[i]
            part = most if size >= bound else min(max((size - filled) - low, 0.0), most)
            if part != 0.0:
                data[at], rows[at], problems[at] = part if value > 0.0 else -part, members[i], problem
                at += 1
            if part < most:  # the other members get nothing
                break
            after = filled + most
            taken = after - filled
            low += (filled - (after - taken)) + (most - taken)
            filled = after
    return data[:at], rows[:at], problems[:at]


@jit
def arrange(
    values: Any, samples: Any, problems: Any, codes: Any, n_classes: int, first: Any, second: Any, n_rows: int
) -> Any:
    """Return the samples with a coefficient, class by class, the number in each class, and their coefficients.

    values, samples, problems : as in ``Coefficients``
    codes : (n,) the class of each sample
    first, second : the classes of each problem. Coefficients of the first class's samples stand in row second - 1, the
        others in row first. If both are empty, each problem has its own row
    n_rows : rows of the coefficients
    """
    place, counts, at = np.zeros(len(codes), np.int64), np.zeros(n_classes, np.int32), np.zeros(n_classes, np.int64)
    for i in samples:
        if place[i] == 0:
            place[i] = 1
            counts[codes[i]] += 1
    for c in range(1, n_classes):
        at[c] = at[c - 1] + counts[c - 1]
    support = np.empty(at[n_classes - 1] + counts[n_classes - 1], np.int64)
    for i in range(len(codes)):
        if place[i]:
            place[i] = at[codes[i]]
            support[place[i]] = i
            at[codes[i]] += 1
    out = np.zeros((n_rows, len(support)))
    for j in range(len(values)):
        i, row = samples[j], problems[j]
        if len(first):
            row = second[row] - 1 if codes[i] == first[row] else first[row]
        out[row, place[i]] = values[j]
    return support, counts, out
