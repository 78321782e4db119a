"""The check that the output of a command is not one of its inputs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click


def refuse_overwriting(name: str, output: str | None, inputs: Iterable[str]) -> None:
    """Fail, before anything is read, if the output is one of the inputs, even through a link.

    Parameters
    ----------
    name : str
        The option or argument that names the output.
    output : str or None
        The file to write; None for standard output.

    Raises
    ------
    click.UsageError
        The message names both.
    """
    # Terminals and /dev/null may be input and output: writing there destroys nothing.
    if output is None or not Path(output).is_file():
        return
    for path in inputs:
        if _file_of(path).samefile(output):
            raise click.UsageError(f"{name} {output} is the input {path}, which it would overwrite")


def _file_of(path: str) -> Path:
    """Return the existing file that a path leads to: data.h5 for data.h5/train."""
    whole = Path(path)
    return next((part for part in (whole, *whole.parents) if part.exists()), Path("/"))
