"""The container of a model file: a zip of `model.json` and arrays, with a digest of the whole file.

The zip's comment, its last bytes, is the SHA-256 digest of all bytes before it. It tells a damaged file from a file
that was made on purpose.

Members that gain from it are compressed by deflate, whose fastest level takes nearly all of the gain. The sizes of all
members are known, and compared with a limit, before any of them is read. A member gives at most the bytes that its size
says, and no two members share bytes. An array is as long as its header says.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

HEADER = "model.json"  # The member that describes the others.
MOST_HEADER = 2**24  # Most bytes of model.json.
MARK = b"sha256:"  # Begin of the zip's comment.
SEAL = len(MARK) + 64  # Bytes of the comment.
READ_BYTES = 2**20  # Bytes that are read at a time.
LOCAL = 30  # Fewest bytes of a zip between the begin of a member and its data.
LARGEST_DIMENSION = 2**31 - 1  # Largest dimension.
DEFLATE_LEVEL = 1  # Level of deflate.
PROBES, PROBE = 4, 2**14  # Pieces of an array, and the bytes of each, that are tried.
WORTH_DEFLATING = 0.75  # Part of its size below which a member is compressed.
MOST_RATIO = 1040  # Deflate makes no byte into more than 1032.
ENCRYPTED = 1  # Bit of a member's flags.
LAST_CHARACTER = 0x10FFFF
#: Types of arrays. The widest floats are left out: they differ from machine to machine.
TYPE = re.compile(r"[<>|](?:b1|[iu][1248]|f[248]|c8|c16|U[1-9]\d{0,8})")
# Errors that damaged zips and arrays cause.
WRONG = zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error
_MEMBER = re.compile(r"model\.json|\d{1,9}\.npy")  # Names of members.
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([^']+)', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,19}, ?)*(?:\d{1,19})?)\), \} *\n",
    re.DOTALL,
)
_LENGTH = struct.Struct("<8xH")  # length of the header, at the begin of a NumPy file


class DamagedError(ValueError):
    """A file that differs from what was written."""


class InvalidError(ValueError):
    """A file as it was written, which is not a model."""


class TooLargeError(InvalidError):
    """A file whose content takes more memory than it may."""


class Sealed:
    """A stream to which a zip is written; at the end its comment is replaced by the digest.

    Parameters
    ----------
    stream : binary file, open for writing
        It need not be seekable.
    """

    placeholder = bytes(SEAL)

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._digest, self._held = stream, hashlib.sha256(), b""

    def write(self, data: Any) -> int:
        """Pass data on, except for the last bytes, which may be the comment."""
        view = memoryview(data).cast("B")
        kept = max(0, len(view) - SEAL)
        if kept:
            self._pass_on(self._held)
            self._pass_on(view[:kept])
            self._held = b""
        held = self._held + bytes(view[kept:])
        self._pass_on(held[:-SEAL])
        self._held = held[-SEAL:]
        return len(view)

    def _pass_on(self, data: Any) -> None:
        self._digest.update(data)
        self._stream.write(data)

    def flush(self) -> None:
        """Do nothing: the stream is flushed by its owner."""

    def close(self) -> None:
        """Write the digest, after the zip has written its placeholder."""
        self._stream.write(MARK + self._digest.hexdigest().encode())


@contextmanager
def sealed_zip(stream: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Open a zip for writing that ends with its digest."""
    sealed: Any = Sealed(stream)
    with zipfile.ZipFile(sealed, "w", zipfile.ZIP_DEFLATED, compresslevel=DEFLATE_LEVEL) as archive:
        archive.comment = Sealed.placeholder
        yield archive
    sealed.close()


