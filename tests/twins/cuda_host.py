"""The CUDA source on the processor, compiled by g++: an engine for ``adatron.devices.cuda_tiles``.

Its threads are fibers that take turns in a random order, so a missing barrier shows. It is slow: a few hundred rows.
"""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HEADER = Path(__file__).with_suffix(".h")
# Without the last one, the shared memory of a template would be one place for all libraries, float and double.
OPTIONS = (
    "-O2",
    "-std=c++17",
    "-march=native",
    "-ffp-contract=off",
    "-U_FORTIFY_SOURCE",
    "-fPIC",
    "-shared",
    "-w",
    "-fno-gnu-unique",
)


def available() -> bool:
    """Return whether there is a compiler."""
    return shutil.which("g++") is not None


@cache
def _library(code: str) -> Any:
    folder = Path(tempfile.gettempdir()) / "adatron-host-cuda"
    folder.mkdir(exist_ok=True)
    path = folder / f"{hashlib.sha256((code + HEADER.read_text() + str(OPTIONS)).encode()).hexdigest()[:24]}.so"
    if not path.exists():
        source = path.with_suffix(".cpp")
        source.write_text(f'#include "{HEADER}"\n{code}')
        made = Path(tempfile.mktemp(dir=folder))  # noqa: S306 (a name for the compiler)
        subprocess.run(["g++", *OPTIONS, "-o", str(made), str(source)], check=True)  # noqa: S607
        made.replace(path)
    return ctypes.CDLL(str(path))


@dataclass
class HostCuda:
    """An engine; ``seed`` draws the order of the threads, ``launched`` counts what was launched."""

    seed: int = 1
    launched: dict[str, int] = field(default_factory=dict)

    def compiled(self, source: str, functions: dict[str, Any]) -> Any:
        text = source.replace("extern __shared__ double memory[];", "double* memory = host_memory;")
        for name, kind in functions.items():
            text += (
                f'\nextern "C" int host_{name}(const int* grid, int threads, int shared, {kind.__name__}* argument, '
                f"unsigned long long seed) {{\n  return run_grid(grid, threads, shared, seed, "
                f"[=] {{ {name}(*argument); }});\n}}"
            )
        return _Functions(self, _library(text))


@dataclass
class _Functions:
    engine: HostCuda
    library: Any

    def launch(self, name: str, grid: Any, threads: int, argument: Any, shared: int = 0) -> None:
        self.engine.launched[name] = self.engine.launched.get(name, 0) + 1
        function = getattr(self.library, f"host_{name}")
        seed = ctypes.c_ulonglong(self.engine.seed)
        stuck = function((ctypes.c_int * 3)(*grid), threads, shared, ctypes.byref(argument), seed)
        assert not stuck, f"{name}: threads wait for others that do not come"
