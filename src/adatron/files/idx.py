"""Read IDX, the format of MNIST: a magic number with type and dimensions, then the values, big-endian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import checked_labels, checked_table, of_features
from .source import open_binary
from .table import DataError, Path, Request, Table

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: Path, request: Request) -> Table:
    """Read features alone; the labels are a file of their own, see `read_labels`."""
    return of_features(path, checked_table(path, _values(path), None), request)


def read_labels(path: Path) -> NDArray[Any]:
    """Read the labels of a pair of files."""
    return checked_labels(path, _values(path))


def _values(path: Path) -> NDArray[Any]:
    with open_binary(path) as stream:
        head = stream.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in TYPES or not head[3]:
            raise DataError(path, f"not an IDX file (it begins with {head.hex(' ') or 'nothing'})")
        shape = np.frombuffer(_exactly(path, stream.read(4 * head[3]), 4 * head[3]), ">i4")
        dtype = np.dtype(TYPES[head[2]])
        values = _exactly(path, stream.read(), int(np.prod(shape.astype(object))) * dtype.itemsize)
    return np.frombuffer(values, dtype).reshape(shape).astype(dtype.newbyteorder("="))


def _exactly(path: Path, data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise DataError(path, f"{len(data)} bytes where its header announces {size}")
    return data
