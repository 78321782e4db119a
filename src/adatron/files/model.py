"""Save a fitted estimator in one file and load it again.

A model file is an uncompressed zip: `model.json`, which holds the parameters and the fitted state, and one `.npy`
member for each array. It holds no pickle, and loading one runs no code from it. Equal models give equal files, byte for
byte.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path as FilePath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..estimators.incremental.machine import Incremental
from .atomic import atomic_write, remove_leftovers
from .codec import CodecError, Encoder, decode
from .journal import holds_records, journal_of
from .libsvm_model import START, load_libsvm
from .source import open_plain, rewindable
from .table import ModelFileError, NoModelError, Path

ZIP = b"PK\3\4"
MAGIC = "adatron-model"
FORMAT_VERSION = 1
HEADER = "model.json"


def save(model: BaseEstimator, path: Path) -> None:
    """Write an estimator to a file, whole or not at all.

    Parameters
    ----------
    model : estimator of adatron
        Fitted or not; alone, or in a Pipeline after a StandardScaler, MinMaxScaler or MaxAbsScaler.
    path : path
        By custom with the extension .adatron. An existing file is replaced once the new one is on the disk.

    Raises
    ------
    ModelFileError
        If it is another estimator, or none, or holds a Python function (a callable kernel, a callback).
    OSError
        If the file cannot be written; an old file is then as it was.
    """
    encoder = Encoder()
    if not isinstance(model, BaseEstimator):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelFileError(path, f"only estimators can be stored, not a {type(model).__name__}")
    try:
        header = {
            "magic": MAGIC,
            "format": FORMAT_VERSION,
            "library": metadata.version("adatron"),
            "model": encoder.encode(model),
        }
    except CodecError as error:
        raise ModelFileError(path, str(error)) from error
    with atomic_write(path) as stream:
        _write_archive(stream, header, encoder.arrays)
    _remember(model, path)


def load(path: Path, n_features: int | None = None) -> Any:
    """Read an estimator from a file that `save` wrote, or from LIBSVM model text.

    Parameters
    ----------
    n_features : int, optional
        Features of the data; only LIBSVM text needs to be told, if the last ones are zero in all support vectors.

    Returns
    -------
    estimator
        Its predictions are those of the saved one, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is cut off or damaged, or was written in a newer format; NoModelError if it is no model file.
    OSError
        If the file cannot be read.
    """
    path = rewindable(path)
    if is_libsvm_model(path):
        return load_libsvm(path, n_features)
    if not _begins_with(path, ZIP):
        raise NoModelError(path, "not an adatron model file")
    with _damage_named(path), open_plain(path) as stream, zipfile.ZipFile(stream) as archive:
        header = _read_header(archive, path)
        arrays = {name: _read_array(archive, name) for name in archive.namelist() if name.endswith(".npy")}
        model = decode(header.get("model"), arrays)
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(path, f"damaged model file ({HEADER} has no model)")
    _remember(model, path)
    return model


def _remember(model: BaseEstimator, path: Path) -> None:
    """Tell an incremental model, alone or in a pipeline, of the file that holds it."""
    steps: Any = getattr(model, "steps", [("", model)])
    place = FilePath(path)
    if isinstance(steps[-1][1], Incremental) and place.is_file():
        place = place.resolve()
        steps[-1][1].remember_file(str(place), Keeper(model, place, _stamp(place)))


@dataclass
class Keeper:
    """Writes a file anew when its model has forgotten something."""

    model: BaseEstimator
    place: FilePath
    stamp: tuple[int, int, int]

    def check(self) -> None:
        """Fail if there is a file that is another one than was written."""
        if self.place.exists() and _stamp(self.place) != self.stamp:
            raise ModelFileError(
                self.place,
                "it was replaced since the model was saved to it or loaded from it, and may hold what is to be "
                "forgotten: delete it, or save the model there again",
            )
        if holds_records(journal_of(self.place)):
            raise ModelFileError(
                journal_of(self.place),
                "it holds lines that were learned after the model was written, and maybe what is to be forgotten: let "
                "`adatron stream` go on with the model first",
            )

    def write(self) -> None:
        """Write it, if it is still there; leave nothing of what a killed process wrote."""
        remove_leftovers(self.place)
        if self.place.exists():
            save(self.model, self.place)


def _stamp(place: FilePath) -> tuple[int, int, int]:
    """What tells a file from another one at the same place."""
    found = place.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def is_libsvm_model(path: Path) -> bool:
    """Tell whether a file begins as LIBSVM's model text does."""
    return _begins_with(path, START.encode())


def _begins_with(path: Path, magic: bytes) -> bool:
    with open_plain(path) as stream:
        return stream.read(len(magic)) == magic


def _write_archive(stream: BinaryIO, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        # A ZipInfo made from a name alone has a fixed date: equal models, equal bytes.
        archive.writestr(zipfile.ZipInfo(HEADER), json.dumps(header, allow_nan=False))
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    header = json.loads(archive.read(HEADER)) if HEADER in archive.namelist() else None
    if not (isinstance(header, dict) and header.get("magic") == MAGIC):
        raise NoModelError(path, "not an adatron model file (a zip of another kind)")
    version = header.get("format")
    if not isinstance(version, int) or version < 1:
        raise ModelFileError(path, f"damaged model file (format {version!r})")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            path,
            f"written in model format {version} by adatron {header.get('library')}; this one reads up to "
            f"{FORMAT_VERSION}: update adatron",
        )
    return header


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as member:
        return np.lib.format.read_array(member, allow_pickle=False)


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Turn what zip, JSON and array readers raise for damaged files into a ModelFileError."""
    try:
        yield
    except ModelFileError:
        raise
    except zipfile.BadZipFile as error:
        raise ModelFileError(path, f"not an adatron model file, or one that is cut off or damaged ({error})") from error
    # RuntimeError: an encrypted zip; NotImplementedError: an unknown compression; MemoryError: a forged array shape.
    except (ValueError, KeyError, EOFError, RuntimeError, NotImplementedError, MemoryError, zlib.error) as error:
        raise ModelFileError(path, f"damaged model file ({error})") from error
