"""One piece of the path, compiled: the rates of the solution, the first event, and the move to the event."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.cache.jit import jit
from ..linalg.bordered import bordered

STILL = 1e-11  # Fraction of the largest rate below which a rate is rounding.
LOST = -2  # the number of the variable if the rates are not finite


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


@jit
def rates_of(L: Any, A: Any, shift: float, ids: Any, values: Any, where: Any, at: Any, border: Any, change: Any,
             push: Any, rate_t: Any, rate_sums: Any) -> Any:  # fmt: skip
    """Return the rates of beta, g and mu, and the largest right side that the rates of beta come from."""
    rate_beta, rate_g = np.zeros(len(at)), push - rate_t
    for j in range(len(at)):
        if at[j] >= 0:
            rate_beta[j] = change[at[j], j]
    if not len(ids):
        return rate_beta, rate_g, np.zeros(len(rate_sums)), 0.0
    need = rate_sums.copy()
    for q in range(len(need)):
        for j in range(len(at)):
            need[q] -= rate_beta[j] * border[j, q]
    d = np.empty(len(ids))
    for k in range(len(ids)):
        d[k] = -rate_g[ids[k]]
    right = np.abs(d).max()
    rate_mu = bordered(L, A, shift, d, need)
    for k in range(len(ids)):
        rate_beta[ids[k]] = d[k]
    add_rows(values, where, d, rate_g)
    return rate_beta, rate_g, rate_mu, right


@jit
def first_event(at: Any, piece: Any, slopes: Any, border: Any, beta: Any, g: Any, mu: Any, knots: Any, change: Any,
                rate_beta: Any, rate_g: Any, rate_mu: Any, still: float, noise: float, room: float,
                begin: int) -> Any:  # fmt: skip
    """Return step, variable, side and knot of the first event before ``room``; variable -1 if there is no event.

    A variable at a knot leaves it if the slopes on both sides no longer allow its gradient; a free one meets a knot.
    If several happen at once, the first from number ``begin`` on comes first; those before that number come last.
    """
    best, one, side, met = room, -1, 0, -1
    for i in range(len(at)):
        j = begin + i if begin + i < len(at) else begin + i - len(at)
        up = down = np.inf
        if at[j] >= 0:
            away, rate = -g[j], -rate_g[j]
            for q in range(len(mu)):
                away -= border[j, q] * mu[q]
                rate -= border[j, q] * rate_mu[q]
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
def advance(L: Any, A: Any, shift: float, ids: Any, values: Any, where: Any, at: Any, piece: Any, slopes: Any,
            border: Any, beta: Any, g: Any, mu: Any, sums: Any, knots: Any, start: Any, ends: Any, change: Any,
            push: Any, rate_t: Any, rate_sums: Any, largest: float, done: float, begin: int) -> Any:  # fmt: skip
    """Go to the first event or the end, in place; return the part of the way done, and variable, side and knot."""
    rate_beta, rate_g, rate_mu, right = rates_of(
        L, A, shift, ids, values, where, at, border, change, push, rate_t, rate_sums
    )
    size = np.abs(rate_beta).sum()
    if not np.isfinite(size):
        return done, LOST, 0, -1
    noise = STILL * (largest * size + np.abs(rate_t).max())
    still = STILL * np.abs(rate_beta).max()
    if largest > 0.0:  # all rates may be rounding: small compared with those of one variable alone
        still = max(still, STILL * right / largest)
    step, one, side, met = first_event(
        at, piece, slopes, border, beta, g, mu, knots, change, rate_beta, rate_g, rate_mu, still, noise, 1.0 - done,
        begin,
    )  # fmt: skip
    done = 1.0 if one < 0 else done + step
    for q in range(len(mu)):
        mu[q] += step * rate_mu[q]
        sums[q] += step * rate_sums[q]
    for j in range(len(at)):
        g[j] += step * rate_g[j]
        for k in range(len(knots)):
            if change[k, j] != 0.0:
                knots[k, j] = ends[k, j] if one < 0 else start[k, j] + done * change[k, j]
        if at[j] >= 0:
            beta[j] = knots[at[j], j]
        else:
            beta[j] += step * rate_beta[j]
    return done, one, side, met
