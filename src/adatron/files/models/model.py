"""Save a fitted estimator in one file and load it again.

A model file is a zip: `model.json`, which holds the parameters and the fitted state of the machine, and of steps before
it; and one `.npy` for each array; see `archive`. It holds no pickle, and loading it runs
no code from it. Its whole content is checked, see `contents` and `steps`, before anything is computed from it. Equal
models give equal files, byte for byte.
"""

from __future__ import annotations

import json
import os
from contextlib import nullcontext, suppress
from importlib import metadata
from pathlib import Path as FilePath
from typing import Any, BinaryIO, Protocol, cast

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ...estimators.base.machine import KernelMachine
from ...estimators.incremental.machine import Incremental
from ...pipelines import way_to
from ..atomic import atomic_write, remove_leftovers
from ..database import is_database, model_in
from ..source import Piped, begins_with, open_plain, rewindable, room, size_of
from ..table import ModelFileError, NoModelError, Path
from .archive import HEADER, MOST_HEADER, DamagedError, InvalidError, TooLargeError, read_archive, write_archive
from .codec import TOO_DEEP, decode_machine, encode_machine
from .libsvm_text import START, load_libsvm
from .steps import decode_steps, encode_steps, joined

ZIP = b"PK\3\4"  # The first bytes of a zip.
MODEL_MAGIC = "adatron-model"  # The format's name in model.json.
FORMAT_VERSION = 5  # Readers take this one alone.
STREAMING = (
    "it is the database of a stream, which may hold lines that the model lacks: save to another file; to forget there, "
    "write the line -ID to the input of `adatron stream`"
)


def save(model: BaseEstimator | Estimator, path: Path) -> None:
    """Write an estimator to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        An estimator of adatron, fitted or not, or a pipeline as the command line makes it: scalers, an imputer, an
        encoder of texts, columns and an estimator at its end; its file takes skops. The page on serving lists the
        classes; skops itself stores other pipelines. Requests for metadata and `set_output` are stored. Callbacks of
        scikit-learn and the ``memory`` of a pipeline are not: they act in fits only.
    path : path
        By custom with the extension .adatron. An existing file is replaced once the new one is on the disk.

    Raises
    ------
    ModelFileError
        If the model is, or holds, an estimator of another class, or a Python function (a callable kernel, a callback).
        If the file is the database of a stream. If `load` would refuse the file, for example because a parameter is
        out of its range.
    OSError
        If the file cannot be written; an old file is then as it was.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import adatron
    >>> model = adatron.SVC().fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     adatron.save(model, Path(folder) / "model.adatron")
    ...     adatron.load(Path(folder) / "model.adatron").predict([[0.2]])
    array([0])
    """
    if not isinstance(model, BaseEstimator):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelFileError(path, f"only estimators can be stored, not a {type(model).__name__}")
    if is_database(path):
        raise ModelFileError(path, STREAMING)
    last = way_to(model).machine
    with last.lock if isinstance(last, Incremental) else nullcontext():  # what is written is what is remembered
        with atomic_write(path) as stream:
            write(model, stream, path)
        _remember(model, path)


def write(model: BaseEstimator | Estimator, stream: BinaryIO, path: Path) -> None:
    """Do what `save` does, to an open file; messages name the path."""
    header: dict[str, Any] = {"magic": MODEL_MAGIC, "format": FORMAT_VERSION, "library": metadata.version("adatron")}
    machine: Any = model
    arrays: dict[str, NDArray[Any]] = {}
    try:
        if not isinstance(model, KernelMachine):
            header["steps"], header["requests"], arrays, machine = encode_steps(model)
        header["model"], arrays = (None, arrays) if machine is None else encode_machine(machine, arrays)
    except (ValueError, TypeError, ImportError) as error:  # the latter ones of skops
        raise ModelFileError(path, str(error)) from error
    except RecursionError as error:
        raise ModelFileError(path, TOO_DEEP) from error
    text = json.dumps(header, allow_nan=False).encode()
    if len(text) > MOST_HEADER:
        raise ModelFileError(path, f"values besides arrays take {len(text)} bytes; there is room for {MOST_HEADER}")
    write_archive(stream, text, arrays)


