"""Chains of programs in a bundle that differ in their bounds, or sums: the fits of a search.

Problem   as in ``many``, with float64 tiles. A program may start from one before it that has the same matrix.
Update    a program starts at the solution before it, with the same variables at their bounds. The part of K beta that
          is of bounded variables scales with the bounds, so the gradient there costs nothing. Then ``rounds``.
Stop      as in ``many``. The gradients of a run are made anew together, each row of K read once for all programs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...compiled.cache.jit import jit
from ...compiled.cache.pointer import Address, call
from ...compiled.sums import four
from ..dense.active_set import parts
from .rounds import InPlay, walking

TILE_COLUMNS, TILE_ROWS = 512, 4  # Columns and rows of K that are read at a time: they fit the first-level cache.
ALIKE_BOUNDS = 1e-12  # Relative difference up to which bounds have grown alike.


class Chain(NamedTuple):
    """The data that only chained programs need, at their places in the matrix.

    walk, steps : the code of the active set, and of its parts
    before : (n,) the program that each starts from, or -1
    held : (n, width) the part of K beta that is of variables at a bound, for the programs of a run
    bounded : (width,) the point whose ``held`` is known
    part : room for the variables in play
    """

    walk: Address
    steps: tuple[Address, Address]
    before: Ids
    held: NDArray[np.float64]
    bounded: Vector
    part: InPlay

    @classmethod
    def of(cls, before: Ids, width: int, equalities: int) -> Chain:
        """Return the chain of programs whose matrices have at most ``width`` rows."""
        held, part = np.empty((len(before), width)), InPlay.of(width, equalities)
        return cls(walking(), parts(np.dtype(np.float64)), before, held, np.empty(width), part)

    @classmethod
    def empty(cls) -> Chain:
        """Return an example of the type."""
        return cls.of(np.empty(0, np.int64), 0, 0)


@jit(inner=True)
def follow(one: Any, programs: Any, chain: Any, products: Any, p: int, first: int) -> None:
    """Go to the start: that of the caller, or the solution of another program with the same variables at bounds.

    ``line`` becomes a point, and the program's row of ``products`` K times it. The run begins with program ``first``.
    """
    product, held, last = products[p - first, : len(one.new)], chain.held[p - first], chain.before[p]
    grown, same, alike = 1.0, 1.0, False
    one.line[:] = 0.0
    if last >= first:
        same = programs.units[last] / programs.units[p]
        grown, alike = _followed(one, programs, last, same, chain.bounded)
    if alike:
        old, part = products[last - first], chain.held[last - first]
        for i in range(len(product)):
            held[i] = grown * part[i]
            product[i] = held[i] + same * (old[i] - part[i])
    else:
        one.line[:] = 0.0
        chain.bounded[:] = 0.0
        product[:] = 0.0
        held[:] = 0.0


@jit(inner=True)
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
            if abs(new - grown * value) > ALIKE_BOUNDS * abs(new):
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


@jit(inner=True)
def _at_bound(value: float, low: float, high: float) -> bool:
    return value != 0.0 and (value in (low, high))


@jit(inner=True)
def keep(code: Any, one: Any, chain: Any, held: Any) -> None:
    """Take over the point, and the part of K beta that is of variables at a bound."""
    for i in range(len(one.own)):
        value = one.new[one.own[i]]
        one.beta[i] = one.sign[i] * value if len(one.sign) else value
    for i in range(len(one.new)):
        one.line[i] = one.new[i] if _at_bound(one.new[i], one.low[i], one.high[i]) else 0.0
    call(*code.add, one.K, one.line, chain.bounded, held)


@jit(inner=True)
def multiply(K: Any, programs: Any, own: Any, sign: Any, first: int, stop: int, out: Any) -> None:
    """Set out[p - first] to K beta of each program of a run, in one pass over K; few columns and rows at a time."""
    out[: stop - first] = 0.0
    n, width = len(own), len(K)
    for left in range(0, width, TILE_COLUMNS):
        right = min(width, left + TILE_COLUMNS)
        for i in range(0, n, TILE_ROWS):
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
                    line[t] += four(w0, k0[t], w1, k1[t], w2, k2[t], w3, k3[t])
