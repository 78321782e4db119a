"""`adatron info` and `adatron warmup`: the installation and its models."""

from __future__ import annotations

import time
from importlib import metadata

import click

from .status import echo_rows


@click.command(short_help="Show the installation, or a model.")
@click.argument("model", type=click.Path(), required=False)
def info(model: str | None) -> None:
    """Show versions, threads and cache folder, or the parameters, classes and certificate of MODEL."""
    echo_rows(_installation() if model is None else _model(model), err=False)


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


def _model(path: str) -> list[tuple[str, object]]:
    from sklearn.utils.validation import check_is_fitted

    from ..files import load
    from .report import certificate_rows, kernel_rows

    model = load(path)
    check_is_fitted(model)
    described = {"kernel", "gamma", "C"}
    params = sorted(model.get_params(deep=False).items())
    return [
        ("class", type(model).__name__),
        ("features", model.n_features_in_),
        *kernel_rows(model),
        *((name, value) for name, value in params if name not in described),
        *certificate_rows(model),
    ]
