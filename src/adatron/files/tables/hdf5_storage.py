"""Check how an HDF5 dataset is stored, before the HDF5 library reads it.

Values may be in other files, whose bytes would become features. HDF5 trusts a file: it decompresses a chunk until the
memory is full, and fills a short chunk with old content of the memory. For a text it takes as much memory as its record
says. It reads a damaged heap of texts without an end. The format specification of HDF5 describes heaps in
section III.E, and the records of texts in section IV.B.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..table import DataError, Path, check_size

# Filters by their numbers in HDF5. The result of other filters cannot be checked.
DEFLATE, SHUFFLE, CHECKSUM = 1, 2, 3
# A heap of texts: its first bytes, the length of its header, and of the header of an object in it.
HEAP_MAGIC = b"GCOL\1\0\0\0"
OBJECT_HEADER = 16  # Bytes before each object of a collection: its number, its references and its size.


def check_storage(path: Path, dataset: Any, data: bytes, most: int) -> None:
    """Refuse a dataset whose values are in other files, take more bytes than allowed, or are incomplete.

    Parameters
    ----------
    data : bytes
        The whole file.
    """
    key = dataset.name
    if dataset.external:
        raise DataError(path, f"the values of {key} are in another file ({dataset.external[0][0]}), which is not read")
    if dataset.is_virtual:
        raise DataError(path, f"{key} is virtual: its values are in other files, which are not read")
    check_size(path, f"values of {key}", dataset.size * _width(dataset), most)
    if dataset.chunks:
        check_size(path, f"chunks of {key}", _chunk_size(dataset), most)
        for _ in _chunks(path, dataset, data):
            pass


def check_texts(path: Path, h5py: Any, dataset: Any, data: bytes, most: int) -> None:
    """Refuse texts of any length that take more bytes than allowed, or whose records or heaps are damaged.

    Parameters
    ----------
    data : bytes
        The whole file.
    """
    if h5py.check_string_dtype(dataset.dtype) is None or not dataset.ndim:
        raise DataError(
            path, f"{dataset.name} holds {dataset.dtype} of shape {dataset.shape}, neither numbers nor text"
        )
    address, length = dataset.file.id.get_create_plist().get_sizes()
    record = np.dtype([("length", "<u4"), ("address", f"V{address}"), ("number", "<u4")])
    lengths = [np.frombuffer(raw, record)["length"] for raw in _records(path, h5py, dataset, data)]
    total = sum(int(part.sum(dtype=np.int64)) for part in lengths)
    check_size(path, f"texts of {dataset.name}", total, most)
    _check_heaps(path, data, length)


def _records(path: Path, h5py: Any, dataset: Any, data: bytes) -> Iterator[bytes]:
    """Iterate over the records of texts as they are stored."""
    plist, offset = dataset.id.get_create_plist(), dataset.id.get_offset()
    own = plist.fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED
    if own or dataset.file.userblock_size or plist.get_layout() == h5py.h5d.COMPACT:
        raise DataError(path, f"{dataset.name} holds text in a layout that is not read: let h5py write it anew")
    if dataset.chunks:
        for raw, shuffled in _chunks(path, dataset, data):
            yield np.frombuffer(raw, np.uint8).reshape(_width(dataset), -1).T.tobytes() if shuffled else raw
    elif offset is not None:
        yield data[offset : offset + dataset.size * _width(dataset)]


def _chunks(path: Path, dataset: Any, data: bytes) -> Iterator[tuple[bytes, bool]]:
    """Iterate over (decompressed chunk, whether its bytes are shuffled); each has the bytes that it should have."""
    plist, size = dataset.id.get_create_plist(), _chunk_size(dataset)
    filters = [plist.get_filter(index)[0] for index in range(plist.get_nfilters())]
    if set(filters) - {DEFLATE, SHUFFLE, CHECKSUM} or len(set(filters)) < len(filters):
        raise DataError(path, f"{dataset.name} is compressed in a way that is not read here; gzip is")
    found: list[Any] = []
    dataset.id.chunk_iter(found.append)
    for chunk in found:
        if chunk.size > len(data):
            raise DataError(path, f"not an HDF5 file (a chunk of {dataset.name} has more bytes than the file)")
        skipped, raw = dataset.id.read_direct_chunk(chunk.chunk_offset)
        active = [one for at, one in enumerate(filters) if not skipped >> at & 1]
        for one in reversed(active):
            if one == CHECKSUM:
                raw = raw[:-4]
            elif one == DEFLATE:
                raw = zlib.decompressobj().decompress(raw, size + 8)
        if len(raw) != size:
            raise DataError(path, f"a chunk of {dataset.name} does not have the {size:,} bytes that it should have")
        yield raw, SHUFFLE in active


def _check_heaps(path: Path, data: bytes, length: int) -> None:
    """Walk through the objects of every heap as HDF5 does, and require that each is after the last one.

    Parameters
    ----------
    length : int
        The bytes of a length in this file.
    """
    number_and_size = struct.Struct({2: "<H6xH", 4: "<H6xI", 8: "<H6xQ"}[length])
    start = data.find(HEAP_MAGIC)
    while start >= 0:
        end = start + int.from_bytes(data[start + len(HEAP_MAGIC) : start + len(HEAP_MAGIC) + length], "little")
        at, fits = start + OBJECT_HEADER, end <= len(data)
        while fits and at + OBJECT_HEADER <= end:
            number, size = number_and_size.unpack_from(data, at)
            # The size of free space, which has the number 0, includes its header.
            step = OBJECT_HEADER + (size + 7) // 8 * 8 if number else size
            at += step
            fits = step > 0 and at <= end
        if not fits:
            raise DataError(path, f"not an HDF5 file (the heap of texts at byte {start} is damaged)")
        start = data.find(HEAP_MAGIC, start + 1)


def _width(dataset: Any) -> int:
    """Return the stored bytes of a value; a text of any length has a record with its length, heap and number."""
    if dataset.dtype.kind == "O":
        return 4 + dataset.file.id.get_create_plist().get_sizes()[0] + 4
    return dataset.id.get_type().get_size()


def _chunk_size(dataset: Any) -> int:
    return math.prod(dataset.chunks) * _width(dataset)
