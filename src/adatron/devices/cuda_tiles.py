"""Tiles by the CUDA source: which function is launched, on how many thread blocks, with which arguments.

Rows and points are lines of operands. ``rows`` (B, m) and ``points`` (B, p) number them for B problems, as int32. An
engine compiles the source and launches its functions: on a GPU, or in tests on the processor.
"""

from __future__ import annotations

from ctypes import Structure, c_double, c_int, c_void_p
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..extras import torch
from ..kernels import Kernel
from .nvrtc import CudaFunctions, Nvrtc
from .program import program

DEEP = 8  # Features that a tile takes at a time: operands have a multiple of it.
BLOCK_SIZES = ((32, 2), (128, 2), (256, 2), (512, 2), (512, 4))  # threads of a block's solver, and variables of each
PARTIAL = 512  # Points of one partial sum: fixed, so that bits do not depend on the device.
SPLITS = 16  # Partial sums at a time.
ONE_CHAIN = 128  # Features up to which a product is one chain.
BATCHES = 65535  # Most thread blocks along the second and the third axis of a grid.


class DeviceOperand(NamedTuple):
    """Rows of features, float32 or float64, and their squared norms."""

    X: Any  # (n, d), d a multiple of DEEP
    norms: Any  # (n,)


class DeviceBlock(NamedTuple):
    """Blocks of B programs, to be solved where they are; see ``cuda/blocks.cu`` for the shapes."""

    K: Any
    places: Any
    valid: Any
    beta: Any
    g: Any
    lower: Any
    upper: Any
    sign: Any
    group: Any
    rows: Any
    tolerance: Any
    active: Any
    most: Any
    points: Any
    changes: Any
    counts: Any
    steps: Any
    epsilon: float
    groups: int


def _structure(name: str, pointers: str, doubles: str, integers: str, numbers: int = 0) -> type[Structure]:
    """Return the argument of a function of the CUDA source, as the source declares it."""
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
    blocks = _structure("Blocks", " ".join(DeviceBlock._fields[:-2]), "epsilon", "N groups")
    return {f"ascend_{threads}_{each}": blocks for threads, each in BLOCK_SIZES}


@cache
def text(name: str) -> str:
    """Return a file of the CUDA source."""
    return (Path(__file__).parent / "cuda" / name).read_text(encoding="utf-8")


