"""argmax on vectors. Compilers keep searches for a maximum scalar, and they are half of a solver's step."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ._jit import JIT_DISABLED, cgutils, intrinsic, numba_types
from .micro import VECTOR_BYTES

UNROLL = 4
CHUNK = 64  # lengths must be multiples of this


def _emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Keep the best value and its position in each of UNROLL vectors, then compare their lanes."""
    array = signature.args[0]
    scalar, i64 = context.get_value_type(array.dtype), ir.IntType(64)
    size = array.dtype.bitwidth // 8
    lanes = VECTOR_BYTES // size
    position = ir.IntType(8 * size)
    values, places = ir.VectorType(scalar, lanes), ir.VectorType(position, lanes)
    data = context.make_array(array)(context, builder, args[0]).data
    lowest, zeros = ir.Constant(values, [float("-inf")] * lanes), ir.Constant(places, [0] * lanes)
    splat = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    best = [cgutils.alloca_once_value(builder, lowest) for _ in range(UNROLL)]
    where = [cgutils.alloca_once_value(builder, zeros) for _ in range(UNROLL)]
    step = i64(UNROLL * lanes)
    with cgutils.for_range(builder, builder.sdiv(args[1], step)) as loop:
        base = builder.mul(loop.index, step)
        narrow = base if size == 8 else builder.trunc(base, position)
        here = builder.insert_element(ir.Constant(places, ir.Undefined), narrow, ir.IntType(32)(0))
        here = builder.shuffle_vector(here, ir.Constant(places, ir.Undefined), splat)
        for v in range(UNROLL):
            pointer = builder.gep(data, [builder.add(base, i64(v * lanes))])
            x = builder.load(builder.bitcast(pointer, values.as_pointer()), align=size)
            greater = builder.fcmp_ordered(">", x, builder.load(best[v]))
            builder.store(builder.select(greater, x, builder.load(best[v])), best[v])
            builder.store(builder.select(greater, here, builder.load(where[v])), where[v])
    top, at = ir.Constant(scalar, float("-inf")), ir.Constant(position, 0)
    for v in range(UNROLL):
        value, place = builder.load(best[v]), builder.load(where[v])
        for lane in range(lanes):
            x = builder.extract_element(value, ir.IntType(32)(lane))
            i = builder.add(builder.extract_element(place, ir.IntType(32)(lane)), position(v * lanes + lane))
            first = builder.and_(builder.fcmp_ordered("==", x, top), builder.icmp_signed("<", i, at))
            better = builder.or_(builder.fcmp_ordered(">", x, top), first)
            top, at = builder.select(better, x, top), builder.select(better, i, at)
    return at if size == 8 else builder.sext(at, i64)


@intrinsic
def _argmax(typingctx: Any, values: Any, n: Any) -> Any:
    return numba_types.int64(values, numba_types.int64), _emit


def _plain_argmax(values: Any, n: int) -> int:
    return int(np.argmax(values[:n]))


#: ``argmax(values, n)``: first position of the largest of the first n entries, n a multiple of CHUNK.
argmax: Any = _plain_argmax if JIT_DISABLED else _argmax
