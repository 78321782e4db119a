"""Weighted sums of rows of a tile and of stored rows, in double precision.

The sums of some columns stay in registers while BAND rows go by; a compiler's loop would read and write them for every
four rows. Rows are added one after the other: the bits are those of a plain loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from .cache.jit import JIT_DISABLED, cgutils, intrinsic, numba_types
from .micro import VECTOR_BYTES, multiply_add

LANES = VECTOR_BYTES // 8  # Numbers of a vector in float64.
SUM_VECTORS = 8  # Vectors of sums in registers; their columns divide a CHUNK.
BAND = 16  # Rows that go by before the next columns: in stored rows, far apart, neighbouring columns come soon after.


class _Sum:
    """Emits the loops: over parts of the columns, and in each over the rows."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.builder, self.i64, self.vector = builder, ir.IntType(64), ir.VectorType(ir.DoubleType(), LANES)
        tile, self.base, store, self.column, where, weights, self.start, self.stop, total = (
            context.make_array(kind)(context, builder, value) if isinstance(kind, numba_types.Array) else value
            for kind, value in zip(signature.args, args, strict=True)
        )
        self.narrow = ir.VectorType(context.get_value_type(signature.args[0].dtype), LANES)
        self.size = signature.args[0].dtype.bitwidth // 8
        self.tile, self.store, self.where, self.weights, self.total = (
            array.data for array in (tile, store, where, weights, total)
        )
        self.width, self.stride = (cgutils.unpack_tuple(builder, array.shape)[1] for array in (tile, store))
        self.zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        self.sums = [cgutils.alloca_once(builder, self.vector) for _ in range(SUM_VECTORS)]

    def emit(self) -> None:
        build = self.builder
        with cgutils.for_range_slice(build, self.start, self.stop, self.i64(BAND), self.i64) as (start, _):
            end = build.add(start, self.i64(BAND))
            self._some(start, build.select(build.icmp_signed("<", end, self.stop), end, self.stop))

    def _some(self, start: Any, stop: Any) -> None:
        """Add some rows."""
        build, some = self.builder, self.i64(SUM_VECTORS * LANES)
        with cgutils.for_range(build, build.sdiv(self.width, some)) as part:
            first = build.mul(part.index, some)
            places = [build.gep(self.total, [build.add(first, self.i64(v * LANES))]) for v in range(SUM_VECTORS)]
            places = [build.bitcast(place, self.vector.as_pointer()) for place in places]
            for total, place in zip(self.sums, places, strict=True):
                build.store(build.load(place, align=8), total)
            with cgutils.for_range(build, build.sub(stop, start)) as line:
                self._add(build.add(line.index, start), first)
            for total, place in zip(self.sums, places, strict=True):
                build.store(build.load(total), place, align=8)

    def _add(self, k: Any, first: Any) -> None:
        """Add some columns of a row, times its weight."""
        build, i64 = self.builder, self.i64
        number, weight = (build.load(build.gep(array, [k])) for array in (self.where, self.weights))
        made = build.icmp_signed(">=", number, i64(0))
        in_tile = build.mul(build.sub(number, self.base), self.width)
        stored = build.add(build.mul(build.sub(i64(-1), number), self.stride), self.column)
        at = build.add(build.select(made, in_tile, stored), first)
        row = build.gep(build.select(made, self.tile, self.store), [at])
        lane = build.insert_element(ir.Constant(self.vector, ir.Undefined), weight, ir.IntType(32)(0))
        lanes = build.shuffle_vector(lane, lane, self.zeros)
        for v, total in enumerate(self.sums):
            place = build.bitcast(build.gep(row, [i64(v * LANES)]), self.narrow.as_pointer())
            values = build.load(place, align=self.size)
            wide = build.fpext(values, self.vector) if self.size < 8 else values
            build.store(multiply_add(build, self.vector, lanes, wide, build.load(total)), total)


@intrinsic
def _add_weighted(
    typingctx: Any,
    tile: Any,
    base: Any,
    store: Any,
    column: Any,
    where: Any,
    weights: Any,
    i: Any,
    stop: Any,
    total: Any,
) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _Sum(context, builder, signature, args).emit()
        return context.get_dummy_value()

    n = numba_types.int64
    return numba_types.void(tile, n, store, n, where, weights, n, n, total), build


def _plain_add_weighted(
    tile: Any, base: int, store: Any, column: int, where: Any, weights: Any, i: int, stop: int, total: Any
) -> None:
    """Add the weighted rows in NumPy, for runs with compilation switched off."""
    width = tile.shape[1]
    for number, weight in zip(where[i:stop], weights[i:stop], strict=True):
        row = tile[number - base] if number >= 0 else store[-1 - number, column : column + width]
        total[:width] += weight * row.astype(np.float64)


#: ``add_weighted(tile, base, store, column, where, weights, i, stop, total)``: total[t] += the sum over i <= k < stop
#: of weights[k] * row[t], the row being number ``where[k] - base`` of the tile, or, if that is negative, number
#: ``-1 - where[k]`` of the store from a column on. A tile has whole CHUNKs of columns; arrays are in C order.
add_weighted: Any = _plain_add_weighted if JIT_DISABLED else _add_weighted
