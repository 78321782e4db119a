"""`adatron info`, `doctor` and `warmup`: models, the installation and its solvers."""

from __future__ import annotations

import os
import platform
import time
from importlib import import_module, metadata
from typing import Any

import click

from ...progress import ProgressDisplay
from ..options import json_option
from ..outputs import TableRows, as_json, echo_rows, write_result

PACKAGES_SHOWN = (
    "adatron", "numpy", "scipy", "scikit-learn", "numba", "llvmlite", "joblib", "threadpoolctl", "tqdm",
)  # fmt: skip
# Variables of the environment that say how many threads work, and where compiled code and data are.
VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "ADATRON_CACHE_DIR",
    "ADATRON_DATA", "NUMBA_DISABLE_JIT",
)  # fmt: skip
PROCESSOR_FEATURES = ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "neon", "sve")  # The compiler uses them.


@click.command(short_help="Show the installation, the solvers, or a model.")
@click.argument("model", type=click.Path(), required=False)
@click.option("--solvers", is_flag=True, help="Show the solvers instead.")
@json_option
def info(model: str | None, solvers: bool, wants_json: bool) -> None:
    """Show the parameters, data and certificate of MODEL; without MODEL the installation, as `adatron doctor`."""
    if model is not None and solvers:
        raise click.UsageError("--solvers takes no model")
    _tell(*(_model(model) if model is not None else _solvers() if solvers else _installation()), wants_json)


@click.command(short_help="Show the installation, before you report a bug.")
@json_option
def doctor(wants_json: bool) -> None:
    """Show versions, threads, the processor, the folder of compiled code, and the extras that are installed."""
    _tell(*_installation(), wants_json)


def _tell(rows: TableRows, result: dict[str, Any], wants_json: bool) -> None:
    if wants_json:
        write_result(as_json(result), None)
    else:
        echo_rows(rows, err=False)


def _installation() -> tuple[TableRows, dict[str, Any]]:
    """Return the facts that a bug report needs, for people and for programs."""
    import llvmlite.binding as llvm
    from threadpoolctl import threadpool_info

    from ...extras import extras
    from ...threads import allowed_threads

    import_module("scipy.linalg")  # its BLAS is not NumPy's
    libraries: list[dict[str, Any]] = threadpool_info()
    found: dict[str, Any] = {
        **{package: _version(package) for package in PACKAGES_SHOWN},
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "processor": {
            "name": f"{platform.machine()} {llvm.get_host_cpu_name()}",
            "features": [name for name in PROCESSOR_FEATURES if llvm.get_host_cpu_features().get(name)],
        },
        "cores": os.cpu_count(),
        "threads": allowed_threads(None),
        **_cache(),
        "extras": {extra: {name: _version(name) for name in names} for extra, names in extras().items()},
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "blas": sorted({f"{one['internal_api']} {one['version']} ({one['num_threads']} threads)" for one in libraries}),
    }
    rows: TableRows = []
    for name, value in found.items():
        lines = [f"{one}: {_shown(facts)}" for one, facts in value.items()] if name == "extras" else [_shown(value)]
        rows += [("" if number else name.replace("_", " "), line) for number, line in enumerate(lines)]
    return rows, found


def _shown(value: Any) -> str:
    """Return a fact as people read it."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items()) or "nothing set"
    if isinstance(value, list):
        return ", ".join(value) or "unknown"
    return {"None": "not installed", "True": "yes", "False": "no"}.get(str(value), str(value))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cache() -> dict[str, Any]:
    """Return what came compiled, and whether the folder of compiled code is trusted, writable, and empty."""
    from ...compiled.cache.folder import cache_place
    from ...compiled.cache.kept import functions_in
    from ...compiled.cache.precompiled import precompiled_folder

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


def _solvers() -> tuple[TableRows, dict[str, Any]]:
    """Return what each solver is, the forms of the bias it accepts, whether it solves NuSVC, and what it counts.

    For people `auto` comes first, since it is the default.
    """
    import inspect

    import numpy as np

    from ...problems import csvc, nusvc
    from ...solvers.table import SOLVERS, choose

    two = np.array([1.0, -1.0])
    duals = {bias: csvc(two, np.ones(2), bias) for bias in ("explicit", "augmented", "none")}
    with_nu = nusvc(two, np.ones(2), 0.5)
    names = {kind: name for name, kind in SOLVERS.items()}
    picks = {bias: names[type(choose("auto", dual))] for bias, dual in duals.items()}
    table: dict[str, Any] = {}
    for name, kind in SOLVERS.items():
        solver = kind()
        module = inspect.getmodule(kind)
        table[name] = {
            "what": ((module and module.__doc__) or "").partition("\n")[0].rstrip("."),
            "bias": [bias for bias, dual in duals.items() if solver.accepts(dual)],
            "nu": solver.accepts(with_nu),
            "iterations": solver.unit,
            "auto": [bias for bias, pick in picks.items() if pick == name],
        }
    auto = [(bias, name) for name, one in table.items() for bias in one["auto"]]
    rows: TableRows = [("auto", "; ".join(f"bias {bias}: {name}" for bias, name in auto))]
    for name, one in table.items():
        bias = ", ".join(one["bias"]) + ("; problems with nu" if one["nu"] else "")
        rows += [(name, one["what"]), ("", f"bias: {bias}; counts {one['iterations']}")]
    return rows, table


def _model(path: str) -> tuple[TableRows, dict[str, object]]:
    from sklearn.utils.validation import check_is_fitted

    from ...files import load
    from ..parts import machine_of
    from ..report import model_rows, summary

    model = load(path)
    check_is_fitted(machine_of(model))
    return model_rows(model), summary(model)


class Compiling(ProgressDisplay):
    """Shows how many functions are compiled."""

    def line(self) -> str:
        """Return how many functions are compiled, by the files that hold them."""
        from ...warm import compiled_functions

        self.done = compiled_functions()
        return super().line()


@click.command(short_help="Compile everything once.")
def warmup() -> None:
    """Compile everything that is compiled on first use and keep it in the cache folder.

    It takes one to two minutes on two idle cores, and longer on a busy machine.
    """
    from ... import warmup as compile_all
    from ...compiled.cache.folder import cache_place

    start, place = time.perf_counter(), cache_place()
    with Compiling("compiling for this machine (once)", "function", 0):
        compile_all()
    kept = f"kept in {place.folder}" if place.lasts else "and kept for this process only"
    click.echo(f"compiled in {time.perf_counter() - start:.1f} s, {kept}", err=True)
