"""The check of the files that a command is to write, before it reads or computes anything."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

import click

# Endings that name a format; a file with such an ending must be of this format.
KNOWN_ENDINGS = (
    ".adatron", ".arff", ".bz2", ".csv", ".gz", ".h5", ".hdf", ".hdf5", ".htm", ".html", ".idx", ".joblib", ".json",
    ".libsvm", ".npy", ".npz", ".onnx", ".parquet", ".pdf", ".pickle", ".pkl", ".png", ".pq", ".svg", ".svm",
    ".svmlight", ".tab", ".tsv", ".xlsx", ".xz", ".zip",
)  # fmt: skip
MODEL_ENDINGS = (".adatron",)  # Of model files.
DATA_ENDINGS = (".libsvm", ".svm", ".svmlight")  # Of data in LIBSVM's form.


def check_outputs(
    outputs: Mapping[str, str | None], inputs: Collection[str], endings: Mapping[str, tuple[str, ...]] | None = None
) -> None:
    """Fail if a file cannot be written, or is an input, or another output.

    Parameters
    ----------
    outputs : mapping of str to (str or None)
        The file for each option or argument that names one; None for standard output.
    inputs : iterable of str
        The files that the command reads.
    endings : mapping of str to tuple of str, optional
        For each option or argument the endings in KNOWN_ENDINGS that its format has.

    Raises
    ------
    click.UsageError
        The name of an output is wrong; the message names the option.
    OSError
        An output cannot be written; the message names the option and the file.
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
    folder, output = target.resolve().parent, str(target)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, f"a folder, not a file ({name})", output)
    if target.exists() and not target.is_file():  # a device or a pipe
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, f"it cannot be written to ({name})", output)
        return
    if not folder.exists():
        raise FileNotFoundError(errno.ENOENT, f"its folder is missing ({name})", output)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is not a folder ({name})", output)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise type(error)(error.errno, f"no file can be written there: {error.strerror} ({name})", output) from error
