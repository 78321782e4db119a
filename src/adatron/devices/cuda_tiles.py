"""Tiles by the CUDA source: which function is launched, on how many thread blocks, with which arguments.

An engine compiles the source and launches its functions: on a GPU, or in tests on the processor.
"""

from __future__ import annotations

from ctypes import Structure
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from ..kernels import Kernel
from .library import torch
from .program import program
from .structures import BLOCK_SIZES, block_arguments, tile_arguments
from .tiles import DeviceBlock, DeviceOperand

PARTIAL = 512  # Points of one partial sum: fixed, so that bits do not depend on the device.
SPLITS = 16  # Partial sums at a time.
ONE_CHAIN = 128  # Features up to which a product is one chain.
BATCHES = 65535  # Most thread blocks along the second and the third axis of a grid.
Grid = tuple[int, int, int]


class Code(Protocol):
    """Compiled functions."""

    def launch(self, name: str, grid: Grid, threads: int, argument: Structure, shared: int = 0) -> None:
        """Run a function with its only argument; ``shared``: bytes of shared memory beside those it declares."""
        ...


class Engine(Protocol):
    """The compiler of the CUDA source, and the launcher of its functions, for arrays on one device."""

    def compiled(self, source: str, functions: dict[str, type[Structure]]) -> Code:
        """Return the functions of a source; the same source is compiled once."""
        ...


@cache
def text(name: str) -> str:
    """Return a file of the CUDA source."""
    return (Path(__file__).parent / "cuda" / name).read_text(encoding="utf-8")


class CudaTiles:
    """Kernel values of one kernel by the CUDA source."""

    sizes = tuple(threads * each for threads, each in BLOCK_SIZES)

    def __init__(self, kernel: Kernel, engine: Engine) -> None:
        made = program(kernel)
        self._engine, self._made = engine, made
        self._arguments = tile_arguments(len(made.numbers))
        self._codes: dict[tuple[str, str], Code] = {}

    def compile(self) -> None:
        """Compile all that a fit or a prediction launches."""
        for real in ("float", "double"):
            self._tiles(real)
            self._code("blocks.cu", real, block_arguments())

    def _tiles(self, real: str) -> Code:
        return self._code("tiles.cu", real, self._arguments)

    def _code(self, name: str, real: str, functions: dict[str, type[Structure]]) -> Code:
        if (name, real) not in self._codes:
            head = f"#define REAL {real}\n"
            if name == "tiles.cu":
                head += f"#define PARAMETERS {len(self._made.numbers)}\n#define MAP {self._made.statements}\n"
            self._codes[name, real] = self._engine.compiled(head + text(name), functions)
        return self._codes[name, real]

    def _launch(self, real: str, name: str, grid: Grid, threads: int, **values: Any) -> None:
        self._tiles(real).launch(name, grid, threads, _filled(self._arguments[name], self._made.numbers, values))

    def operand(self, X: Any) -> DeviceOperand:
        n, d = X.shape
        out = DeviceOperand(X, torch().empty(n, dtype=X.dtype, device=X.device))
        if n:
            self._launch(_real(X), "norms", (-(-n // 256), 1, 1), 256, X=X, out=out.norms, d=d, n=n)
        return out

    def values(
        self,
        A: DeviceOperand,
        rows: Any,
        B: DeviceOperand,
        points: Any,
        out: Any,
        added: float = 0.0,
        active: Any = None,
    ) -> None:
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
        self,
        out: Any,
        low: Any,
        A: DeviceOperand,
        rows: Any,
        nrows: Any,
        B: DeviceOperand,
        points: Any,
        weights: Any,
        npoints: Any,
    ) -> None:
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
        (m, columns), n = out.shape, K.shape[1]
        grid = (-(-m // 64), -(-columns // 16), 1)
        self._launch(_real(K), "weighed", grid, 256, K=K, W=W, out=out, m=m, n=n, columns=columns, stride=K.stride(0))

    def ascend(self, block: DeviceBlock) -> None:
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
