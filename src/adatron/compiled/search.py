"""Searches for the largest of many values. Compilers keep such loops scalar, and they are most of a solver's step.

A search makes its values while it compares them, and never stores them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from .cache.jit import JIT_DISABLED, cgutils, intrinsic, numba_types
from .micro import VECTOR_BYTES, multiply_add

SEARCHED_VECTORS = 4  # Vectors that are searched side by side.
AHEAD = 2048  # Bytes between the data that a search reads and the data that it prefetches.
CHUNK = 64  # Lengths must be multiples of this, or of ``shortest``.
# Searches for the best step, on processors and devices; ``cuda/blocks.cu`` has its own copy.
FORBIDDEN = 1e30  # Stands for "not allowed": finite, so that sums stay finite.
CHECK = 8  # Steps between looks at the stopping rule.
ROUNDING_UNIT = 2.0**-47  # Fraction of the larger of two numbers: the rounding of a few sums.


def shortest(dtype: Any) -> int:
    """Return the number of which the lengths of arrays in a precision must be multiples; CHUNK suits all."""
    return SEARCHED_VECTORS * VECTOR_BYTES // np.dtype(dtype).itemsize


class _Best(NamedTuple):
    """A value for each lane, given as a quotient if there is a ``below``, and its position."""

    value: Any
    below: Any
    place: Any


class _Search:
    """Emits a search: keep the best in each of SEARCHED_VECTORS vectors, then compare these and their lanes.

    NaN is never best, unless the searching function promises that there is no NaN. Fractions are compared up to
    rounding.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any, arrays: int) -> None:
        """Take the arguments: the first ``arrays`` are arrays, the last one is their length, the others are numbers."""
        self.builder, types = builder, signature.args
        self.scalar = context.get_value_type(types[0].dtype)
        self.size = types[0].dtype.bitwidth // 8
        self.lanes = VECTOR_BYTES // self.size
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.data = [
            context.make_array(t)(context, builder, a).data for t, a in zip(types[:arrays], args, strict=False)
        ]
        self.numbers = [self._spread(number) for number in args[arrays:-1]]
        self.n = args[-1]

    def _spread(self, number: Any, kind: Any = None) -> Any:
        one = self.builder.insert_element(ir.Constant(kind or self.vector, ir.Undefined), number, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, one, zeros)

    def constant(self, number: float) -> Any:
        return ir.Constant(self.vector, [number] * self.lanes)

    def load(self, array: int, at: Any) -> Any:
        return self.builder.load(self._pointer(array, at), align=self.size)

    def ahead(self, array: int, at: Any) -> None:
        """Prefetch what will be read soon: rows of a block come from far away, and the hardware guesses late."""
        build, i32 = self.builder, ir.IntType(32)
        byte = ir.IntType(8).as_pointer()
        place = build.bitcast(build.gep(self.data[array], [build.add(at, ir.IntType(64)(AHEAD // self.size))]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        fetch = build.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        build.call(fetch, [place, i32(0), i32(3), i32(1)])

    def store(self, value: Any, array: int, at: Any) -> None:
        self.builder.store(value, self._pointer(array, at), align=self.size)

    def _pointer(self, array: int, at: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(self.data[array], [at]), self.vector.as_pointer())

    def at_least(self, value: Any, least: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", value, least), value, least)

    def emit(self, values: Callable[[Any], tuple[Any, Any]]) -> Any:
        """Emit the first position of the largest; ``values`` makes a vector of values, or quotients, at a position."""
        build, i64, position = self.builder, ir.IntType(64), ir.IntType(8 * self.size)
        places = ir.VectorType(position, self.lanes)
        start = [self.constant(float("-inf")), self.constant(1.0), ir.Constant(places, [0] * self.lanes)]
        best = [[cgutils.alloca_once_value(build, one) for one in start] for _ in range(SEARCHED_VECTORS)]
        new = _Best(*start)
        step = i64(SEARCHED_VECTORS * self.lanes)
        with cgutils.for_range(build, build.sdiv(self.n, step)) as loop:
            base = build.mul(loop.index, step)
            narrow = base if self.size == 8 else build.trunc(base, position)
            here = self._spread(narrow, places)
            for v, rooms in enumerate(best):
                new = _Best(*values(build.add(base, i64(v * self.lanes))), here)
                old = self._kept(rooms, new)
                take = self._larger(new, old)
                for x, y, room in zip(new, old, rooms, strict=True):
                    if x is not None:
                        build.store(build.select(take, x, y), room)
        return self._first([self._kept(rooms, new) for rooms in best], places)

    def _kept(self, rooms: list[Any], like: _Best) -> _Best:
        return _Best(*(None if x is None else self.builder.load(room) for x, room in zip(like, rooms, strict=True)))

    def _larger(self, one: _Best, other: _Best) -> Any:
        if one.below is None:
            return self.builder.fcmp_ordered(">", one.value, other.value)
        left, right = self.builder.fmul(one.value, other.below), self.builder.fmul(other.value, one.below)
        return self.builder.fcmp_ordered(">", left, right)

    def _first(self, found: list[_Best], places: Any) -> Any:
        """Emit the position of the best of all vectors and lanes; of equal ones the first."""
        build, lanes = self.builder, self.lanes
        for v, one in enumerate(found):
            lane = ir.Constant(places, [v * lanes + i for i in range(lanes)])
            found[v] = one._replace(place=build.add(one.place, lane))
        while len(found) > 1:
            found = [self._better(*pair) for pair in zip(found[::2], found[1::2], strict=True)]
        top = found[0]
        while lanes > 1:
            lanes //= 2
            top = self._better(*(self._half(top, k * lanes, lanes) for k in (0, 1)))
        at = build.extract_element(top.place, ir.IntType(32)(0))
        return at if self.size == 8 else build.sext(at, ir.IntType(64))

    def _better(self, one: _Best, other: _Best) -> _Best:
        """Emit the larger of two in every lane; of equal ones the one with the first position."""
        build = self.builder
        first = build.icmp_signed("<", other.place, one.place)
        equal = build.not_(self._larger(one, other))
        take = build.or_(self._larger(other, one), build.and_(equal, first))
        return _Best(*(None if x is None else build.select(take, y, x) for x, y in zip(one, other, strict=True)))

    def _half(self, top: _Best, start: int, lanes: int) -> _Best:
        """Emit some neighbouring lanes."""
        which = ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(start, start + lanes)))
        return _Best(*(None if x is None else self.builder.shuffle_vector(x, x, which) for x in top))


def _argmax_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    search = _Search(context, builder, signature, args, 1)
    return search.emit(lambda at: (search.load(0, at), None))


@intrinsic
def _argmax(typingctx: Any, values: Any, n: Any) -> Any:
    return numba_types.int64(values, numba_types.int64), _argmax_code


def _follow_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    search = _Search(context, builder, signature, args, 4)

    def values(at: Any) -> tuple[Any, Any]:
        g, Ki, Kj, bar = (search.load(k, at) for k in range(4))
        search.ahead(2, at)
        g = multiply_add(builder, search.vector, search.numbers[0], builder.fsub(Ki, Kj), g)
        search.store(g, 0, at)
        return builder.fsub(bar, g), None

    return search.emit(values)


@intrinsic
def _follow(typingctx: Any, g: Any, Ki: Any, Kj: Any, bar: Any, shift: Any, n: Any) -> Any:
    return numba_types.int64(g, Ki, Kj, bar, g.dtype, numba_types.int64), _follow_code


def _partner_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    search = _Search(context, builder, signature, args, 4)
    m, kii, floor, twice = search.numbers

    def values(at: Any) -> tuple[Any, Any]:
        g, Ki, diagonal, bar = (search.load(k, at) for k in range(4))
        search.ahead(1, at)
        v = search.at_least(builder.fadd(builder.fadd(m, g), bar), search.constant(0.0))
        curvature = multiply_add(builder, search.vector, twice, Ki, builder.fadd(kii, diagonal))
        return builder.fmul(v, v), search.at_least(curvature, floor)

    return search.emit(values)


@intrinsic
def _partner(
    typingctx: Any, g: Any, Ki: Any, diagonal: Any, bar: Any, m: Any, kii: Any, floor: Any, twice: Any, n: Any
) -> Any:
    real = g.dtype
    return numba_types.int64(g, Ki, diagonal, bar, real, real, real, real, numba_types.int64), _partner_code


def _plain_argmax(values: Any, n: int) -> int:
    return int(np.argmax(values[:n]))


def _plain_follow(g: Any, Ki: Any, Kj: Any, bar: Any, shift: Any, n: int) -> int:
    g[:n] += shift * (Ki[:n] - Kj[:n])
    return int(np.argmax(bar[:n] - g[:n]))


def _plain_partner(g: Any, Ki: Any, diagonal: Any, bar: Any, m: Any, kii: Any, floor: Any, twice: Any, n: int) -> int:
    v = np.maximum((m + g[:n]) + bar[:n], 0)
    return int(np.argmax(v * v / np.maximum((kii + diagonal[:n]) + twice * Ki[:n], floor)))


#: ``argmax(values, n)``: first position of the largest of the first n entries, n a multiple of CHUNK, as for all.
argmax: Any = _plain_argmax if JIT_DISABLED else _argmax
#: ``follow(g, Ki, Kj, bar, shift, n)``: g += shift (Ki - Kj), and the first position of the largest bar - g.
follow: Any = _plain_follow if JIT_DISABLED else _follow
#: ``partner(g, Ki, diagonal, bar, m, kii, floor, twice, n)``: the first position of the largest
#: max(m + g + bar, 0)^2 / max(kii + diagonal + twice Ki, floor).
partner: Any = _plain_partner if JIT_DISABLED else _partner
