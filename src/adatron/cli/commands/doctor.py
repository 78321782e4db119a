"""`adatron doctor`: the facts that a report of a bug needs."""

from __future__ import annotations

import click

from ..status import as_json, echo_rows, write_result


@click.command(short_help="Show the installation, for a report of a bug.")
@click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
def doctor(wants_json: bool) -> None:
    """Show versions, threads, the processor, the folder of compiled code, and the extras that are installed."""
    from ..installation import installation, installation_rows

    found = installation()
    if wants_json:
        write_result(as_json(found), None)
    else:
        echo_rows(installation_rows(found), err=False)
