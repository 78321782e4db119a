"""exp for the compiled tiles, in both precisions.

Cody-Waite reduction x = k ln 2 + r with |r| <= ln 2 / 2, a polynomial in r, and 2^k put into the exponent's
bits. k is read from the mantissa of x / ln 2 + 1.5 * 2^m, so no conversion between floats and integers is needed.
Relative error below 2 units in the last place; arguments are clamped to the range of normal numbers.

The instructions are written for UNROLL vectors side by side: a compiler leaves one vector after the other, each a
chain in which every instruction waits for the one before.
"""

from __future__ import annotations

from math import factorial
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from ._jit import JIT_DISABLED, cgutils, intrinsic, numba_types
from .micro import VECTOR_BYTES, multiply_add

UNROLL = 4
_LOG2E = 1.4426950408889634


class _Format(NamedTuple):
    """Constants of a precision. ``ln2`` in two parts; ``p[i]`` goes with r^(i + 2)."""

    bits: int
    mantissa: int
    low: float
    high: float
    ln2: tuple[float, float]
    p: list[float]


_SINGLE = _Format(
    32,
    23,
    -87.0,
    88.0,
    (0.693359375, -2.12194440e-4),
    [5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4],
)
_DOUBLE = _Format(
    64,
    52,
    -708.0,
    709.0,
    (6.93145751953125e-1, 1.42860682030941723212e-6),
    [1.0 / factorial(i) for i in range(2, 14)],
)


class _Emitter:
    """Emits each instruction for all vectors, then the next one."""

    def __init__(self, builder: Any, scalar: Any, kind: _Format) -> None:
        self.builder, self.kind = builder, kind
        self.lanes = 8 * VECTOR_BYTES // kind.bits
        self.vector = ir.VectorType(scalar, self.lanes)
        self.integers = ir.VectorType(ir.IntType(kind.bits), self.lanes)

    def number(self, value: float) -> list[Any]:
        kind = np.float32 if self.kind.bits == 32 else np.float64
        return [ir.Constant(self.vector, [float(kind(value))] * self.lanes)] * UNROLL

    def integer(self, value: int) -> list[Any]:
        return [ir.Constant(self.integers, [value] * self.lanes)] * UNROLL

    def each(self, instruction: Any, *operands: list[Any]) -> list[Any]:
        return [instruction(*values) for values in zip(*operands, strict=True)]

    def fma(self, a: list[Any], b: list[Any], c: list[Any]) -> list[Any]:
        return self.each(lambda x, y, z: multiply_add(self.builder, self.vector, x, y, z), a, b, c)

    def limit(self, sign: str, x: list[Any], end: float) -> list[Any]:
        """``end`` where x is beyond it; nan stays nan."""
        build, ends = self.builder, self.number(end)
        return self.each(lambda v, e: build.select(build.fcmp_ordered(sign, v, e), e, v), x, ends)

    def polynomial(self, terms: list[list[Any]], r: list[Any]) -> list[Any]:
        """sum_i terms[i] r^i in pairs (Estrin)."""
        if len(terms) == 1:
            return terms[0]
        pairs = [self.fma(terms[i + 1], r, terms[i]) for i in range(0, len(terms) - 1, 2)]
        return self.polynomial(pairs + terms[2 * len(pairs) :], self.each(self.builder.fmul, r, r))

    def exp(self, x: list[Any]) -> list[Any]:
        build, kind = self.builder, self.kind
        x = self.limit(">", self.limit("<", x, kind.low), kind.high)
        magic = self.number(1.5 * 2.0**kind.mantissa)
        shifted = self.fma(x, self.number(_LOG2E), magic)
        k = self.each(build.fsub, shifted, magic)
        r = self.fma(k, self.number(-kind.ln2[1]), self.fma(k, self.number(-kind.ln2[0]), x))
        p = self.polynomial([self.number(c) for c in kind.p], r)
        value = self.each(build.fadd, self.fma(p, self.each(build.fmul, r, r), r), self.number(1.0))
        return self.each(build.fmul, value, self._powers(shifted))

    def _powers(self, shifted: list[Any]) -> list[Any]:
        """2^k for shifted = k + 1.5 * 2^m."""
        build, kind = self.builder, self.kind
        bits = self.each(lambda v: build.bitcast(v, self.integers), shifted)
        exponent = self.each(build.add, bits, self.integer(2 ** (kind.bits - kind.mantissa - 2) - 1))
        bits = self.each(build.shl, exponent, self.integer(kind.mantissa))
        return self.each(lambda v: build.bitcast(v, self.vector), bits)


def _emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = signature.args[0]
    kind = _SINGLE if array.dtype.bitwidth == 32 else _DOUBLE
    emitter = _Emitter(builder, context.get_value_type(array.dtype), kind)
    data, i64 = context.make_array(array)(context, builder, args[0]).data, ir.IntType(64)
    step = i64(UNROLL * emitter.lanes)
    with cgutils.for_range(builder, builder.sdiv(args[1], step)) as loop:
        base = builder.mul(loop.index, step)
        offsets = [builder.add(base, i64(v * emitter.lanes)) for v in range(UNROLL)]
        places = [builder.bitcast(builder.gep(data, [o]), emitter.vector.as_pointer()) for o in offsets]
        found = emitter.exp([builder.load(place, align=kind.bits // 8) for place in places])
        for value, place in zip(found, places, strict=True):
            builder.store(value, place, align=kind.bits // 8)
    return context.get_dummy_value()


@intrinsic
def _exp(typingctx: Any, values: Any, n: Any) -> Any:
    return numba_types.void(values, numba_types.int64), _emit


def _plain_exp(values: Any, n: int) -> None:
    values[:n] = np.exp(values[:n])


#: ``exp(values, n)``: the first n entries, a multiple of CHUNK, become their exponentials, in place.
exp: Any = _plain_exp if JIT_DISABLED else _exp
