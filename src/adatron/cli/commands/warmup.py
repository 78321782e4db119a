"""`adatron warmup`: compile everything once."""

from __future__ import annotations

import time

import click

from ..progress import bar_of, shown

SHAPE = "{n_fmt} of about {total_fmt} functions compiled |{bar}| {elapsed}"


@click.command(short_help="Compile everything once.")
def warmup() -> None:
    """Compile everything that is compiled on first use and keep it in the cache folder.

    It takes one to two minutes on two idle cores, and longer on a busy machine.
    """
    from ... import warmup as compile_all
    from ...compiled.cache.folder import cache_place
    from ...warm import compiled_functions, expected_functions

    start, place, expected = time.perf_counter(), cache_place(), expected_functions()
    bar = bar_of(expected, SHAPE)

    def line() -> str:
        bar.n = min(compiled_functions(), expected)
        return f"{bar.n} of about {expected} functions compiled, {time.perf_counter() - start:.0f} s"

    with shown(bar, line):
        compile_all()
    kept = f"kept in {place.folder}" if place.lasts else "and kept for this process only"
    click.echo(f"compiled in {time.perf_counter() - start:.1f} s, {kept}", err=True)
