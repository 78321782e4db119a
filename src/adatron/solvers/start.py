"""The start of an ascent: any point, put into the box and on the equalities."""

from __future__ import annotations

import numpy as np

from ..compiled.precision import UNIT
from ..problems import Dual
from ..problems.dual import Ids, Vector


def feasible(dual: Dual, beta: Vector) -> Vector:
    """Put a start into the box, and on every equality."""
    inside = dual.lower.max(initial=0.0) <= 0.0 <= dual.upper.min(initial=0.0)
    if inside and not (np.count_nonzero(beta) or any(dual.totals)):
        return beta.copy()  # most starts are feasible
    beta = np.clip(beta, dual.lower, dual.upper)
    plain = dual.unsigned()
    part = beta if dual.sign is None else dual.sign * beta
    for tie, total in zip(dual.ties(), dual.totals, strict=False):
        part[tie] = _balanced(part[tie], plain.lower[tie], plain.upper[tie], total)
    return part if dual.sign is None else dual.sign * part


def _balanced(beta: Vector, lower: Vector, upper: Vector, total: float) -> Vector:
    """Return a point with this sum: the free variables move, or else the side that is too large shrinks.

    Free variables move in proportion to the distance from their nearer bound, if none reaches that bound. Variables
    at a bound, which is right in most problems, then stay there. Otherwise, after shrinking, one variable after the
    other moves to its bound, so that few variables change and the two variables of a sample in nu-SVR stay opposite.
    """
    excess = float(beta.sum()) - total
    side = beta > 0 if excess > 0 else beta < 0
    weight = abs(float(beta[side].sum()))
    rounding = 64.0 * UNIT * (weight + abs(total))
    if abs(excess) <= rounding:
        return beta
    room = np.minimum(beta - lower, upper - beta)
    if abs(excess) < room.sum() < np.inf:
        return beta - excess / room.sum() * room
    if weight > 0:
        beta[side] *= max(0.0, 1.0 - abs(excess) / weight)
        excess = float(beta.sum()) - total
    if abs(excess) <= rounding:
        return beta
    room = np.minimum(beta - lower if excess > 0 else upper - beta, abs(excess))
    beta = beta - np.sign(excess) * filled(room, abs(excess), np.arange(len(beta)))
    crumb = 64.0 * UNIT * abs(excess)
    return np.where(beta - lower <= crumb, lower, np.where(upper - beta <= crumb, upper, beta))


def filled(room: Vector, amount: float, order: Ids) -> Vector:
    """Put the amount into the rooms, one after the other."""
    before = np.concatenate([[0.0], np.cumsum(room[order])[:-1]])
    part = np.clip(amount - before, 0.0, room[order])
    out = np.zeros(len(room))
    out[order] = np.where(part > 64.0 * UNIT * amount, part, 0.0)  # no crumbs
    return out
