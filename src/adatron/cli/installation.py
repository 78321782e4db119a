"""What is known of an installation: versions, threads, the processor, compiled code."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib import import_module, metadata
from typing import Any

from .status import TableRows

PACKAGES_SHOWN = (
    "adatron", "numpy", "scipy", "scikit-learn", "numba", "llvmlite", "joblib", "threadpoolctl", "tqdm",
)  # fmt: skip
# Variables of the environment that say how many threads work, and where compiled code and data are.
VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "ADATRON_CACHE_DIR",
    "ADATRON_DATA", "NUMBA_DISABLE_JIT",
)  # fmt: skip


def installation() -> dict[str, Any]:
    """Return the facts that a bug report needs."""
    from ..extras import extras
    from ..threads import allowed_threads

    return {
        **{package: _version(package) for package in PACKAGES_SHOWN},
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": allowed_threads(None),
        **_cache(),
        "extras": {extra: {name: _version(name) for name in names} for extra, names in extras().items()},
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "blas": _blas(),
    }


def installation_rows(found: Mapping[str, Any]) -> TableRows:
    """Return the same for people."""
    rows: TableRows = []
    for name, value in found.items():
        shown = value
        if name == "extras":
            lines = [f"{extra}: {_pairs(packages, ' ', 'not installed')}" for extra, packages in value.items()]
            rows += [("" if number else name, line) for number, line in enumerate(lines)]
            continue
        if name == "environment":
            shown = _pairs(value, "=") or "nothing set"
        elif name == "processor":
            shown = f"{value['name']}, {' '.join(value['features']) or 'features unknown'}"
        elif isinstance(value, list):
            shown = "; ".join(value)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, bool):
            shown = "yes" if value else "no"
        rows.append((name.replace("_", " "), "not installed" if shown is None else shown))
    return rows


def _pairs(found: Mapping[str, str | None], between: str, without: str = "") -> str:
    return ", ".join(f"{name}{between}{value or without}" for name, value in found.items())


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> dict[str, Any]:
    """Return the name of the processor, and the features that the compiler makes use of."""
    import llvmlite.binding as llvm

    found = llvm.get_host_cpu_features()
    wanted = ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "neon", "sve")
    return {"name": f"{platform.machine()} {llvm.get_host_cpu_name()}", "features": [n for n in wanted if found.get(n)]}


def _cache() -> dict[str, Any]:
    """Return what came compiled, and whether the folder of compiled code is trusted, writable, and empty."""
    from ..compiled.cache.folder import cache_place
    from ..compiled.cache.kept import functions_in
    from ..compiled.cache.precompiled import precompiled_folder

    place, came = cache_place(), precompiled_folder()
    folder = place.folder
    return {
        "cache_folder": str(folder) if place.lasts else "none: what is compiled is not kept",
        "cache_trusted": place.lasts,
        "cache_writable": bool(folder and os.access(folder, os.W_OK)),
        "compiled_functions_kept": functions_in(folder),
        "precompiled": f"{functions_in(came)} functions, for {came.name}" if came else "none for this installation",
        "compiler": "off (NUMBA_DISABLE_JIT)" if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else "on",
    }


def _blas() -> list[str]:
    from threadpoolctl import threadpool_info

    import_module("scipy.linalg")  # its BLAS is not NumPy's
    found: list[dict[str, Any]] = threadpool_info()
    return sorted({f"{one['internal_api']} {one['version']} ({one['num_threads']} threads)" for one in found})
