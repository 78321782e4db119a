"""The compiled loop over chains of programs that differ in their bounds, or sums: the fits of a search.

Problem   as in ``many``, with float64 tiles, in runs that share one matrix. A program may start from one before it.
Update    a program starts at the solution before it, with the same variables at their bounds. The part of K beta that
          is of bounded variables scales with the bounds, so the gradient there costs nothing. Then ``rounds``.
Stop      as in ``many``. The gradients of a run are made anew together, each row of K read once for all programs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...certificates.certify import CARE
from ...compiled.cache.jit import jit
from ...compiled.cache.pointer import call, lent
from ...compiled.precision import UNIT
from ..dense import INNER, STEPS
from ..start import balance
from ..status import BENT, STOP
from .bundle import One, bound, enlarge, frame, margin_of, nearer, place, power, total
from .rounds import MOST, Part, add_changes, rounds

COLUMNS, ROWS = 512, 4  # of K, at a time, where the gradients of many programs are made
ALIKE = 1e-12  # Relative difference up to which bounds have grown alike.
TRIES = 3  # Times that a program is solved again from a gradient that was made anew.


class Links(NamedTuple):
    """What programs of a run have beside those of a bundle, at their places in the matrix.

    before : (n,) the program that each starts from, or -1
    products, held : (n, width) K beta, and the part of it that is of variables at a bound
    bounded : (width,) the point of which ``held`` is known
    """

    before: Any
    products: Any
    held: Any
    bounded: Any


@jit
def linked(code: Any, walk: Any, shared: Any, programs: Any, before: Any, goals: Any, K: Any, stack: Any) -> None:
    """Solve each program from the one before it, and prove the solutions of a run together."""
    shared, programs, K, stack = lent(shared), lent(programs), lent(K), lent(stack)
    laid, n, wide, p = programs.laid, len(programs.steps), len(K), 0
    rooms, mu, made = np.empty((7, wide)), np.empty(programs.totals.shape[1]), np.full(3, -1)
    most = min(wide, MOST)
    part = Part(
        np.empty(wide, np.int64), np.empty(wide, np.int64), np.zeros(laid.starts.shape[1], np.int64), np.empty(wide),
        np.empty(wide), np.empty(wide), np.empty(wide), np.empty(most * most),
    )  # fmt: skip
    while p < n:
        stop, width = _run_from(programs, p), laid.widths[p]
        own, sign = laid.places[programs.first[p] : programs.first[p + 1]], _signs(programs, p)
        if len(laid.groups):
            some = slice(laid.first_group[p], laid.first_group[p + 1])
            call(*code.matrix, shared, laid.groups[some], laid.where[some], -1, K, stack, made)
            frame(K[:width], own, laid.starts[p], laid.stops[p], goals.lambda2, sign)
        links = Links(before, np.empty((stop - p, width)), np.empty((stop - p, width)), np.empty(width))
        for k in range(p, stop):
            if programs.flags[k, STOP] == 0:
                one = _one(programs, k, K, rooms, mu)
                _begin(one, programs, links, k, p)
                limit = min(STEPS * len(own), goals.most)
                programs.limits[k] = limit
                programs.steps[k] += rounds(
                    code, walk, one, part, links.products[k - p], goals, INNER * goals.tol, limit
                )
                _keep(one, links, k, p)
        _products(K[:width], programs, own, p, stop, links.products)
        for k in range(p, stop):
            if programs.flags[k, STOP] == 0:
                _prove(code, walk, _one(programs, k, K, rooms, mu), part, programs, links.products[k - p], goals, k)
        p = stop


@jit
def _run_from(programs: Any, p: int) -> int:
    """Return the first program after p that has another matrix."""
    laid, stop, n = programs.laid, p + 1, len(programs.steps)
    if not len(laid.groups):
        return n
    while stop < n:
        a, b, c = laid.first_group[p], laid.first_group[stop], laid.first_group[stop + 1]
        if c - b != laid.first_group[p + 1] - a or laid.widths[stop] != laid.widths[p]:
            return stop
        for k in range(c - b):
            if laid.groups[a + k] != laid.groups[b + k] or laid.where[a + k] != laid.where[b + k]:
                return stop
        one, other = _signs(programs, p), _signs(programs, stop)
        for i in range(len(one)):
            if one[i] != other[i]:
                return stop
        stop += 1
    return stop


@jit
def _signs(programs: Any, p: int) -> Any:
    return programs.sign[programs.first[p] : programs.first[p + 1]] if len(programs.sign) else programs.sign


@jit
def _one(programs: Any, p: int, K: Any, rooms: Any, mu: Any) -> Any:
    """Return a program; its point and its bounds are at their places."""
    laid, a, b = programs.laid, programs.first[p], programs.first[p + 1]
    width = laid.widths[p]
    row = programs.row[a:b] if len(programs.row) else programs.row
    for k in range(1, 6):
        for i in range(width):
            rooms[k, i] = 0.0
    one = One(
        K[:width], laid.places[a:b], laid.starts[p], programs.t[a:b], programs.lower[a:b], programs.upper[a:b], row,
        _signs(programs, p), programs.totals[p], programs.beta[a:b], programs.g[a:b], programs.measures[p],
        programs.flags[p], mu, rooms[0, : b - a], rooms[1, :width], rooms[2, :width], rooms[3, :width],
        rooms[4, :width], rooms[5, :width],
    )  # fmt: skip
    place(one)
    return one


@jit
def _begin(one: Any, programs: Any, links: Any, p: int, first: int) -> None:
    """Go to the start: that of the caller, or the solution of another program with the same variables at bounds."""
    product, held, last = links.products[p - first], links.held[p - first], links.before[p]
    grown, same, alike = 1.0, 1.0, False
    one.line[:] = 0.0  # the point whose product is known
    if last >= first:
        same = programs.units[last] / programs.units[p]
        grown, alike = _followed(one, programs, last, same, links.bounded)
    if alike:
        old, part = links.products[last - first], links.held[last - first]
        for i in range(len(product)):
            held[i] = grown * part[i]
            product[i] = held[i] + same * (old[i] - part[i])
    else:
        one.line[:] = 0.0
        links.bounded[:] = 0.0
        product[:] = 0.0
        held[:] = 0.0
    for r in range(len(one.starts) - 1):
        if len(one.totals):
            some = slice(one.starts[r], one.starts[r + 1])
            balance(one.new[some], one.low[some], one.high[some], one.totals[r])
    add_changes(one.K, one.new, one.line, product)


@jit
def _followed(one: Any, programs: Any, last: int, same: float, bounded: Any) -> Any:
    """Set the point to the solution of another program; return how bounds have grown, and whether all are alike."""
    bounded[:] = 0.0
    a, grown, known = programs.first[last], same, False
    for i in range(len(one.own)):
        value, low, high = programs.beta[a + i], programs.lower[a + i], programs.upper[a + i]
        if _at_bound(value, low, high) and one.lower[i] < one.upper[i]:
            new = one.upper[i] if value == high else one.lower[i]
            if not known:
                grown, known = new / value, True
            if abs(new - grown * value) > ALIKE * abs(new):
                return grown, False
    for i in range(len(one.own)):
        at, value, low, high = one.own[i], programs.beta[a + i], programs.lower[a + i], programs.upper[a + i]
        held, gone = _at_bound(value, low, high), one.lower[i] == one.upper[i]
        new = (grown if held else same) * value
        if held and not gone:
            new = one.upper[i] if value == high else one.lower[i]
        if len(one.sign) and one.sign[i] < 0.0:
            new = -new
        bounded[at] = new if held else 0.0
        one.new[at], one.line[at] = min(max(new, one.low[at]), one.high[at]), new
    return grown, True


@jit
def _at_bound(value: float, low: float, high: float) -> bool:
    return value != 0.0 and (value in (low, high))


@jit
def _keep(one: Any, links: Any, p: int, first: int) -> None:
    """Take over the point, and the part of K beta that is of variables at a bound."""
    for i in range(len(one.own)):
        value = one.new[one.own[i]]
        one.beta[i] = one.sign[i] * value if len(one.sign) else value
    for i in range(len(one.new)):
        one.line[i] = one.new[i] if _at_bound(one.new[i], one.low[i], one.high[i]) else 0.0
    add_changes(one.K, one.line, links.bounded, links.held[p - first])


@jit
def _products(K: Any, programs: Any, own: Any, first: int, stop: int, out: Any) -> None:
    """Set out[p - first] to K beta of each program of a run, in one pass over K; few columns and rows at a time."""
    out[:] = 0.0
    n, width, sign = len(own), len(K), _signs(programs, first)
    for left in range(0, width, COLUMNS):
        right = min(width, left + COLUMNS)
        for i in range(0, n, ROWS):
            i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            k0, k1 = K[own[i], left:right], K[own[i1], left:right]
            k2, k3 = K[own[i2], left:right], K[own[i3], left:right]
            for p in range(first, stop):
                beta = programs.beta[programs.first[p] : programs.first[p + 1]]
                w0, w1, w2, w3 = beta[i], beta[i1], beta[i2], beta[i3]
                if w0 == 0.0 and w1 == 0.0 and w2 == 0.0 and w3 == 0.0:
                    continue
                if len(sign):
                    w0, w1, w2, w3 = sign[i] * w0, sign[i1] * w1, sign[i2] * w2, sign[i3] * w3
                w1, w2 = w1 if i + 1 < n else 0.0, w2 if i + 2 < n else 0.0
                w3 = w3 if i + 3 < n else 0.0
                line = out[p - first, left:right]
                for t in range(right - left):
                    line[t] += ((w0 * k0[t] + w1 * k1[t]) + w2 * k2[t]) + w3 * k3[t]


@jit
def _prove(code: Any, walk: Any, one: Any, part: Any, programs: Any, product: Any, goals: Any, p: int) -> None:
    """Find the bias and prove the solution at a product that was made anew; go on where that is not enough."""
    bounds, largest, signed = (one.lower, one.upper, goals.epsilon), goals.magnitude + goals.lambda2, len(one.sign) > 0
    aim, tries = goals.tol, TRIES
    while True:
        used = 0
        for i in range(len(one.own)):
            value = product[one.own[i]]
            one.g[i] = (one.sign[i] * value if signed else value) - one.t[i]
            used += one.beta[i] != 0.0
        call(*code.bias, one.beta, one.g, *bounds, one.row, one.sign, one.mu)
        of_beta = len(one.mu) == 0 or signed
        programs.biases[p] = goals.lambda2 * total(one.beta) if of_beta else total(one.mu) / len(one.mu)
        margin = margin_of(one.mu, signed)
        programs.half_widths[p] = -margin
        more = programs.steps[p] < programs.limits[p] and one.flag[STOP] == 0 and one.flag[BENT] == 0
        if more and programs.margins[p] < margin < 1.0:
            unit = power(margin)
            enlarge(one, programs, p, unit)
            for i in range(len(product)):
                product[i] /= unit
            programs.limits[p], aim = min(programs.steps[p] + STEPS * len(one.own), goals.most), goals.tol
        else:
            call(*code.least, one.beta, one.g, *bounds, one.row, one.sign, one.mu)
            bound(one.beta, CARE * (goals.rounding + UNIT * (used + 8.0) * largest), one.errors)
            call(
                *code.proof,
                one.beta,
                one.g,
                one.errors,
                one.t,
                *bounds,
                one.row,
                one.sign,
                one.totals,
                one.mu,
                one.found,
            )
            far = one.found[5] - one.found[3] > aim
            if far and more and tries:
                tries -= 1
            else:
                aim = nearer(one.found, aim, goals.gap_tol, one.beta, one.g, largest, 8) if more else 0.0
                if not aim:
                    return
        steps = rounds(code, walk, one, part, product, goals, INNER * aim, programs.limits[p] - programs.steps[p])
        programs.steps[p] += steps
        if not steps:
            tries = 0
        for i in range(len(one.own)):
            value = one.new[one.own[i]]
            one.beta[i] = one.sign[i] * value if signed else value
        product[:] = 0.0
        one.line[:] = 0.0
        add_changes(one.K, one.new, one.line, product)