def write_archive(stream: BinaryIO, header: bytes, arrays: dict[str, NDArray[Any]]) -> None:
    """Write the header and the arrays: equal ones give equal bytes."""
    with sealed_zip(stream) as archive:
        with archive.open(_entry(HEADER, len(header) > PROBE), "w") as member:
            member.write(header)
        for name, array in arrays.items():
            with archive.open(_entry(name, _gains(array)), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def _entry(name: str, compressed: bool) -> Any:
    """Return what opens a member for writing; both forms have a fixed date."""
    return name if compressed else zipfile.ZipInfo(name)  # a name takes the archive's compression, a ZipInfo none


def _gains(array: NDArray[Any]) -> bool:
    """Return whether a few pieces of an array become much shorter."""
    flat = array.reshape(-1, order="A")
    length = max(1, PROBE // max(1, flat.itemsize))
    if flat.nbytes <= PROBE:
        pieces = [flat]
    else:
        pieces = [flat[begin : begin + length] for begin in np.linspace(0, len(flat) - length, PROBES).astype(np.int64)]
    sample = b"".join(piece.tobytes() for piece in pieces)
    return len(sample) > SEAL and len(zlib.compress(sample, DEFLATE_LEVEL)) < WORTH_DEFLATING * len(sample)


def read_archive(stream: BinaryIO, most: int | None) -> tuple[bytes | None, dict[str, NDArray[Any]]]:
    """Read the header and the arrays; a zip of another kind has no header, which is then None.

    Parameters
    ----------
    most : int or None
        Bytes that all members may take together. None reads the header only.

    Raises
    ------
    DamagedError, InvalidError, TooLargeError
        See there.
    """
    size, sealed = _verified(stream)
    wrong = InvalidError if sealed else DamagedError
    try:
        with zipfile.ZipFile(stream) as archive:
            if HEADER not in archive.namelist():
                return None, {}
            if not sealed:
                raise DamagedError("its digest is damaged, cut off or missing")
            members = _members(archive, size, most)
            header = _read(archive, members.pop(HEADER)).tobytes()
            wanted = {} if most is None else members
            return header, {name: _array(_read(archive, member), name) for name, member in wanted.items()}
    except (DamagedError, InvalidError):
        raise
    except WRONG as error:
        raise wrong(f"{error}") from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        raise wrong("its table of contents points outside the file") from error


def _verified(stream: BinaryIO) -> tuple[int, bool]:
    """Return the size of the file, and whether it has a digest; a wrong digest raises."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - SEAL))
    seal = stream.read(SEAL)
    stream.seek(0)
    if not seal.startswith(MARK):
        return size, False
    digest, left = hashlib.sha256(), size - SEAL
    while left > 0 and (data := stream.read(min(READ_BYTES, left))):
        digest.update(data)
        left -= len(data)
    stream.seek(0)
    if seal != MARK + digest.hexdigest().encode():
        raise DamagedError("its content does not have the digest that it was written with")
    return size, True


def _members(archive: zipfile.ZipFile, size: int, most: int | None) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, once their sizes and places are known to be honest."""
    found: dict[str, zipfile.ZipInfo] = {}
    free = 0
    for member in sorted(archive.infolist(), key=lambda member: member.header_offset):
        name = member.filename
        if name in found or not _MEMBER.fullmatch(name):
            raise InvalidError(f"it holds a part {name[:50]!r} that no model has, or that it has already")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or member.flag_bits & ENCRYPTED:
            raise InvalidError(f"its part {name} is encrypted, or compressed by another method than deflate")
        stored = member.compress_type == zipfile.ZIP_STORED
        if stored and member.file_size != member.compress_size:
            raise InvalidError(f"its part {name} shares bytes with another part")
        if member.file_size > MOST_RATIO * (member.compress_size + 1):
            raise InvalidError(f"its part {name} is said to become longer than deflate can make it")
        if member.header_offset < free:
            raise InvalidError(f"its part {name} shares bytes with another part")
        free = member.header_offset + LOCAL + member.compress_size
        found[name] = member
    if free > size:
        raise InvalidError("its parts are longer than the file")
    if found[HEADER].file_size > MOST_HEADER:
        raise InvalidError(f"its part {HEADER} is longer than {MOST_HEADER} bytes")
    if most is not None and (total := sum(member.file_size for member in found.values())) > most:
        raise TooLargeError(f"its content takes {total:,} bytes of memory; {most:,} are allowed (max_bytes)")
    return found


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[np.uint8]:
    """Return the bytes of a member; its check sum is verified at its end."""
    out, done = np.empty(member.file_size, np.uint8), 0
    with archive.open(member) as stream:
        while data := stream.read(READ_BYTES):
            out[done : done + len(data)] = np.frombuffer(data, np.uint8)
            done += len(data)
    if done < len(out):
        raise EOFError(f"{member.filename} is cut off")
    return out


def _array(data: NDArray[np.uint8], name: str) -> NDArray[Any]:
    """Return the array of a NumPy file, in this computer's byte order; a view of the bytes if possible."""
    text = data[: 10 + (_LENGTH.unpack(data[:10].tobytes())[0] if len(data) >= _LENGTH.size else 0)].tobytes()
    found = _NPY.fullmatch(text)
    if found is None or not TYPE.fullmatch(found[1].decode("latin-1")):
        raise InvalidError(f"the array {name} has no header of plain numbers, truth values or text")
    dtype = np.dtype(found[1].decode())
    shape = tuple(int(part) for part in found[3].split(b",") if part.strip())
    data = data[len(text) :]
    if max(shape, default=0) > LARGEST_DIMENSION or len(shape) > 32 or math.prod(shape) * dtype.itemsize != len(data):
        raise InvalidError(f"the array {name} is not as long as its shape {shape} says")
    if dtype.kind == "b" and data.max(initial=0) > 1:
        raise InvalidError(f"the array {name} holds truth values other than 0 and 1")
    array = data.view(dtype)
    array = array.astype(dtype.newbyteorder("="), copy=not array.flags.aligned)  # the form that compiled code needs
    if dtype.kind == "U" and array.view(np.uint32).max(initial=0) > LAST_CHARACTER:
        raise InvalidError(f"the array {name} holds numbers of no character")
    return array.reshape(shape, order="F" if found[2] == b"True" else "C")
