"""`adatron warmup`: compile everything once."""

from __future__ import annotations

import time

import click

from ..progress import PATIENCE, SHAPE_ALONE, bar_of, shown


def progress(done: int, expected: int, since: int, seconds: float) -> str:
    """Return a line that says how many functions are compiled, ``since`` of them in these seconds, and what is left."""
    text = f"Compiling for this machine (once), {done} of {expected}"
    if since <= 0 or seconds <= PATIENCE:
        return text  # nothing is known about the rest yet
    return f"{text}, about {seconds / since * (expected - done):.0f} s left"


@click.command(short_help="Compile everything once.")
def warmup() -> None:
    """Compile everything that is compiled on first use and keep it in the cache folder.

    It takes one to two minutes on two idle cores, and longer on a busy machine.
    """
    from ... import warmup as compile_all
    from ...compiled.cache.folder import cache_place
    from ...warm import compiled_functions, expected_functions

    start, place, expected = time.perf_counter(), cache_place(), expected_functions()
    bar, before = bar_of(expected, SHAPE_ALONE), compiled_functions()

    def line() -> str:
        bar.n = min(compiled_functions(), expected)
        text = progress(bar.n, expected, bar.n - before, time.perf_counter() - start)
        bar.set_description_str(text, refresh=False)
        return text

    with shown(bar, line):
        compile_all()
    kept = f"kept in {place.folder}" if place.lasts else "and kept for this process only"
    click.echo(f"compiled in {time.perf_counter() - start:.1f} s, {kept}", err=True)
