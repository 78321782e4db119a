"""The start of an ascent: any point, put into the box and on the equalities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Ids, Vector
from ..compiled.cache.jit import jit
from ..compiled.precision import UNIT
from ..compiled.sums import two_sum
from ..problems import Dual

SUM_ROUNDING = 64.0 * UNIT  # Fraction of a sum, or of what moves, that is rounding.


def feasible(dual: Dual, beta: Vector) -> Vector:
    """Put a start into the box, and on every equality."""
    inside = dual.lower.max(initial=0.0) <= 0.0 <= dual.upper.min(initial=0.0)
    if inside and not (np.count_nonzero(beta) or any(dual.totals)):
        return beta.copy()  # most starts are feasible
    beta = np.clip(beta, dual.lower, dual.upper)
    plain = dual.unsigned()
    part = beta if dual.sign is None else dual.sign * beta
    for tie, total in zip(dual.ties(), dual.totals, strict=False):
        own = part[tie]
        balance(own, plain.lower[tie], plain.upper[tie], total)
        part[tie] = own
    return part if dual.sign is None else dual.sign * part


@jit
def balance(beta: Any, lower: Any, upper: Any, total: float) -> None:
    """Give a point in a box this sum: the free variables move, or else the side that is too large shrinks.

    Free variables move in proportion to the distance from their nearer bound, if none reaches that bound. Variables
    at a bound, which is right in most problems, then stay there. Otherwise, after shrinking, one variable after the
    other moves to its bound, so that few variables change and the two variables of a sample in nu-SVR stay opposite.
    """
    excess, weight, rooms = _sum(beta) - total, 0.0, 0.0
    side = 1.0 if excess > 0.0 else -1.0
    for i in range(len(beta)):
        weight += max(side * beta[i], 0.0)
        rooms += min(beta[i] - lower[i], upper[i] - beta[i])
    rounding = SUM_ROUNDING * (weight + abs(total))
    if abs(excess) <= rounding:
        return
    if abs(excess) < rooms < np.inf:
        for i in range(len(beta)):
            beta[i] -= excess / rooms * min(beta[i] - lower[i], upper[i] - beta[i])
        return
    if weight > 0.0:
        for i in range(len(beta)):
            if side * beta[i] > 0.0:
                beta[i] *= max(0.0, 1.0 - abs(excess) / weight)
        excess = _sum(beta) - total
    if abs(excess) > rounding:
        _fill(beta, lower, upper, excess)


@jit(inner=True)
def _sum(values: Any) -> float:
    """Return the sum, each addition's rounding added in the end."""
    total, low = 0.0, 0.0
    for value in values:
        total, rounding = two_sum(total, value)
        low += rounding
    return total + low


@jit(inner=True)
def _fill(beta: Any, lower: Any, upper: Any, excess: float) -> None:
    """Take the excess from the variables, one after the other; what is left beside a bound goes to the bound."""
    amount, before = abs(excess), 0.0
    for i in range(len(beta)):
        room = min(beta[i] - lower[i] if excess > 0.0 else upper[i] - beta[i], amount)
        part = min(max(amount - before, 0.0), room)
        before += room
        if part > SUM_ROUNDING * amount:
            beta[i] -= part if excess > 0.0 else -part
        if beta[i] - lower[i] <= SUM_ROUNDING * amount:
            beta[i] = lower[i]
        elif upper[i] - beta[i] <= SUM_ROUNDING * amount:
            beta[i] = upper[i]


def filled(room: Vector, amount: float, order: Ids) -> Vector:
    """Put the amount into the rooms, one after the other."""
    before = np.concatenate([[0.0], np.cumsum(room[order])[:-1]])
    part = np.clip(amount - before, 0.0, room[order])
    out = np.zeros(len(room))
    out[order] = np.where(part > SUM_ROUNDING * amount, part, 0.0)  # no crumbs
    return out
