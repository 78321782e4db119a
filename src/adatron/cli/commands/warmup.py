"""`adatron warmup`: compile everything once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ..ticker import every

SECONDS = {True: 0.5, False: 10.0}  # Seconds between two reports, on a terminal and elsewhere.


@click.command(short_help="Compile everything once.")
def warmup() -> None:
    """Compile everything that is compiled on first use and keep it in the cache folder.

    It takes one to two minutes on two idle cores, and longer on a busy machine.
    """
    from ... import warmup as compile_all
    from ...compiled.cache.folder import cache_place

    start = time.perf_counter()
    place = cache_place()
    with _progress(start):
        compile_all()
    kept = f"kept in {place.folder}" if place.lasts else "and kept for this process only"
    click.echo(f"compiled in {time.perf_counter() - start:.1f} s, {kept}", err=True)


@contextmanager
def _progress(start: float) -> Iterator[None]:
    """Say now and then how many functions are compiled, and how long it took so far."""
    from ...warm import compiled_functions, expected_functions

    terminal, expected = sys.stderr.isatty(), expected_functions()

    def report() -> None:
        done, seconds = min(compiled_functions(), expected), time.perf_counter() - start
        text = f"{done} of about {expected} functions compiled, {seconds:.0f} s"
        click.echo(f"\r{text} " if terminal else text, err=True, nl=not terminal)

    try:
        with every(SECONDS[terminal], report):
            yield
    finally:
        if terminal:
            click.echo(err=True)
