"""exp for the compiled tiles, in both precisions.

Cody-Waite reduction x = k ln 2 + r with |r| <= ln 2 / 2, a polynomial in r, and 2^k put into the exponent's
bits. k is read from the mantissa of x / ln 2 + 1.5 * 2^m, so no conversion between floats and integers stands in
the way of the vectoriser. Relative error below 2 units in the last place; arguments are clamped to the
range of normal numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ._jit import intrinsic, numba_types, overload_compiled

_LOG2E = 1.4426950408889634


def exp(x: Any) -> Any:
    """e^x in the type of x (this body serves when compilation is switched off)."""
    return np.exp(x)


@intrinsic
def _power(typingctx: Any, shifted: Any) -> Any:
    """2^k for shifted = k + 1.5 * 2^m, m the width of the mantissa."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        width, mantissa, bias = (32, 23, 127) if shifted.bitwidth == 32 else (64, 52, 1023)
        integer = ir.IntType(width)
        exponent = builder.add(builder.bitcast(args[0], integer), integer(bias))
        return builder.bitcast(builder.shl(exponent, integer(mantissa)), args[0].type)

    return shifted(shifted), build


_power_of_two: Any = _power


def _exp32(x: Any) -> Any:
    f = np.float32
    x = min(max(x, f(-87.0)), f(88.0))
    shifted = x * f(_LOG2E) + f(12582912.0)
    k = shifted - f(12582912.0)
    r = (x - k * f(0.693359375)) + k * f(2.12194440e-4)
    p = ((f(1.9875691500e-4) * r + f(1.3981999507e-3)) * r + f(8.3334519073e-3)) * r + f(4.1665795894e-2)
    p = (p * r + f(1.6666665459e-1)) * r + f(5.0000001201e-1)
    return (p * (r * r) + r + f(1.0)) * _power_of_two(shifted)


def _exp64(x: Any) -> Any:
    x = min(max(x, -708.0), 709.0)
    shifted = x * _LOG2E + 6755399441055744.0
    k = shifted - 6755399441055744.0
    r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6
    p = ((1.0 / 6227020800.0 * r + 1.0 / 479001600.0) * r + 1.0 / 39916800.0) * r + 1.0 / 3628800.0
    p = ((p * r + 1.0 / 362880.0) * r + 1.0 / 40320.0) * r + 1.0 / 5040.0
    p = (((p * r + 1.0 / 720.0) * r + 1.0 / 120.0) * r + 1.0 / 24.0) * r + 1.0 / 6.0
    p = p * r + 0.5
    return (p * (r * r) + r + 1.0) * _power_of_two(shifted)


@overload_compiled(exp, inline="always")
def _compiled_exp(x: Any) -> Any:
    return _exp32 if x == numba_types.float32 else _exp64
