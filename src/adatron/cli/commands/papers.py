"""`adatron papers`: the published tables and figures beside our own."""

from __future__ import annotations

from pathlib import Path

import click

from ..outputs import check_folder, existing
from ..status import ExitStatus, as_json, write_result


@click.command(short_help="Reproduce the papers' tables and figures.")
@click.argument("name", nargs=-1)
@click.option("--quick", is_flag=True, help="Smaller data and fewer repetitions.")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for the figures (PNG).")
@click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
def papers(name: tuple[str, ...], quick: bool, output: Path | None, wants_json: bool) -> ExitStatus:
    """Reproduce the papers NAME (default: all): published numbers, ours, and the reason for any difference.

    Exits with status 3 if a number that can be reproduced is not.
    """
    from ...papers import DATA_SETS, PAPERS, introduction, reproduce, require_data

    unknown = [one for one in name if one not in PAPERS]
    if unknown:
        raise click.UsageError(f"no paper {unknown[0]!r}; there are {', '.join(PAPERS)}")
    if output is not None:
        check_folder("--output", str(output), existing(str(output.absolute())))
    try:
        require_data(name or PAPERS)
    except FileNotFoundError as error:
        free = ", ".join(one for one in PAPERS if not DATA_SETS[one])
        raise FileNotFoundError(f"{error}. Papers that need no data: {free}") from error
    result: dict[str, object] = {}
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
        write_result(as_json(result), None)
    return ExitStatus.FINE if holds else ExitStatus.NOT_CONVERGED
