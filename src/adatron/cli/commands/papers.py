"""`adatron papers`: where the papers' tables and figures are made now."""

from __future__ import annotations

import click


@click.command(hidden=True, context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("words", nargs=-1)
def papers(words: tuple[str, ...]) -> None:
    """Say where the papers are reproduced."""
    command = " ".join(("python -m reproductions", *words))
    raise click.UsageError(f"the papers are reproduced from a checkout of adatron: {command}")
