"""`adatron warmup`: compile everything once."""

from __future__ import annotations

import time

import click

from ...progress import ProgressDisplay


class Compiling(ProgressDisplay):
    """Shows how many functions are compiled."""

    def line(self) -> str:
        """Return how many functions are compiled, by the files that hold them."""
        from ...warm import compiled_functions

        self.done = compiled_functions()
        return super().line()


@click.command(short_help="Compile everything once.")
def warmup() -> None:
    """Compile everything that is compiled on first use and keep it in the cache folder.

    It takes one to two minutes on two idle cores, and longer on a busy machine.
    """
    from ... import warmup as compile_all
    from ...compiled.cache.folder import cache_place

    start, place = time.perf_counter(), cache_place()
    with Compiling("compiling for this machine (once)", "function", 0):
        compile_all()
    kept = f"kept in {place.folder}" if place.lasts else "and kept for this process only"
    click.echo(f"compiled in {time.perf_counter() - start:.1f} s, {kept}", err=True)
