"""Save a fitted estimator in one file and load it again.

A model file is an uncompressed zip: `model.json`, which holds the parameters and the fitted state, and one `.npy`
member for each array. It holds no pickle, and loading one runs no code from it. Equal models give equal files, byte for
byte.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path as FilePath
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .atomic import atomic_write, remove_leftovers
from .codec import CodecError, Encoder, decode
from .keeper import Keeper, incremental_part, refuse_behind, stamp
from .libsvm_model import START, load_libsvm
from .lock import locked
from .source import Piped, open_plain, rewindable
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
        If it is another estimator, or none, or holds a Python function (a callable kernel, a callback); if another
        process has forgotten samples in this file since this incremental model was saved to it or loaded from it.
    OSError
        If the file cannot be written; an old file is then as it was.
    """
    if not isinstance(model, BaseEstimator):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelFileError(path, f"only estimators can be stored, not a {type(model).__name__}")
    last, place = incremental_part(model), FilePath(path)
    if last is None or (place.exists() and not place.is_file()):
        rewrite(model, path)
        return
    with locked(place):
        refuse_behind(last, place, _generation_in)
        rewrite(model, path)


def rewrite(model: BaseEstimator, path: Path) -> None:
    """Do what `save` does, by one who holds the file's lock and knows what the file holds."""
    encoder, last = Encoder(), incremental_part(model)
    try:
        header = {
            "magic": MAGIC,
            "format": FORMAT_VERSION,
            "library": metadata.version("adatron"),
            **({} if last is None else {"generation": last.generation}),
            "model": encoder.encode(model),
        }
    except CodecError as error:
        raise ModelFileError(path, str(error)) from error
    with atomic_write(path) as stream:
        _write_archive(stream, header, encoder.arrays)
        stream.flush()
        found = os.fstat(stream.fileno())
    _remember(model, path, found)


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
    if not isinstance(path, Piped):
        with suppress(OSError):  # a folder that may only be read
            remove_leftovers(path)
    if is_libsvm_model(path):
        return load_libsvm(path, n_features)
    if not _begins_with(path, ZIP):
        raise NoModelError(path, "not an adatron model file")
    with _damage_named(path), open_plain(path) as stream, zipfile.ZipFile(stream) as archive:
        # Another process may replace the file meanwhile.
        found = None if isinstance(path, Piped) else os.fstat(stream.fileno())
        header = _read_header(archive, path)
        arrays = {name: _read_array(archive, name) for name in archive.namelist() if name.endswith(".npy")}
        model = decode(header.get("model"), arrays)
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(path, f"damaged model file ({HEADER} has no model)")
    if found is not None:
        _remember(model, path, found)
    return model


def _remember(model: BaseEstimator, path: Path, found: os.stat_result) -> None:
    """Tell an incremental model, alone or in a pipeline, of the file that holds it."""
    last, place = incremental_part(model), FilePath(path)
    if last is not None and stat.S_ISREG(found.st_mode):
        place = place.resolve()
        last.remember_file(str(place), Keeper(model, last, place, rewrite, stamp(found)))


def is_libsvm_model(path: Path) -> bool:
    """Tell whether a file begins as LIBSVM's model text does."""
    return _begins_with(path, START.encode())


def _begins_with(path: Path, magic: bytes) -> bool:
    with open_plain(path) as stream:
        return stream.read(len(magic)) == magic


def _generation_in(place: FilePath) -> int:
    """How often samples were forgotten in the model of a file; 0 if the file is no model that forgets."""
    try:
        with _damage_named(place), place.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            found = _read_header(archive, place).get("generation")
    except ModelFileError:
        return 0
    return found if isinstance(found, int) else 0


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
