"""Read HDF5, with the extra `hdf5`."""

from __future__ import annotations

import io
import re
from pathlib import Path as FilePath
from typing import Any

from .arrays import table_of_named
from .extra import needs
from .source import open_binary
from .table import DataError, Path, Request, Table

# A group inside the file follows it, as in HDF5's own tools: data.h5/train.
_WITH_GROUP = re.compile(r"(.+?\.(?:h5|hdf5|hdf)(?:\.gz|\.bz2|\.xz)?)(?:/(.*))?$", re.IGNORECASE)


def file_and_group(path: Path) -> tuple[Path, str]:
    """Split data.h5/train into the file and the group; the group is / if none is named."""
    match = _WITH_GROUP.match(str(FilePath(path)))
    if match is None or FilePath(path).is_file():
        return path, "/"
    return match[1], match[2] or "/"


def read_hdf5(path: Path, request: Request) -> Table:
    """Read the datasets X and y (or data and target, or the one that ``label`` names) of a group."""
    h5py = needs("h5py", "hdf5", path)
    file, group = file_and_group(path)
    with open_binary(file) as stream:
        data = stream.read()
    try:
        with h5py.File(io.BytesIO(data), "r") as root:
            if not isinstance(root.get(group), h5py.Group):
                raise DataError(path, f"no group {group!r} in the file")
            arrays: dict[str, Any] = {k: v[()] for k, v in root[group].items() if isinstance(v, h5py.Dataset)}
            groups = [name for name, item in root[group].items() if isinstance(item, h5py.Group)]
    except OSError as error:
        raise DataError(path, f"not an HDF5 file ({error})") from error
    if not arrays and groups:
        raise DataError(path, f"no arrays here, only groups: name one, as in {FilePath(file)}/{groups[0]}")
    return table_of_named(path, arrays, request)
