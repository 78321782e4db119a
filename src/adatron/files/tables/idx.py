"""Read IDX, the format of MNIST: a magic number with type and dimensions, then the values, big-endian."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..source import read_whole
from ..table import DataError, Path, Request, Table, parsing
from .arrays import checked_labels, checked_table, of_features

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: Path, request: Request) -> Table:
    """Read features alone; the labels are in a separate file, see `read_labels`."""
    return of_features(path, checked_table(path, _values(path, request), None, request), request)


def read_labels(path: Path, request: Request) -> NDArray[Any]:
    """Read the labels of a pair of files."""
    return checked_labels(path, _values(path, request), request)


def _values(path: Path, request: Request) -> NDArray[Any]:
    data = read_whole(path, request.max_bytes)
    head = data[:4]
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in TYPES or not head[3]:
        raise DataError(path, f"not an IDX file (it begins with {head.hex(' ') or 'nothing'})")
    start = 4 + 4 * head[3]
    with parsing(path, "an IDX file"):
        shape = np.frombuffer(data[4:start], ">i4", head[3]).tolist()
    dtype = np.dtype(TYPES[head[2]])
    announced = math.prod(shape) * dtype.itemsize
    if min(shape) < 0:
        raise DataError(path, f"not an IDX file (its header announces the shape {shape})")
    if len(data) - start != announced:
        raise DataError(path, f"{len(data) - start} bytes where its header announces {announced}")
    with parsing(path, "an IDX file"):
        return np.frombuffer(data, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))
