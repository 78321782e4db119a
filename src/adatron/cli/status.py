"""What every command shares: exit status, tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any
from warnings import catch_warnings, simplefilter

import click


class Status(IntEnum):
    """The exit status of the tool."""

    FINE = 0
    BAD_INPUT = 1
    USAGE = 2
    NOT_CONVERGED = 3
    IO = 4
    INTERRUPTED = 130


def column(text: str) -> int | str:
    """Read the label's column: a whole number is an index, anything else a name in the header."""
    try:
        return int(text)
    except ValueError:
        return text


def data_options(command: Any) -> Any:
    """Add the options that say how a data file is read."""
    formats = click.Choice(["libsvm", "csv", "tsv", "table"])
    command = click.option("--label", type=column, help="The label's column in a table.  [default: last]")(command)
    return click.option("--format", type=formats, help="Format of FILE.  [default: from its name or content]")(command)


def echo_rows(rows: Iterable[tuple[str, object]], err: bool) -> None:
    """Print rows of a name and a value, aligned."""
    listed = [(name, str(value)) for name, value in rows]
    width = max(len(name) for name, _ in listed)
    for name, value in listed:
        click.echo(f"{name:<{width}}  {value}", err=err)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each warning raised inside as one line on stderr, once."""
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        try:
            yield
        finally:
            messages = dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
            for message in messages:
                click.echo(f"warning: {message}", err=True)
