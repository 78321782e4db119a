"""The innermost loop: one register block of a product of packed panels.

BLAS is not used because the last bits of its float32 products depend on an entry's place in the matrix (seen with
OpenBLAS on AVX2: every shape, every d >= 8). Here an entry is one chain of fused multiply-adds in the order of the
features. It depends on the two rows alone, is symmetric, and is equal on every machine with fused multiply-add. Packed
once, panels also run faster than a general product, most of all for few features.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir

from .cache.jit import JIT_DISABLED, cgutils, intrinsic, numba_types
from .cache.precompiled import features, needed


def layout(has: frozenset[str]) -> tuple[int, int, bool]:
    """Return the bytes of a vector, the number of vector registers, and whether multiply-add is fused.

    All processors of a class (``cache.precompiled``) have the same layout, so that they can share compiled code.
    """
    if needed("x86-64-v4") <= has:
        return 64, 32, True
    if "+avx" in has:
        return 32, 16, "+fma" in has
    return 16, 32, platform.machine().lower() in ("aarch64", "arm64")


VECTOR_BYTES, _REGISTERS, _FUSED = layout(features())  # Of this processor.
BLOCK_POINTS = 6 if _REGISTERS == 16 else 12  # Points of a register block.
_VECTORS = 2  # Vectors of rows in a register block.


def rows_width(dtype: Any) -> int:
    """Return the rows of a register block, which is the width of a packed panel of rows."""
    return _VECTORS * VECTOR_BYTES // np.dtype(dtype).itemsize


def multiply_add(builder: Any, vector: Any, a: Any, b: Any, c: Any) -> Any:
    """Emit the instruction a * b + c for vectors, fused if the machine can do it."""
    if not _FUSED:
        return builder.fadd(builder.fmul(a, b), c)
    bits = 32 if isinstance(vector.element, ir.FloatType) else 64
    name = f"llvm.fma.v{vector.count}f{bits}"
    fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)
    return builder.call(fma, [a, b, c])


class _RegisterBlock:
    """Emits the instructions for one register block: load, multiply-add along the features, store."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        types = signature.args
        scalar = context.get_value_type(types[0].dtype)
        self.size = types[0].dtype.bitwidth // 8
        self.lanes = VECTOR_BYTES // self.size
        self.vector = ir.VectorType(scalar, self.lanes)
        self.builder = builder

        def pointer(i: int) -> Any:
            return builder.gep(context.make_array(types[i])(context, builder, args[i]).data, [args[i + 1]])

        self.points, self.rows, self.out = pointer(0), pointer(2), pointer(5)
        self.features, self.stride, self.fresh = args[4], args[7], args[8]
        self.sums = [[cgutils.alloca_once(builder, self.vector) for _ in range(_VECTORS)] for _ in range(BLOCK_POINTS)]

    def _vector_at(self, base: Any, offset: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(base, [offset]), self.vector.as_pointer())

    def _each(self) -> Any:
        i64 = ir.IntType(64)
        for i in range(BLOCK_POINTS):
            for v in range(_VECTORS):
                offset = self.builder.add(self.builder.mul(i64(i), self.stride), i64(v * self.lanes))
                yield self.sums[i][v], self._vector_at(self.out, offset)

    def emit(self) -> None:
        build = self.builder
        for row in self.sums:
            for total in row:
                build.store(ir.Constant(self.vector, [0.0] * self.lanes), total)
        with cgutils.for_range(build, self.features) as loop:
            self._feature(loop.index)
        with build.if_else(self.fresh) as (first, later):
            with first:
                for total, place in self._each():
                    build.store(build.load(total), place, align=self.size)
            with later:
                for total, place in self._each():
                    whole = build.fadd(build.load(place, align=self.size), build.load(total))
                    build.store(whole, place, align=self.size)

    def _feature(self, k: Any) -> None:
        i64, build = ir.IntType(64), self.builder
        row = build.gep(self.rows, [build.mul(k, i64(_VECTORS * self.lanes))])
        point = build.gep(self.points, [build.mul(k, i64(BLOCK_POINTS))])
        rows = [build.load(self._vector_at(row, i64(v * self.lanes)), align=self.size) for v in range(_VECTORS)]
        undefined = ir.Constant(self.vector, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        for i in range(BLOCK_POINTS):
            value = build.insert_element(undefined, build.load(build.gep(point, [i64(i)])), ir.IntType(32)(0))
            value = build.shuffle_vector(value, undefined, zeros)
            for v in range(_VECTORS):
                total = build.load(self.sums[i][v])
                build.store(multiply_add(build, self.vector, value, rows[v], total), self.sums[i][v])


@intrinsic
def _register_block(
    typingctx: Any, points: Any, p0: Any, rows: Any, r0: Any, d: Any, out: Any, o0: Any, stride: Any, fresh: Any
) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _RegisterBlock(context, builder, signature, args).emit()
        return context.get_dummy_value()

    n = numba_types.int64
    return numba_types.void(points, n, rows, n, n, out, n, n, numba_types.boolean), build


def _plain_block(points: Any, p0: int, rows: Any, r0: int, d: int, out: Any, o0: int, stride: int, fresh: bool) -> None:
    """Compute a register block in NumPy, for runs with compilation switched off."""
    width = rows_width(rows.dtype)
    a = points[p0 : p0 + d * BLOCK_POINTS].reshape(d, BLOCK_POINTS)
    b = rows[r0 : r0 + d * width].reshape(d, width)
    place = o0 + stride * np.arange(BLOCK_POINTS)[:, None] + np.arange(width)
    total = np.zeros((BLOCK_POINTS, width), out.dtype)
    for k in range(d):  # in the order of the features, as proofs of its errors expect
        total += a[k][:, None] * b[k]
    out[place] = total if fresh else out[place] + total


#: ``register_block(points, p0, rows, r0, d, out, o0, stride, fresh)`` on flat arrays: out[o0 + i*stride + j] (+)=
#: sum over k of points[p0 + k*BLOCK_POINTS + i] * rows[r0 + k*width + j].
register_block: Any = _plain_block if JIT_DISABLED else _register_block
