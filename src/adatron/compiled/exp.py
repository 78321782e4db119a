"""exp(-rate v) for the compiled tiles, in both precisions.

2^x with x = -rate log2(e) v is split into k + r with |r| <= 1/2. Let m be the bits of the mantissa. x + 1.5 * 2^m is
rounded to an integer, whose lowest bits are those of k; r is rounded once. A polynomial gives 2^r, and k is added to
its exponent; no conversion between floats and integers is needed. The relative error of 2^x is below 2 units in the
last place. Values below 2^(low - 1/2), about the least normal number, become 0.

The instructions are written for EXP_VECTORS vectors side by side. A compiler would leave one vector after the other,
each a chain in which every instruction waits for the one before.
"""

from __future__ import annotations

from math import factorial, log
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from .cache.jit import JIT_DISABLED, cgutils, intrinsic, numba_types
from .micro import VECTOR_BYTES, multiply_add

EXP_VECTORS = 4  # Vectors side by side: enough for the processor to fill the time that each instruction takes.
_LOG2E = 1.4426950408889634  # log2 e: exp(x) is 2^(x log2 e).


class _Format(NamedTuple):
    """Constants of a precision: k is at least ``low``, ``least`` is the least number, ``p[i]`` goes with r^(i + 1)."""

    bits: int
    mantissa: int
    low: float
    least: float
    p: list[float]


# The polynomial with the smallest relative error (3e-9), each coefficient rounded before the next one is found.
_SINGLE = _Format(
    32,
    23,
    -125.0,
    float(np.finfo(np.float32).min),
    [0.6931472, 0.24022648, 0.0555036, 0.009618506, 0.0013390806, 0.00015326471],
)
_DOUBLE = _Format(
    64,
    52,
    -1021.0,
    float(np.finfo(np.float64).min),
    [log(2.0) ** i / factorial(i) for i in range(1, 14)],
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
        return [ir.Constant(self.vector, [float(kind(value))] * self.lanes)] * EXP_VECTORS

    def integer(self, value: int) -> list[Any]:
        return [ir.Constant(self.integers, [value] * self.lanes)] * EXP_VECTORS

    def each(self, instruction: Any, *operands: list[Any]) -> list[Any]:
        return [instruction(*values) for values in zip(*operands, strict=True)]

    def fma(self, a: list[Any], b: list[Any], c: list[Any]) -> list[Any]:
        return self.each(lambda x, y, z: multiply_add(self.builder, self.vector, x, y, z), a, b, c)

    def power(self, factor: list[Any], v: list[Any]) -> list[Any]:
        """Emit 2^(factor v) for factor v <= 0; the nan of an undefined operation stays nan."""
        build, kind = self.builder, self.kind
        magic, zero, one = 1.5 * 2.0**kind.mantissa, self.number(0.0), self.number(1.0)
        shifted = self.fma(factor, v, self.number(magic))
        r = self.fma(factor, v, self.each(build.fsub, self.number(magic), shifted))
        value = self.number(kind.p[-1])
        for coefficient in reversed(kind.p[:-1]):
            value = self.fma(value, r, self.number(coefficient))
        exponent = self.each(build.shl, self.as_integers(shifted), self.integer(kind.mantissa))
        bits = self.each(build.add, self.as_integers(self.fma(value, r, one)), exponent)
        value = self.each(lambda bits: build.bitcast(bits, self.vector), bits)
        low = self.each(lambda k, end: build.fcmp_ordered("<", k, end), shifted, self.number(magic + kind.low))
        return self.each(build.select, low, zero, value)

    def as_integers(self, x: list[Any]) -> list[Any]:
        return self.each(lambda v: self.builder.bitcast(v, self.integers), x)


def _emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = signature.args[0]
    kind = _SINGLE if array.dtype.bitwidth == 32 else _DOUBLE
    scalar = context.get_value_type(array.dtype)
    emitter = _Emitter(builder, scalar, kind)
    data, i64 = context.make_array(array)(context, builder, args[0]).data, ir.IntType(64)
    factor = builder.fmul(args[1], ir.Constant(ir.DoubleType(), -_LOG2E))
    least = ir.Constant(ir.DoubleType(), kind.least)
    factor = builder.select(builder.fcmp_ordered("<", factor, least), least, factor)  # 0 times the factor is then 0
    if kind is _SINGLE:
        factor = builder.fptrunc(factor, scalar)
    lane = builder.insert_element(ir.Constant(emitter.vector, ir.Undefined), factor, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), emitter.lanes), [0] * emitter.lanes)
    factors = [builder.shuffle_vector(lane, lane, zeros)] * EXP_VECTORS
    step = i64(EXP_VECTORS * emitter.lanes)
    with cgutils.for_range(builder, builder.sdiv(args[2], step)) as loop:
        base = builder.mul(loop.index, step)
        offsets = [builder.add(base, i64(v * emitter.lanes)) for v in range(EXP_VECTORS)]
        places = [builder.bitcast(builder.gep(data, [o]), emitter.vector.as_pointer()) for o in offsets]
        values = [builder.load(place, align=kind.bits // 8) for place in places]
        for value, place in zip(emitter.power(factors, values), places, strict=True):
            builder.store(value, place, align=kind.bits // 8)
    return context.get_dummy_value()


@intrinsic
def _decay(typingctx: Any, values: Any, rate: Any, n: Any) -> Any:
    return numba_types.void(values, numba_types.float64, numba_types.int64), _emit


def _plain_decay(values: Any, rate: float, n: int) -> None:
    values[:n] = np.exp(-rate * values[:n].astype(np.float64))


#: ``decay(values, rate, n)``: the first n entries v >= 0, a multiple of CHUNK, become exp(-rate v), in place.
decay: Any = _plain_decay if JIT_DISABLED else _decay
