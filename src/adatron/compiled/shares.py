"""Coefficients of samples from those of the distinct ones among them, and their arrangement by support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit
from .sums import two_sum


def share_out(
    ends: Any, samples: Any, values: Any, below: float, above: float, weight: Any, group: Any, own: Any, members: Any,
    even: bool = False,
) -> Any:  # fmt: skip
    """Fill the members of distinct samples, the last one first, up to their bounds: a number times their own weight.

    ends : where the coefficients of each problem end
    samples, values : the distinct sample of each coefficient, and the coefficient
    below, above : the number for coefficients below 0, and above
    weight, group, own, members : as in ``Samples``, with the groups in their order
    even : all members get what their weights say, as the bounds are infinite and errors cost their square

    Returns the coefficients that are not 0, their samples and their problems.
    """
    if len(weight) < len(group):
        return _shared_out(ends, samples, values, below, above, weight, group, own, members, even)
    C = above if below == above else np.where(values > 0.0, above, below)
    sizes = np.minimum(np.abs(values), C * own[samples])  # each has one member: nothing has to be compiled
    some = np.flatnonzero(sizes)
    problems = np.searchsorted(ends, some, side="right")
    return np.copysign(sizes[some], values[some]), members[samples[some]], problems


@jit
def _shared_out(
    ends: Any, samples: Any, values: Any, below: float, above: float, weight: Any, group: Any, own: Any, members: Any,
    even: bool,
) -> Any:  # fmt: skip
    """Fill the members one after the other, see ``share_out``."""
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
        largest = firsts[k]
        for i in range(firsts[k], firsts[k + 1]):
            if own[i] > own[largest]:
                largest = i
        for i in range(firsts[k + 1] - 1, firsts[k] - 1, -1):
            member, most = i, C * own[i]
            if even:  # the largest member, which comes last, gets what rounding leaves
                member = largest if i == firsts[k] else i - 1 if i <= largest else i
                most = size * (own[member] / weight[k]) if member != largest else np.inf
            part = most if size >= bound else min(max((size - filled) - low, 0.0), most)
            if part != 0.0:
                data[at], rows[at], problems[at] = part if value > 0.0 else -part, members[member], problem
                at += 1
            if part < most:  # the other members get nothing
                break
            filled, rounding = two_sum(filled, most)
            low += rounding
    return data[:at], rows[:at], problems[:at]


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
    place = np.zeros(len(codes), np.int64)
    place[samples] = 1
    support = np.flatnonzero(place)
    support = support[np.argsort(codes[support], kind="stable")]
    place[support] = np.arange(len(support))
    rows = problems
    if len(first):
        rows = np.where(codes[samples] == first[problems], second[problems] - 1, first[problems])
    out = np.zeros((n_rows, len(support)))
    out[rows, place[samples]] = values
    return support, np.bincount(codes[support], minlength=n_classes).astype(np.int32), out
