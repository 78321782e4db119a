"""The container of a model file: a zip of `model.json` and arrays, with a digest.

The zip's comment, its last bytes, is the SHA-256 digest of the names, lengths and check sums of all parts. It tells a
damaged file from a file that was made on purpose. The lengths are compared with a limit before any part is read. A part
gives at most the bytes that its length says, and an array is as long as its header says.
"""

from __future__ import annotations

import errno
import hashlib
import io
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..table import ModelFileError

HEADER = "model.json"  # The part that is not an array.
MOST_HEADER = 2**24  # Most bytes of model.json.
MARK = b"sha256:"  # Begin of the zip's comment.
READ_BYTES = 2**20  # Bytes that are read at a time.
LARGEST_DIMENSION = 2**31 - 1  # Largest dimension.
DEFLATE_LEVEL = 1  # Level of deflate; the fastest takes nearly all of the gain.
PROBE = 2**16  # Bytes of an array that are compressed as a trial.
WORTH_DEFLATING = 0.75  # Part of its size below which an array is compressed.
ENCRYPTED = 1  # Bit of a part's flags.
LAST_CHARACTER = 0x10FFFF
#: Types of arrays. The widest floats are left out: they differ from machine to machine.
TYPE = re.compile(r"[<>|](?:b1|[iu][1248]|f[248]|c8|c16|U[1-9]\d{0,8})")
_PART = re.compile(r"model\.json|\d{1,9}\.npy")  # Names of parts.


class DamagedError(ValueError):
    """A file that differs from what was written."""


class InvalidError(ValueError):
    """A file as it was written, which is not a model."""


class TooLargeError(InvalidError):
    """A file whose content takes more memory than it may."""


@contextmanager
def sealed_zip(stream: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Open a zip for writing that ends with its digest."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=DEFLATE_LEVEL) as archive:
        yield archive
        archive.comment = seal(archive)


def seal(archive: zipfile.ZipFile) -> bytes:
    """Return the comment of a zip: the digest of what it says of its parts."""
    parts = [(one.filename, one.file_size, one.CRC) for one in archive.infolist()]
    return MARK + hashlib.sha256(repr(parts).encode()).hexdigest().encode()


def write_archive(stream: BinaryIO, header: bytes, arrays: dict[str, NDArray[Any]]) -> None:
    """Write the parts: equal ones give equal bytes."""
    with sealed_zip(stream) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER), header, zipfile.ZIP_DEFLATED)
        for name, array in arrays.items():
            sample = array.reshape(-1, order="A")[: PROBE // max(1, array.itemsize)].tobytes()
            gains = len(zlib.compress(sample, DEFLATE_LEVEL)) < WORTH_DEFLATING * len(sample)
            entry = zipfile.ZipInfo(name)  # with a fixed date
            entry.compress_type = zipfile.ZIP_DEFLATED * gains
            with archive.open(entry, "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, version=(1, 0), allow_pickle=False)


def read_archive(
    stream: BinaryIO, most: int, header_of: Callable[[bytes | None], dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays.

    most : bytes that all parts may take together
    header_of : reads the header before all else, as other formats have other digests; it gets None without a header

    Raises
    ------
    DamagedError, InvalidError, TooLargeError
        See there.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            if HEADER not in archive.namelist():
                return header_of(None), {}
            _check_sizes(archive, most)
            header = header_of(_read(archive, HEADER).tobytes())
            if archive.comment != seal(archive):
                raise DamagedError("its digest is wrong, cut off or missing")
            parts = {name: _read(archive, name) for name in archive.namelist() if name != HEADER}
    except (DamagedError, InvalidError, ModelFileError, MemoryError, RecursionError):
        raise
    except Exception as error:  # zipfile does not list what damage causes
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise DamagedError(str(error)) from error
    return header, {name: array_of(part, name) for name, part in parts.items()}


def _check_sizes(archive: zipfile.ZipFile, most: int) -> None:
    """Refuse unknown parts, and parts that take too much memory."""
    known: set[str] = set()
    for one in archive.infolist():
        if one.filename in known or not _PART.fullmatch(one.filename):
            raise InvalidError(f"it holds a part {one.filename[:50]!r} that no model has, or that it has already")
        known.add(one.filename)
        if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or one.flag_bits & ENCRYPTED:
            raise InvalidError(f"its part {one.filename} is encrypted, or compressed by another method than deflate")
    if archive.getinfo(HEADER).file_size > MOST_HEADER:
        raise InvalidError(f"its part {HEADER} is longer than {MOST_HEADER} bytes")
    if (total := sum(one.file_size for one in archive.infolist())) > most:
        raise TooLargeError(f"its content takes {total:,} bytes of memory; {most:,} are allowed (max_bytes)")


def _read(archive: zipfile.ZipFile, name: str) -> NDArray[np.uint8]:
    """Return the bytes of a part; its check sum is verified at its end."""
    out, done = np.empty(archive.getinfo(name).file_size, np.uint8), 0
    with archive.open(name) as stream:
        while data := stream.read(READ_BYTES):
            out[done : done + len(data)] = np.frombuffer(data, np.uint8)
            done += len(data)
    if done < len(out):
        raise EOFError(f"{name} is cut off")
    return out


def array_of(data: NDArray[np.uint8], name: str) -> NDArray[Any]:
    """Return the array of a NumPy file, in this computer's byte order; a view of the bytes if possible."""
    head = io.BytesIO(data[:PROBE].tobytes())
    try:
        version = np.lib.format.read_magic(head)
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(head)
    except Exception as error:  # NumPy parses the header as Python text, in several ways
        raise InvalidError(f"the array {name} has no header that NumPy wrote") from error
    if version != (1, 0) or not TYPE.fullmatch(dtype.str):
        raise InvalidError(f"the array {name} does not hold plain numbers, truth values or text")
    data = data[head.tell() :]
    if not 0 <= max(shape, default=0) <= LARGEST_DIMENSION or math.prod(shape) * dtype.itemsize != len(data):
        raise InvalidError(f"the array {name} is not as long as its shape {shape} says")
    if dtype.kind == "b" and data.max(initial=0) > 1:
        raise InvalidError(f"the array {name} holds truth values other than 0 and 1")
    array = data.view(dtype)
    array = array.astype(dtype.newbyteorder("="), copy=not array.flags.aligned)  # the form that compiled code needs
    if dtype.kind == "U" and array.view(np.uint32).max(initial=0) > LAST_CHARACTER:
        raise InvalidError(f"the array {name} holds numbers of no character")
    return array.reshape(shape, order="F" if by_columns else "C")


def taken(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Return an array, which nothing else may use: so a model is no larger than its file."""
    if name not in arrays:
        raise InvalidError(f"there is no array {str(name)[:50]!r}, or it is used twice")
    return arrays.pop(name)
