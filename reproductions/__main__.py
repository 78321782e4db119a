"""The command: a paper's published tables and figures beside our own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from adatron.cli.outputs import as_json

from . import DATA_SETS, PAPERS, introduction, reproduce, require_data


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", nargs=-1, type=click.Choice(list(PAPERS)))
@click.option("--quick", is_flag=True, help="Smaller data and fewer repetitions.")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for the figures (PNG).")
@click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
def main(name: tuple[str, ...], quick: bool, output: Path | None, wants_json: bool) -> None:
    """Reproduce the papers NAME (default: all): published numbers, ours, and the reason for any difference.

    Exits with status 3 if a number that can be reproduced is not, and with 4 if data sets are not there.
    """
    try:
        require_data(name or PAPERS)
    except FileNotFoundError as error:
        free = ", ".join(one for one in PAPERS if not DATA_SETS[one])
        click.echo(f"Error: {error}. Papers that need no data: {free}", err=True)
        sys.exit(4)
    result: dict[str, Any] = {}
    holds = True
    for one in name or PAPERS:
        if not wants_json:
            click.echo(f"## {one}: {PAPERS[one]}\n\n{introduction(one)}")
        sections = []
        for section in reproduce(one, quick, None if output is None else output / one):
            holds = holds and not section.failures
            sections.append(section.as_json())
            if not wants_json:
                click.echo(section.markdown())
        result[one] = sections
    if wants_json:
        click.echo(as_json(result), nl=False)
    sys.exit(0 if holds else 3)


if __name__ == "__main__":
    main(prog_name="python -m reproductions")