class Estimator(Protocol):
    """A fitted estimator, of this library or of scikit-learn; its class stands in the file that it is read from."""

    def predict(self, X: Any) -> NDArray[Any]: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def __getattr__(self, name: str) -> Any: ...


def load(path: Path, n_features: int | None = None, max_bytes: int | None = None) -> Estimator:
    """Read an estimator from a file that `save` wrote, or from LIBSVM model text.

    Parameters
    ----------
    path : path
        The file; ``-`` is standard input.
    n_features : int, optional
        Features of the data; only LIBSVM text needs them, if the last ones are zero in all support vectors.
    max_bytes : int, optional
        Memory that the content of a file, decompressed, may take; by default a quarter of the free memory, or the
        length of the file if that is more.

    Returns
    -------
    estimator
        Its predictions are those of the saved one, to the last bit.

    Warns
    -----
    InconsistentVersionWarning
        Another version of scikit-learn wrote an estimator of scikit-learn in the file.

    Raises
    ------
    ModelFileError
        If the file is damaged, does not hold a valid model, takes more than ``max_bytes``, or is in another version of
        the format, older or newer; NoModelError if it is not a model file.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import adatron
    >>> model = adatron.SVC().fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     adatron.save(model, Path(folder) / "model.adatron")
    ...     adatron.load(Path(folder) / "model.adatron").predict([[0.2]])
    array([0])
    """
    path = rewindable(path)
    if not isinstance(path, Piped):
        with suppress(OSError):  # the folder may be read-only
            remove_leftovers(path)
    if is_libsvm_model(path):
        return cast("Estimator", load_libsvm(path, n_features))
    if is_database(path):
        model = load(Piped(os.fspath(path), model_in(path, max_bytes)), n_features, max_bytes)
        _remember(model, path)
        return model
    if not begins_with(path, ZIP):
        raise NoModelError(path, "not an adatron model file")
    try:
        most = max(room(), size_of(path)) if max_bytes is None else max_bytes
        with open_plain(path) as stream:
            header, arrays = read_archive(stream, most, lambda text: _header(text, path))
        entry = header["model"]
        if "steps" in header:
            model = decode_steps(header["steps"], header["requests"], arrays)
            model = model if entry is None else joined(model, decode_machine(entry, arrays))
        else:
            model = cast("Estimator", decode_machine(entry, arrays))
        _remember(model, path)
    except (ModelFileError, OSError, MemoryError):
        raise
    except (ImportError, TooLargeError) as error:  # the former of skops
        raise ModelFileError(path, str(error)) from error
    except DamagedError as error:
        raise ModelFileError(path, f"the file is damaged, or cut off ({error})") from error
    except Exception as error:  # skops and scikit-learn do not list what a crafted state causes
        reason = TOO_DEEP if isinstance(error, RecursionError) else str(error)[:1000]
        raise ModelFileError(path, f"the file is not a valid model: {reason}") from error
    return model


def _remember(model: Any, path: Path) -> None:
    """Tell an incremental model, alone or in a pipeline, of the file that holds it."""
    last = way_to(model).machine
    if isinstance(last, Incremental) and not isinstance(path, Piped) and FilePath(path).is_file():
        last.remember_file(str(FilePath(path).resolve()), model)


def is_libsvm_model(path: Path) -> bool:
    """Return whether a file begins as LIBSVM's model text does."""
    return begins_with(path, START.encode())


def _header(text: bytes | None, path: Path) -> dict[str, Any]:
    """Read the header, which must have a model."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no number")

    try:
        header = None if text is None else json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise InvalidError(f"{HEADER} is not JSON ({error})") from error
    if not (isinstance(header, dict) and header.get("magic") == MODEL_MAGIC):
        raise NoModelError(path, "not an adatron model file (a zip of another kind)")
    version = header.get("format")
    if type(version) is not int or version < 1:
        raise InvalidError(f"its format is {str(version)[:50]!r}")
    if version != FORMAT_VERSION:
        cure = "update adatron" if version > FORMAT_VERSION else "fit and save the model again"
        raise ModelFileError(
            path,
            f"written in model format {version} by adatron {str(header.get('library'))[:50]}; this one reads format "
            f"{FORMAT_VERSION}: {cure}",
        )
    if "model" not in header:
        raise InvalidError(f"{HEADER} has no model")
    return header
