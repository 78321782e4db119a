"""The command: which cells make which table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import tables
from .cells import run, threads
from .datasets import CASES
from .libraries import LIBRARIES

REPEATS = 3
LONG = 60.0
SCALING_ROWS = (2_500, 5_000, 10_000, 20_000)
SCALING_DATA = "20,000 x 20, C 1"
TIMES = [("data", "data", "name"), ("library", "library", "name"), ("threads", "threads", "name"),
         ("seconds", "seconds", "time"), ("/ adatron", "ratio", "ratio"), ("first call", "first", "time")]  # fmt: skip
PROOF = [("dual objective", "dual_objective", "objective"), ("KKT violation", "kkt_violation", "small"),
         ("relative gap", "relative_gap", "small"), ("SVs", "support_vectors", "count")]  # fmt: skip

Rows = list[dict[str, Any]]


def options(command: Any) -> Any:
    """What every task is told."""
    for option in (
        click.option("--data", multiple=True, type=click.Choice(list(CASES)), help="Data sets.  [default: all]"),
        click.option("--library", multiple=True, type=click.Choice(list(LIBRARIES)), help="Libraries.  [default: all]"),
        click.option("--fresh", is_flag=True, help="Measure again what is on disk."),
        click.option("--output", type=click.Path(path_type=Path), default=Path(__file__).parent / "results"),
    ):
        command = option(command)
    return command


def measured(task: str, data: tuple[str, ...], library: tuple[str, ...], fresh: bool, **more: Any) -> Rows:
    """A row for each data set and library: the libraries take turns, a long cell runs once."""
    rows = []
    for name in data or CASES:
        common = {"task": task, "data": name, "measure": True, **more}
        specs = [{**common, "library": one} for one in library or LIBRARIES]
        cells = [[cell] for cell in run(specs, fresh)]
        for repeat in range(1, REPEATS):
            short = [k for k, (cell, *_) in enumerate(cells) if "failed" not in cell and cell["seconds"] < LONG]
            again = [{**specs[k], "measure": False, "repeat": repeat} for k in short]
            for k, cell in zip(short, run(again, fresh), strict=True):
                cells[k].append(cell)
        for spec, own in zip(specs, cells, strict=True):
            used = LIBRARIES[spec["library"]].threads
            count = spec.get("parameters", {}).get("n_jobs") or (threads() if used == "all" else used)
            rows.append({**spec, **tables.combined(own), "threads": count})
    return tables.with_ratios(rows)


@click.group()
def main() -> None:
    """Measure adatron and its peers; tables, JSON and plots go to benchmarks/results."""


@main.command()
@options
def fit(data: tuple[str, ...], library: tuple[str, ...], fresh: bool, output: Path) -> None:
    """Time, certificate, accuracy and memory of a fit to tol 1e-3."""
    (rates,) = run([{"task": "rates", "threads": threads()}], fresh=True)
    rows = measured("fit", data, library, fresh)
    for row in rows:
        if row["library"] == "adatron" and "products" in row:
            row["floor"] = tables.floor(row, rates, certified=False)
            row["floor_certified"] = tables.floor(row, rates, certified=True)
    notes = (
        "RBF kernel, tol 1e-3, cache_size 500. Seconds are medians of three processes, the libraries in turn, in each "
        "the fits after the first one, or the first one if it took more than 20 s. A fit of more than a minute is "
        "measured once, one of more than 600 s is cut off (≥). The first call is the first fit of a process. "
        "Objective, violation and gap are recomputed in float64 from the model's coefficients. The floor is what the "
        "products of all support vectors with all samples take at the speed of a matrix product "
        f"({rates['gemm32'] / 1e9:.0f} GFLOP/s in float32, {rates['gemm64'] / 1e9:.0f} in float64) and one exponential "
        f"each ({rates['map'] / 1e9:.2f}e9/s); with the certificate, once more in float64. Peak is the memory of the "
        "process beyond what it had before the fit."
    )
    for row in rows:
        if "peak" in row:
            row["extra"] = row["peak"] - row["baseline"]
    columns = [*TIMES, ("floor", "floor", "time"), ("with certificate", "floor_certified", "time"), *PROOF,
               ("accuracy %", "accuracy", "percent"), ("peak MB", "extra", "MB")]  # fmt: skip
    click.echo(tables.write(output, "fit", notes, rows, columns))
    tables.plot(output, "fit", rows)


@main.command()
@options
def predict(data: tuple[str, ...], library: tuple[str, ...], fresh: bool, output: Path) -> None:
    """Time of the classes of the test samples."""
    rows = measured("predict", data, library, fresh)
    notes = "Classes of the test samples, or of the training samples where there are none; medians as for fit."
    columns = [*TIMES, ("samples", "rows", "count"), ("SVs", "support_vectors", "count")]
    click.echo(tables.write(output, "predict", notes, rows, columns))


@main.command()
@options
def memory(data: tuple[str, ...], library: tuple[str, ...], fresh: bool, output: Path) -> None:
    """Peak memory of a fit beyond what the process had before it."""
    rows = measured("fit", data or ("MNIST",), library, fresh)
    for row in (row for row in rows if "peak" in row):
        row["extra"] = row["peak"] - row["baseline"]
        row["allowed"] = 4 * row["rows"] * row["features"] + 800e6
    notes = "Beyond the imported library and X: allowed are one float32 copy, cache_size (500 MB) and 300 MB."
    columns = [*TIMES[:2], ("X MB", "X_bytes", "MB"), ("baseline MB", "baseline", "MB"), ("peak MB", "peak", "MB"),
               ("peak - baseline", "extra", "MB"), ("allowed", "allowed", "MB")]  # fmt: skip
    click.echo(tables.write(output, "memory", notes, rows, columns))


@main.command()
@options
def scaling(data: tuple[str, ...], library: tuple[str, ...], fresh: bool, output: Path) -> None:
    """Time by number of samples and of threads, on the 20,000 x 20 family with C = 1."""
    rows: Rows = []
    counts = sorted({1, 2, threads()})
    for n in SCALING_ROWS:
        for count in counts:
            own = measured("fit", (SCALING_DATA,), ("adatron",), fresh, rows=n, parameters={"n_jobs": count})
            rows += [{**row, "data": f"{n:,} x 20"} for row in own]
        peers = tuple(one for one in library or LIBRARIES if one != "adatron")
        rows += [{**row, "data": f"{n:,} x 20"} for row in measured("fit", (SCALING_DATA,), peers, fresh, rows=n)]
    fastest = {
        row["data"]: row["seconds"] for row in rows if row["threads"] == counts[-1] and row["library"] == "adatron"
    }
    for row in rows:
        row["ratio"] = row["seconds"] / fastest[row["data"]]
    notes = "The first n rows of the 20,000 x 20 family, C 1; adatron with 1, 2 and all threads."
    click.echo(tables.write(output, "scaling", notes, rows, [*TIMES, *PROOF]))


@main.command()
@options
def certify(data: tuple[str, ...], library: tuple[str, ...], fresh: bool, output: Path) -> None:
    """Time to a certified relative gap of 1e-6, the gap recomputed."""
    loose = measured("fit", data, ("adatron",), fresh)
    rows = measured("fit", data, ("adatron",), fresh, parameters={"gap_tol": 1e-6})
    for row, other in zip(rows, loose, strict=True):
        row["ratio"] = row["seconds"] / other["seconds"]
    notes = "adatron with gap_tol 1e-6; the ratio is to its time with tol 1e-3 alone."
    columns = [(h if key != "ratio" else "/ tol 1e-3", key, kind) for h, key, kind in TIMES]
    click.echo(tables.write(output, "certify", notes, rows, [*columns, *PROOF]))
    worst = max(row["relative_gap"] for row in rows)
    if worst > 1e-6 * 1.01:
        raise click.ClickException(f"a relative gap of {worst:.2e} was recomputed, above 1e-6")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
