"""The command: parts of what a cluster has to show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

OWN = Path(__file__).parents[1] / "own"
output_option = click.option("--output", type=click.Path(path_type=Path), default=OWN, help="Folder.  [benchmarks/own]")
ResultRows = list[dict[str, Any]]


@click.group()
def dask() -> None:
    """Measure fits on Dask clusters of this machine."""


def _told(output: Path, part: str, rows: ResultRows) -> None:
    from .page import write

    click.echo(write(output, part, rows))
    wrong = sum(not row.get("same", True) for row in rows)
    if wrong:
        raise click.ClickException(f"{wrong} fits have other bits")


@dask.command()
@click.option("--data", multiple=True, help="Data sets.  [default: all]")
@click.option("--rows", type=int, help="Only the first rows; 0 is all, 20,000 of MNIST.  [default: some thousand]")
@click.option("--workers", type=int, multiple=True, default=(1, 2, 3, 5), help="Sizes of clusters.")
@click.option("--mixed", is_flag=True, help="Also fit beside a worker with the code of AVX2.")
@output_option
def bits(data: tuple[str, ...], rows: int | None, workers: tuple[int, ...], mixed: bool, output: Path) -> None:
    """Compare the bits of fits on clusters with those of one machine."""
    from .bits import CASES
    from .bits import rows as found_of
    from .examples import example
    from .page import write

    found: ResultRows = []
    for case in CASES:
        if data and case.data not in data:
            continue
        one = example(case.data, case.rows if rows is None else rows or case.most)
        for row in found_of(case.data, one._replace(parameters={**one.parameters, **case.parameters}), workers, mixed):
            click.echo(str(row), err=True)
            found.append(row)
            write(output, "bits", found)  # what is done outlives an interruption
    _told(output, "bits", found)


@dask.command()
@click.option("--runs", type=int, default=50, show_default=True, help="Fits or searches, each in its own process.")
@click.option("--every", type=float, default=2.0, show_default=True, help="Seconds between two deaths, on average.")
@click.option("--searches", is_flag=True, help="Search instead, on four workers of which some are spare.")
@click.option("--only", type=int, help="One run, whose row is printed.")
@output_option
def deaths(runs: int, every: float, searches: bool, only: int | None, output: Path) -> None:
    """Fit or search while workers are killed, leave, or are paused; a run of more than five minutes fails."""
    from .deaths import run, search, wanted
    from .page import write

    if only is not None:
        row = (search if searches else run)(only, every)
        click.echo(json.dumps({**row, "same": row["digest"] == wanted(searches)}))
        return
    part, found = "searches" if searches else "deaths", []
    command = [sys.executable, "-m", "benchmarks", "dask", "deaths", "--every", str(every), *["--searches"] * searches]
    for number in range(runs):
        one = [*command, "--only", str(number)]
        done = subprocess.run(one, capture_output=True, text=True, check=False)  # noqa: S603 (our own command)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        found.append(json.loads(lines[-1]) if lines else {"run": number, "digest": done.stderr[-200:], "same": False})
        click.echo(str(found[-1]), err=True)
        write(output, part, found)  # what is done outlives an interruption
    _told(output, part, found)


@dask.command()
@output_option
def traffic(output: Path) -> None:
    """Count the bytes of fits on three workers."""
    import numpy as np

    from .examples import example, noisy
    from .traffic import traffic as counted

    plain = noisy(20_000, 20, 1.0)
    some = {
        "ijcnn1, 8,000 x 22": example("ijcnn1", 8_000),
        "cal.housing, 5,000 x 8": example("cal.housing, regression", 5_000),
        "a9a, 6,000 CSR rows": example("a9a", 6_000),
        "noisy, 12,000 x 10, C 100": noisy(12_000, 10, 100.0),
        "noisy, 20,000 x 20, C 1": plain,
        "the same in float32": plain._replace(X=plain.X.astype(np.float32)),
    }
    found: ResultRows = []
    for name, one in some.items():
        row = counted(one)
        shares = {kind: value / row["changed"] for kind, value in row.items() if " " in kind and kind != "of blocks"}
        own = {"total": int(row["total"]), "beginnings": row.get("beginnings", 0.0) / row["changed"]}
        found.append({"data": name, **row, **shares, **own})
    _told(output, "traffic", found)


@dask.command()
@click.option("--workers", type=int, default=8, show_default=True, help="Workers.")
@click.option("--limit", type=float, default=700.0, show_default=True, help="MB of a worker.")
@click.option("--partitions", type=int, default=60, show_default=True, help="Partitions.")
@click.option("--rows", type=int, default=20_000, show_default=True, help="Rows of each.")
@click.option("--features", type=int, default=100, show_default=True, help="Features.")
@output_option
def memory(workers: int, limit: float, partitions: int, rows: int, features: int, output: Path) -> None:
    """Fit a training set that does not fit one worker, and measure the peak memory."""
    from .memory import measure

    _told(output, "memory", [measure(workers, limit * 1e6, partitions, rows, features)])


@dask.command()
@click.option("--rows", type=int, help="Only the first rows of 1,000,000 x 20.")
@click.option("--turns", type=int, default=3, show_default=True, help="Turns of each fit.")
@output_option
def costs(rows: int | None, turns: int, output: Path) -> None:
    """Measure the constants of the cost model, and fits against one process; for a quiet machine."""
    from .costs import constants, fits

    _told(output, "constants", constants())
    _told(output, "fits", fits(rows or 1_000_000, turns))
