"""The processor that code is compiled for, and the classes of processors that code can be compiled for elsewhere."""

from __future__ import annotations

import functools

from .collector import collector_paused
from .uninterrupted import uninterrupted

with uninterrupted(), collector_paused():
    from numba.core import config
    from numba.core.codegen import get_host_cpu_features

_V3 = (
    "+avx,+avx2,+bmi,+bmi2,+cx16,+f16c,+fma,+lzcnt,+movbe,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave"
)

#: The features of each class, as LLVM writes them, under LLVM's name of the class; the best class first. A processor is
#: of the first class all of whose features with a plus it has. LLVM would use half of a vector in class x86-64-v4.
PROCESSOR_CLASSES = {
    "x86-64-v4": f"{_V3},+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,-prefer-256-bit",
    "x86-64-v3": _V3,
    "generic": "+neon",  # aarch64
}


@functools.cache
def features() -> frozenset[str]:
    """Return the features that the compiler uses in this process, as ``+name``.

    They are those of the processor, unless the variables NUMBA_CPU_FEATURES, NUMBA_CPU_NAME or NUMBA_ENABLE_AVX say
    something else.
    """
    given = vars(config)["CPU_FEATURES"]
    found = get_host_cpu_features() if given is None else given
    return frozenset(one for one in found.split(",") if one.startswith("+"))


def needed(name: str) -> frozenset[str]:
    """Return the features that a processor of a class has."""
    return frozenset(one for one in PROCESSOR_CLASSES[name].split(",") if one.startswith("+"))


def processor_class(has: frozenset[str]) -> str | None:
    """Return the name of the best class with these features; None if there is no such class."""
    return next((name for name in PROCESSOR_CLASSES if needed(name) <= has), None)
