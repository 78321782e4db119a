"""`adatron info` and `adatron warmup`: the installation and its models."""

from __future__ import annotations

import time
from importlib import metadata

import click

from .status import as_json, echo_rows, write_result


@click.command(short_help="Show the installation, the solvers, or a model.")
@click.argument("model", type=click.Path(), required=False)
@click.option("--solvers", is_flag=True, help="Show the solvers instead.")
@click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
def info(model: str | None, solvers: bool, wants_json: bool) -> None:
    """Show versions, threads and cache folder, or the parameters, classes and certificate of MODEL."""
    if model is not None and solvers:
        raise click.UsageError("--solvers takes no model")
    if model is not None:
        rows, result = _model(model)
    else:
        rows = _solvers() if solvers else _installation()
        result = dict(rows)
    if wants_json:
        write_result(as_json(result), None)
    else:
        echo_rows(rows, err=False)


@click.command(short_help="Compile everything once.")
def warmup() -> None:
    """Compile everything that is compiled on first use and keep it in the cache folder."""
    from .. import warmup as compile_all
    from ..compiled._jit import cache_folder

    start = time.perf_counter()
    compile_all()
    click.echo(f"compiled in {time.perf_counter() - start:.1f} s, kept in {cache_folder() or 'memory only'}", err=True)


def _installation() -> list[tuple[str, object]]:
    from ..compiled._jit import cache_folder
    from ..gram.pool import allowed_threads

    packages = ("adatron", "numba", "numpy", "scipy", "scikit-learn")
    return [
        *((package, metadata.version(package)) for package in packages),
        ("threads", allowed_threads(None)),
        ("cache folder", cache_folder() or "none: compiled code is kept in memory only"),
    ]


def _solvers() -> list[tuple[str, object]]:
    """Each solver with the first line of its description."""
    import inspect

    from ..solvers.table import SOLVERS

    modules = {name: inspect.getmodule(solver) for name, solver in SOLVERS.items()}
    return [(name, (module.__doc__ or "").partition("\n")[0]) for name, module in modules.items() if module]


def _model(path: str) -> tuple[list[tuple[str, object]], dict[str, object]]:
    from sklearn.utils.validation import check_is_fitted

    from ..files import load
    from .parts import svc_of
    from .report import certificate_rows, kernel_rows, summary

    model = load(path)
    svc = svc_of(model)
    check_is_fitted(svc)
    described = {"kernel", "gamma", "C"}
    params = sorted(svc.get_params(deep=False).items())
    rows: list[tuple[str, object]] = [
        ("class", type(svc).__name__),
        ("features", getattr(svc, "n_features_in_", "unknown")),
        *kernel_rows(model),
        *((name, value) for name, value in params if name not in described),
        *certificate_rows(svc),
    ]
    return rows, summary(model)
