"""The common part of all commands: exit status, tables for people, results for programs."""

from __future__ import annotations

import errno
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import click

TableRows = list[tuple[str, object]]  # names and values, as people read them


class ExitStatus(IntEnum):
    """The exit status of the tool."""

    FINE = 0
    BAD_INPUT = 1
    USAGE = 2
    NOT_CONVERGED = 3
    IO = 4
    INTERRUPTED = 130


class InputError(ValueError):
    """Data or a model that a command cannot use, in words of the tool and of the user."""


def echo_rows(rows: Iterable[tuple[str, object]], err: bool) -> None:
    """Print rows of a name and a value, aligned."""
    listed = [(name, str(value)) for name, value in rows]
    width = max(len(name) for name, _ in listed)
    _echo("".join(f"{name:<{width}}  {value}\n" for name, value in listed), err)


def _echo(text: str, err: bool) -> None:
    """Print text; an error, such as that of a full disk, names the stream."""
    try:
        click.echo(text, nl=False, err=err)
    except OSError as error:
        error.filename = "standard error" if err else "standard output"
        raise


def write_result(text: str, output: str | None) -> None:
    """Write a command's result to a file, whole or not at all, or to standard output."""
    if output is None:
        if sys.stdout is None:  # closed by whoever started the tool; click would print nowhere
            raise OSError(errno.EBADF, "it is closed", "standard output")
        _echo(text, err=False)
        return
    from ..files import atomic_write

    with atomic_write(output) as stream:
        stream.write(text.encode())


def as_json(result: dict[str, Any]) -> str:
    """Return a result as JSON, an entry a line; NaN and infinity become null."""
    return json.dumps(_plain(result), allow_nan=False, ensure_ascii=False, indent=2) + "\n"


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold: arrays as lists, NumPy's numbers as numbers, unknown values as text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


@contextmanager
def warnings_as_lines(reworded: Callable[[str], str] = str) -> Iterator[None]:
    """Print each warning raised inside as one line on stderr, once and at once; ``reworded`` maps its message."""
    told: set[str] = set()

    def tell(message: Warning | str, *_: object) -> None:
        text = " ".join(reworded(str(message)).split())
        if text not in told:
            from tqdm import tqdm

            told.add(text)
            with tqdm.external_write_mode(file=sys.stderr):  # a bar may be on the line
                click.echo(f"warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = tell
        yield