class CudaTiles:
    """Kernel values of one kernel by the CUDA source."""

    sizes = tuple(threads * each for threads, each in BLOCK_SIZES)

    def __init__(self, kernel: Kernel, engine: Nvrtc) -> None:
        made = program(kernel)
        self._engine, self._made = engine, made
        self._arguments = tile_arguments(len(made.numbers))
        self._codes: dict[tuple[str, str], CudaFunctions] = {}

    def compile(self) -> None:
        """Compile all that a fit or a prediction launches."""
        for real in ("float", "double"):
            self._tiles(real)
            self._code("blocks.cu", real, block_arguments())

    def _tiles(self, real: str) -> CudaFunctions:
        return self._code("tiles.cu", real, self._arguments)

    def _code(self, name: str, real: str, functions: dict[str, type[Structure]]) -> CudaFunctions:
        if (name, real) not in self._codes:
            head = f"#define REAL {real}\n"
            if name == "tiles.cu":
                head += f"#define PARAMETERS {len(self._made.numbers)}\n#define MAP {self._made.statements}\n"
            self._codes[name, real] = self._engine.compiled(head + text(name), functions)
        return self._codes[name, real]

    def _launch(self, real: str, name: str, grid: tuple[int, int, int], threads: int, **values: Any) -> None:
        self._tiles(real).launch(name, grid, threads, _filled(self._arguments[name], self._made.numbers, values))

    def operand(self, X: Any) -> DeviceOperand:
        """Return rows (n, d), d a multiple of DEEP, with their norms."""
        n, d = X.shape
        out = DeviceOperand(X, torch().empty(n, dtype=X.dtype, device=X.device))
        if n:
            self._launch(_real(X), "norms", (-(-n // 256), 1, 1), 256, X=X, out=out.norms, d=d, n=n)
        return out

    def values(
        self, A: DeviceOperand, rows: Any, B: DeviceOperand, points: Any, out: Any, added: float = 0.0,
        active: Any = None,
    ) -> None:  # fmt: skip
        """Set out (B, m, n) to the values of rows with points, plus ``added``; None stands for all lines, one problem.

        ``active``: (B,) int32, the problems to do this for.
        """
        problems, m, n = out.shape
        side, name = _side(A.X), "values_short" if A.X.shape[1] <= ONE_CHAIN else "values_long"
        rows_at_once = side * BATCHES
        if not m or not n:
            return
        if problems > BATCHES or m > rows_at_once:
            raise ValueError("Too many problems or rows at a time for one launch.")
        self._launch(
            _real(A.X), name, (-(-n // side), -(-m // side), problems), 256, X=A.X, xn=A.norms, Z=B.X, zn=B.norms,
            rows=rows, points=points, active=active, K=out, added=added, d=A.X.shape[1], m=m, n=n, stride=out.stride(1),
        )  # fmt: skip

    def sums(
        self, out: Any, low: Any, A: DeviceOperand, rows: Any, nrows: Any, B: DeviceOperand, points: Any, weights: Any,
        npoints: Any,
    ) -> None:  # fmt: skip
        """Add to out + low (B, N) the weighted sums of kernel values over points, weights (B, p) float64.

        nrows, npoints : (B,) int32, how many of each problem's rows and points there are
        """
        (problems, N), P = out.shape, points.shape[1]
        side, name = _side(A.X), "sums_short" if A.X.shape[1] <= ONE_CHAIN else "sums_long"
        real, d = _real(A.X), A.X.shape[1]
        if not N or not problems:
            return
        for first in range(0, P, SPLITS * PARTIAL):
            splits = min(SPLITS, -(-(P - first) // PARTIAL))
            partial = torch().empty((splits, problems, N), dtype=out.dtype, device=out.device)
            self._launch(
                real, name, (-(-N // side), splits, problems), 256, X=A.X, xn=A.norms, Z=B.X, zn=B.norms, rows=rows,
                nrows=nrows, points=points, npoints=npoints, weights=weights, partial=partial, d=d, N=N, P=P,
                first=first, chunk=PARTIAL, problems=problems,
            )  # fmt: skip
            self._launch(
                real, "fold", (-(-N // 256), problems, 1), 256, out=out, low=low, partial=partial, nrows=nrows,
                npoints=npoints, N=N, first=first, splits=splits, chunk=PARTIAL, problems=problems,
            )  # fmt: skip

    def weigh(self, out: Any, K: Any, W: Any) -> None:
        """Add K W to out (m, c), for values K (m, n) and weights W (n, c) float64."""
        (m, columns), n = out.shape, K.shape[1]
        grid = (-(-m // 64), -(-columns // 16), 1)
        self._launch(_real(K), "weighed", grid, 256, K=K, W=W, out=out, m=m, n=n, columns=columns, stride=K.stride(0))

    def ascend(self, block: DeviceBlock) -> None:
        """Solve the blocks of the programs that are active, each to its tolerance."""
        problems, q, _ = block.K.shape
        threads, each = next(size for size in BLOCK_SIZES if size[0] * size[1] == q)
        arguments = block_arguments()
        name, real = f"ascend_{threads}_{each}", _real(block.K)
        values = {**block._asdict(), "N": block.beta.shape[1]}
        shared = q * (3 * 8 + 2 * block.K.element_size())
        argument = _filled(arguments[name], (), values)
        self._code("blocks.cu", real, arguments).launch(name, (problems, 1, 1), threads, argument, shared)


def _filled(kind: type[Structure], numbers: tuple[float, ...], values: dict[str, Any]) -> Structure:
    """Return an argument with these values: tensors by their addresses, None as the null pointer."""
    out = kind()
    for name, value in values.items():
        setattr(out, name, value.data_ptr() if hasattr(value, "data_ptr") else value)
    if hasattr(out, "numbers"):
        out.numbers[:] = numbers  # pyright: ignore[reportAttributeAccessIssue]
    return out


def _real(X: Any) -> str:
    return "float" if X.element_size() == 4 else "double"


def _side(X: Any) -> int:
    """Return the rows, and points, of a tile."""
    return 128 if X.element_size() == 4 else 64
