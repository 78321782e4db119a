"""Outputs of all commands: exit status, warnings, tables for people, results for programs; and a check of files."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any

import click

TableRows = list[tuple[str, object]]  # names and values, as people read them

# Endings that name a format; a file with such an ending must be of this format.
KNOWN_ENDINGS = (
    ".adatron", ".arff", ".bz2", ".csv", ".gz", ".h5", ".hdf", ".hdf5", ".htm", ".html", ".idx", ".joblib", ".json",
    ".libsvm", ".npy", ".npz", ".onnx", ".parquet", ".pdf", ".pickle", ".pkl", ".png", ".pq", ".svg", ".svm",
    ".svmlight", ".tab", ".tsv", ".xlsx", ".xz", ".zip",
)  # fmt: skip
MODEL_ENDINGS = (".adatron",)  # Of model files.
DATA_ENDINGS = (".libsvm", ".svm", ".svmlight")  # Of data in LIBSVM's form.


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
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


@contextmanager
def warnings_as_lines(reworded: Callable[[str], str] = str) -> Iterator[None]:
    """Print each warning raised inside as one line on stderr, once and at once; ``reworded`` maps its message."""
    printed: set[str] = set()

    def tell(message: Warning | str, *_: object) -> None:
        text = " ".join(reworded(str(message)).split())
        if text not in printed:
            from tqdm import tqdm

            printed.add(text)
            with tqdm.external_write_mode(file=sys.stderr):  # a bar may be on the line
                click.echo(f"warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = tell
        yield


def check_outputs(
    outputs: Mapping[str, str | None], inputs: Collection[str], endings: Mapping[str, tuple[str, ...]] | None = None
) -> None:
    """Fail if a file cannot be written (OSError), or is an input or another output (click.UsageError).

    outputs : the file for each option or argument that names one; None for standard output
    inputs : the files that the command reads
    endings : for each option or argument the endings in KNOWN_ENDINGS that its format has
    """
    given = {name: output for name, output in outputs.items() if output is not None}
    for name, output in given.items():
        if not output:
            raise click.UsageError(f"{name} is empty: it names the file to write")
        for path in inputs:
            # Terminals and /dev/null may be input and output: writing there destroys nothing.
            if Path(output).is_file() and existing(path).samefile(output):
                raise click.UsageError(f"{name} {output} is the input {path}, which it would overwrite")
        for other, path in given.items():
            if other != name and os.path.realpath(path) == os.path.realpath(output):
                raise click.UsageError(f"{min(name, other)} and {max(name, other)} are both {output}")
        ending, allowed = Path(output).suffix.lower(), (endings or {}).get(name, KNOWN_ENDINGS)
        if ending in KNOWN_ENDINGS and ending not in allowed:
            written = f"; the file's name may end in {' or '.join(allowed)}" if allowed else "; it writes text"
            raise click.UsageError(f"{name} {output}: the command writes no {ending} file{written}")
    for name, output in given.items():
        _check_place(name, Path(output))


def existing(path: str) -> Path:
    """Return the file of a path, or the nearest folder above that exists."""
    whole = Path(path)
    return next((part for part in (whole, *whole.parents) if part.exists()), Path("/"))


def _check_place(name: str, target: Path) -> None:
    """Fail if the file cannot be written where it is to be."""
    folder, known = target.resolve().parent, {errno.ENOENT: "its folder is missing"}
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder, not a file")
        if target.exists() and not target.is_file():  # a device or a pipe
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            with tempfile.TemporaryFile(dir=folder):
                pass
    except OSError as error:
        text = known.get(error.errno or 0, f"no file can be written there: {error.strerror}")
        raise OSError(error.errno, f"{text} ({name})", str(target)) from error
