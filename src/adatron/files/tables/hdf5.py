"""Read HDF5, with the extra `hdf5`.

A file of this format may name other files, whose bytes would become features: external storage, virtual datasets and
links out of the file are refused.
"""

from __future__ import annotations

import io
import re
from pathlib import Path as FilePath
from typing import Any

from numpy.typing import NDArray

from ...extras import needed
from ..source import Piped, read_whole
from ..table import DataError, Path, Request, Table, parsing
from .arrays import table_of_named
from .hdf5_storage import check_storage, check_texts

# A group inside the file follows it, as in HDF5's own tools: data.h5/train.
_WITH_GROUP = re.compile(r"(.+?\.(?:h5|hdf5|hdf)(?:\.gz|\.bz2|\.xz)?)(?:/(.*))?$", re.IGNORECASE)
HDF5_FILE = "an HDF5 file"
LINKS = 16  # Most links in a row; a circle has no end.


def file_and_group(path: Path) -> tuple[Path, str]:
    """Split data.h5/train into the file and the group; the group is / if none is named."""
    match = _WITH_GROUP.match(str(FilePath(path)))
    if match is None or isinstance(path, Piped) or FilePath(path).is_file():
        return path, "/"
    return match[1], match[2] or "/"


def read_hdf5(path: Path, request: Request) -> Table:
    """Read the datasets X and y (or data and target, or the one that ``label`` names) of a group."""
    h5py = needed("h5py", "hdf5", "reading it takes")
    file, name = file_and_group(path)
    data = read_whole(file, request.max_bytes)
    with parsing(path, HDF5_FILE), h5py.File(io.BytesIO(data), "r") as root:
        group = _inside(h5py, path, root, root, name)
        if not isinstance(group, h5py.Group):
            raise DataError(path, f"no group {name!r} in the file")
        groups = [key for key in group if _is_group(h5py, group, key)]
        arrays = [key for key in group if key not in set(groups)]
        if not arrays and groups:
            raise DataError(path, f"no arrays here, only groups: name one, as in {FilePath(file)}/{groups[0]}")

        def array_of(key: str) -> NDArray[Any]:
            dataset = _inside(h5py, path, root, group, key)
            if not isinstance(dataset, h5py.Dataset) or dataset.shape is None:
                raise DataError(path, f"{key!r} is not an array")
            check_storage(path, dataset, data, request.max_bytes)
            if dataset.dtype.hasobject:
                check_texts(path, h5py, dataset, data, request.max_bytes)
            return dataset[()]

        return table_of_named(path, arrays, array_of, request)


def _is_group(h5py: Any, group: Any, key: str) -> bool:
    """Tell whether a name stands for a group, without following a link."""
    return isinstance(group.get(key, getlink=True), h5py.HardLink) and group.get(key, getclass=True) is h5py.Group


def _inside(h5py: Any, path: Path, root: Any, start: Any, name: str) -> Any:
    """Return the object that a name and the links of this file lead to, or None."""
    node, parts, links = start, _parts(name), 0
    while parts:
        part = parts.pop(0)
        link = node.get(part, getlink=True) if isinstance(node, h5py.Group) else None
        if link is None:
            return None
        if isinstance(link, h5py.ExternalLink):
            raise DataError(path, f"{name!r} is a link to another file ({link.filename}), which is not followed")
        if isinstance(link, h5py.SoftLink):
            links += 1
            if links > LINKS:
                raise DataError(path, f"{name!r} is a link through more than {LINKS} links")
            node = root if link.path.startswith("/") else node
            parts = _parts(link.path) + parts
        else:
            node = node[part]
    return node


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part not in ("", ".")]
