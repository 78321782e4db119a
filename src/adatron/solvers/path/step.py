"""One piece of the path, compiled: the rates of the solution, the first event, and the move to the event."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compiled.cache.jit import jit
from ..linalg.bordered import bordered

STILL = 1e-11  # Fraction of the largest rate below which a rate is rounding.
RATES_NOT_FINITE = -2  # The number of the variable if the rates are not finite.


class PathPoint(NamedTuple):
    """The solution on its way, see ``PathState``; all but slopes and border change in place."""

    at: Any
    piece: Any
    knots: Any
    slopes: Any
    border: Any
    beta: Any
    g: Any
    mu: Any
    sums: Any


class Course(NamedTuple):
    """The way to another program.

    start, ends : the knots of both programs
    change, rate_t, rate_sums : rates of knots, targets and sums
    rate_product : the rate of H beta that comes from the variables at knots
    """

    start: Any
    ends: Any
    change: Any
    rate_t: Any
    rate_sums: Any
    rate_product: Any


@jit
def add_rows(values: Any, where: Any, d: Any, out: Any) -> None:
    """Add the sum of d[k] values[where[k]] to out, four rows at a time so that out is read less often."""
    n, m = len(out), len(d)
    for k in range(0, m - 3, 4):
        a, b, c, e = values[where[k]], values[where[k + 1]], values[where[k + 2]], values[where[k + 3]]
        da, db, dc, de = d[k], d[k + 1], d[k + 2], d[k + 3]
        for j in range(n):
            out[j] += (da * a[j] + db * b[j]) + (dc * c[j] + de * e[j])
    for k in range(m - m % 4, m):
        a, da = values[where[k]], d[k]
        for j in range(n):
            out[j] += da * a[j]


@jit
def row_products(values: Any, where: Any, v: Any, out: Any) -> None:
    """Set out[k] to values[where[k]]' v; eight sums run side by side, or one would wait for the other."""
    n = len(v)
    part = np.empty(8)
    for k in range(len(out)):
        a = values[where[k]]
        part[:] = 0.0
        for j in range(0, n - 7, 8):
            for i in range(8):
                part[i] += a[j + i] * v[j + i]
        total = part.sum()
        for j in range(n - n % 8, n):
            total += a[j] * v[j]
        out[k] = total


@jit(inner=True)
def rates_of(free: Any, point: PathPoint, course: Course) -> Any:
    """Return the rates of beta, g and mu, and the largest right side that the rates of beta come from."""
    (L, A, shift, ids, values, where), at = free, point.at
    rate_beta, rate_g = np.zeros(len(at)), course.rate_product - course.rate_t
    for j in range(len(at)):
        if at[j] >= 0:
            rate_beta[j] = course.change[at[j], j]
    if not len(ids):
        return (rate_beta, rate_g, np.zeros(len(course.rate_sums))), 0.0
    need = course.rate_sums.copy()
    for q in range(len(need)):
        for j in range(len(at)):
            need[q] -= rate_beta[j] * point.border[j, q]
    d = np.empty(len(ids))
    for k in range(len(ids)):
        d[k] = -rate_g[ids[k]]
    right = np.abs(d).max()
    rate_mu = bordered(L, A, shift, d, need)
    for k in range(len(ids)):
        rate_beta[ids[k]] = d[k]
    add_rows(values, where, d, rate_g)
    return (rate_beta, rate_g, rate_mu), right


@jit
def first_event(point: PathPoint, change: Any, rates: Any, still: float, noise: float, room: float, begin: int) -> Any:
    """Return step, variable, side and knot of the first event before ``room``; variable -1 if there is no event.

    A variable at a knot leaves it if the slopes on both sides no longer allow its gradient; a free one meets a knot.
    If several happen at once, the first from number ``begin`` on comes first; those before that number come last.

    change, rates : rates of the knots, and of beta, g and mu
    still, noise : rates of beta and of g up to which they are rounding
    """
    at, piece, slopes, beta, knots = point.at, point.piece, point.slopes, point.beta, point.knots
    (rate_beta, rate_g, rate_mu), (best, one, side, met) = rates, (room, -1, 0, -1)
    for i in range(len(at)):
        j = begin + i if begin + i < len(at) else begin + i - len(at)
        up = down = np.inf
        if at[j] >= 0:
            away, rate = -point.g[j], -rate_g[j]
            for q in range(len(point.mu)):
                away -= point.border[j, q] * point.mu[q]
                rate -= point.border[j, q] * rate_mu[q]
            if rate > noise and at[j] < len(slopes):
                up = (slopes[at[j]] - away) / rate
            elif rate < -noise and at[j] > 0:
                down = (slopes[at[j] - 1] - away) / rate
        else:
            high, low = piece[j] + 1, piece[j]
            to_high, to_low = rate_beta[j] - change[high, j], rate_beta[j] - change[low, j]
            if to_high > still:
                up = (knots[high, j] - beta[j]) / to_high
            if to_low < -still:
                down = (knots[low, j] - beta[j]) / to_low
        step = max(min(up, down), 0.0)
        if step < best:
            best, one, side = step, j, 1 if up <= down else -1
            met = -1 if at[j] >= 0 else (piece[j] + 1 if up <= down else piece[j])
    return best, one, side, met


@jit
def advance(free: Any, point: Any, course: Any, largest: float, done: float, begin: int) -> Any:
    """Go to the first event or the end, in place; return the part of the way done, and variable, side and knot.

    free : the factor of the margin system of the free variables and its shift, see ``linalg.bordered``, the numbers of
        these variables, and their rows of H, see ``FreeRows``
    point, course : the fields of ``PathPoint`` and ``Course``: plain tuples are faster to pass
    largest : the largest entry of H
    done : the part of the way done so far
    begin : the variable whose event comes first, see ``first_event``
    """
    point, course = PathPoint(*point), Course(*course)
    at, beta, knots, change = point.at, point.beta, point.knots, course.change
    rates, right = rates_of(free, point, course)
    rate_beta, rate_g, rate_mu = rates
    size = np.abs(rate_beta).sum()
    if not np.isfinite(size):
        return done, RATES_NOT_FINITE, 0, -1
    noise = STILL * (largest * size + np.abs(course.rate_t).max())
    still = STILL * np.abs(rate_beta).max()
    if largest > 0.0:  # all rates may be rounding: small compared with those of one variable alone
        still = max(still, STILL * right / largest)
    step, one, side, met = first_event(point, change, rates, still, noise, 1.0 - done, begin)
    done = 1.0 if one < 0 else done + step
    for q in range(len(point.mu)):
        point.mu[q] += step * rate_mu[q]
        point.sums[q] += step * course.rate_sums[q]
    for j in range(len(at)):
        point.g[j] += step * rate_g[j]
        for k in range(len(knots)):
            if change[k, j] != 0.0:
                knots[k, j] = course.ends[k, j] if one < 0 else course.start[k, j] + done * change[k, j]
        if at[j] >= 0:
            beta[j] = knots[at[j], j]
        else:
            beta[j] += step * rate_beta[j]
    return done, one, side, met
