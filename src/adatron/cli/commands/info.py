"""`adatron info`: the installation and its models."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import click

from ..status import as_json, echo_rows, write_result


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
    elif solvers:
        result = _solvers()
        rows = _solver_rows(result)
    else:
        rows = _installation()
        result = dict(rows)
    if wants_json:
        write_result(as_json(result), None)
    else:
        echo_rows(rows, err=False)


def _installation() -> list[tuple[str, object]]:
    from ...compiled.cache.folder import cache_place
    from ...threads.pool import allowed_threads

    place = cache_place()
    packages = ("adatron", "numba", "numpy", "scipy", "scikit-learn")
    return [
        *((package, metadata.version(package)) for package in packages),
        ("threads", allowed_threads(None)),
        ("cache folder", place.folder if place.lasts else "none: every process compiles anew"),
    ]


def _solvers() -> dict[str, Any]:
    """Return what each solver is, the forms of the bias it accepts, whether it solves NuSVC, and what it counts."""
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
    return table


def _solver_rows(table: dict[str, Any]) -> list[tuple[str, object]]:
    """Return a line for each solver; `auto` first, since it is the default."""
    auto = [(bias, name) for name, one in table.items() for bias in one["auto"]]
    rows: list[tuple[str, object]] = [("auto", "; ".join(f"bias {bias}: {name}" for bias, name in auto))]
    for name, one in table.items():
        bias = ", ".join(one["bias"]) + ("; problems with nu" if one["nu"] else "")
        rows += [(name, one["what"]), ("", f"bias: {bias}; counts {one['iterations']}")]
    return rows


def _model(path: str) -> tuple[list[tuple[str, object]], dict[str, object]]:
    from sklearn.utils.validation import check_is_fitted

    from ...files import load
    from ..parts import counting_of, svc_of
    from ..report import certificate_rows, kernel_rows, summary

    model = load(path)
    svc = svc_of(model)
    check_is_fitted(svc)
    described = {"kernel", "gamma", "C"}
    params = sorted(svc.get_params(deep=False).items())
    rows: list[tuple[str, object]] = [
        ("class", type(svc).__name__),
        ("features", getattr(svc, "n_features_in_", "unknown")),
        *((("features count from", counted),) if (counted := counting_of(model)) is not None else ()),
        *kernel_rows(model),
        *((name, value) for name, value in params if name not in described),
        *certificate_rows(svc),
    ]
    return rows, summary(model)
