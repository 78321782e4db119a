"""The CUDA source on a GPU: compiled at run time by NVIDIA's NVRTC, kept on the disk, launched by the driver.

``cuda.bindings`` is what torch itself depends on, so that both belong to the same CUDA. Nothing else here is special to
CUDA, and nothing here knows what the functions do.
"""

from __future__ import annotations

import ctypes
import hashlib
from contextlib import suppress
from ctypes import Structure
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..compiled.cache.folder import cache_folder
from ..compiled.cache.kept import undamaged, write_whole
from ..extras import torch

OLDEST = (8, 0)  # The first compute capability whose warps can reduce integers.


def _bindings(name: str) -> Any:
    """Return a module of ``cuda.bindings``, or say how to get it."""
    try:
        return import_module(f"cuda.bindings.{name}")
    except ImportError as error:
        raise ImportError(
            "device='cuda' needs cuda-bindings, which torch for CUDA brings along: pip install cuda-bindings"
        ) from error


def _done(answer: Any) -> Any:
    """Return the result of a call, or raise what went wrong."""
    error, *results = answer if isinstance(answer, tuple) else (answer,)
    if int(error) != 0:
        raise RuntimeError(f"CUDA failed: {error!r}.")
    return results[0] if len(results) == 1 else results


class Nvrtc:
    """Compiles for one GPU, and launches on torch's stream for it."""

    def __init__(self, index: int) -> None:
        self.index, self._driver = index, _bindings("driver")
        major, minor = torch().cuda.get_device_capability(index)
        if (major, minor) < OLDEST:
            raise ValueError(
                f"device='cuda:{index}' has compute capability {major}.{minor}; {OLDEST[0]}.{OLDEST[1]} is the oldest "
                "that adatron's code runs on. Leave device out."
            )
        self.arch = f"sm_{major}{minor}"
        self._known: dict[str, CudaFunctions] = {}

    def compiled(self, source: str, functions: dict[str, type[Structure]]) -> CudaFunctions:
        """Return the functions of a source; the same source is compiled once."""
        if source not in self._known:
            code = binary(source, self.arch)
            with torch().cuda.device(self.index):
                torch().zeros(1, device="cuda")  # makes torch's context, which the driver then uses
                self._known[source] = CudaFunctions(self._driver, code, functions, self.index)
        return self._known[source]


class CudaFunctions:
    """Functions of a loaded binary."""

    def __init__(self, driver: Any, binary: bytes, functions: dict[str, type[Structure]], index: int) -> None:
        self._driver, self._index = driver, index
        self._module = _done(driver.cuModuleLoadData(binary))
        self._functions = {name: _done(driver.cuModuleGetFunction(self._module, name.encode())) for name in functions}
        self._room: dict[str, int] = {}  # shared memory that a function was allowed

    def launch(self, name: str, grid: tuple[int, int, int], threads: int, argument: Structure, shared: int = 0) -> None:
        """Run a function with its only argument; ``shared``: bytes of shared memory beside those it declares."""
        driver, function = self._driver, self._functions[name]
        if shared > self._room.get(name, 48 << 10):
            most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            _done(driver.cuFuncSetAttribute(function, most, shared))
            self._room[name] = shared
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))  # the driver copies them before it returns
        with torch().cuda.device(self._index):
            stream = torch().cuda.current_stream().cuda_stream
            _done(driver.cuLaunchKernel(function, *grid, threads, 1, 1, shared, stream, ctypes.addressof(arguments), 0))


def binary(source: str, arch: str) -> bytes:
    """Return the machine code of a source, from the disk if it was compiled before; this needs no GPU.

    The name of the file is a hash of the source, the options with the architecture, and the compiler's version.
    """
    options = (f"--gpu-architecture={arch}", "--std=c++17", "--fmad=false")
    version = ".".join(map(str, _done(_bindings("nvrtc").nvrtcVersion())))
    key = hashlib.sha256("\n".join((version, *options, source)).encode()).hexdigest()[:32]
    folder = cache_folder()
    path = None if folder is None else Path(folder) / f"{key}.cubin"
    found = None if path is None else undamaged(path)
    if found is None:
        found = compile_source(source, options)
        if path is not None:
            with suppress(OSError):  # a full disk only costs time in the next process
                write_whole(path, found)
    return found


@cache
def compile_source(source: str, options: tuple[str, ...]) -> bytes:
    """Compile a source to machine code."""
    nvrtc = _bindings("nvrtc")
    program = _done(nvrtc.nvrtcCreateProgram(source.encode(), b"adatron.cu", 0, [], []))
    given = [option.encode() for option in options]
    error, *_ = nvrtc.nvrtcCompileProgram(program, len(given), given)
    if int(error) != 0:
        log = b" " * _done(nvrtc.nvrtcGetProgramLogSize(program))
        _done(nvrtc.nvrtcGetProgramLog(program, log))
        raise RuntimeError(f"NVRTC did not compile adatron's CUDA source: {log.decode(errors='replace')}")
    found = b" " * _done(nvrtc.nvrtcGetCUBINSize(program))
    _done(nvrtc.nvrtcGetCUBIN(program, found))
    _done(nvrtc.nvrtcDestroyProgram(program))
    return found
