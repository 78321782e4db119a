"""The arguments of the CUDA source's functions, one structure each, as the source declares them."""

from __future__ import annotations

from ctypes import Structure, c_double, c_int, c_void_p
from functools import cache
from typing import Any

BLOCK_SIZES = ((32, 2), (128, 2), (256, 2), (512, 2), (512, 4))  # threads of a block's solver, and variables of each


def _structure(name: str, pointers: str, doubles: str, integers: str, numbers: int = 0) -> type[Structure]:
    parts: list[Any] = [(one, c_void_p) for one in pointers.split()]
    parts += [(one, c_double) for one in doubles.split()] + [(one, c_int) for one in integers.split()]
    if numbers:
        parts.append(("numbers", c_double * numbers))
    return type(name, (Structure,), {"_fields_": parts})


@cache
def tile_arguments(numbers: int) -> dict[str, type[Structure]]:
    """Return the arguments of each function of ``tiles.cu`` for kernels with so many numbers."""
    values = _structure("Values", "X xn Z zn rows points active K", "added", "d m n stride", numbers)
    pointers = "X xn Z zn rows nrows points npoints weights partial"
    sums = _structure("Sums", pointers, "", "d N P first chunk problems", numbers)
    return {
        "norms": _structure("Norms", "X out", "", "d n"),
        "values_short": values,
        "values_long": values,
        "sums_short": sums,
        "sums_long": sums,
        "fold": _structure("Fold", "out low partial nrows npoints", "", "N first splits chunk problems"),
        "weighed": _structure("Weighed", "K W out", "", "m n columns stride"),
    }


@cache
def block_arguments() -> dict[str, type[Structure]]:
    """Return the arguments of each function of ``blocks.cu``."""
    pointers = "K places valid beta g lower upper sign group rows tolerance active most points changes counts steps"
    blocks = _structure("Blocks", pointers, "epsilon", "N groups")
    return {f"ascend_{threads}_{each}": blocks for threads, each in BLOCK_SIZES}
