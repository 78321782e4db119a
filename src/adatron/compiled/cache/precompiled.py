"""Compiled code that came with the package: a wheel of a platform brings some for each class of its processors.

It is read before the user's cache, and never written. Whoever can change it can change the package's Python files, too,
so it has their trust, and nobody's ownership is checked.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from .folder import precompiled_hash
from .kept import Kept
from .uninterrupted import collector_paused, uninterrupted

with uninterrupted(), collector_paused():
    from numba.core import config
    from numba.core.codegen import get_host_cpu_features

MACHINE_CODE = Path(__file__).parents[1] / "machine_code"  # scripts/make_wheel fills it
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


@functools.cache
def precompiled_folder() -> Path | None:
    """Return the folder with code for this processor, compiled from these sources by this numba; None if none came."""
    folder = MACHINE_CODE / precompiled_hash() / str(processor_class(features()))
    return folder if folder.is_dir() else None


def precompiled(name: str, key: Any) -> Any:
    """Return the code of a function that came, or None; the key names this processor, that of the file its class."""
    folder = precompiled_folder()
    if folder is None:
        return None
    signature, (triple, _, _), function = key
    kind = folder.name
    return Kept(folder / name, None, Path.read_bytes).load(
        (signature, (triple, kind, PROCESSOR_CLASSES[kind]), function)
    )
