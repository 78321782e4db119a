"""Read tables that are not text: NumPy archives, and Parquet with the extra `cli`."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from numpy.lib import format as npy
from numpy.typing import NDArray

from ...extras import needed
from ..labels import checked_labels
from ..source import read_whole
from ..table import DataError, Path, Request, Table, check_size, reading
from .columns import Columns, checked_features, table_of

FEATURES_NAMED = ("X", "data", "features")  # Names of X in a file; the first one by preference.
LABELS_NAMED = ("y", "target", "label", "labels")  # Names of y; the first one by preference.
PLAIN_ARRAYS = "a NumPy archive of plain arrays"
PARQUET_FILE = "a Parquet file"
BATCH_ROWS = 2**16  # Rows of a batch.


def read_npz(path: Path, request: Request) -> Table:
    """Read the arrays X and y (or data and target, or the one that ``label`` names) of a NumPy archive.

    A sample of more than one dimension, such as an image, is one row.
    """
    if isinstance(request.label, int):
        raise DataError(path, f"no column {request.label}; here the labels are an array: give its name")
    data, most = read_whole(path, request.max_bytes), request.max_bytes
    if data.startswith(npy.MAGIC_PREFIX):
        raise DataError(path, "one array, not an archive of arrays: numpy.savez(file, X=X, y=y) writes one")
    with reading(path, PLAIN_ARRAYS):
        archive = zipfile.ZipFile(io.BytesIO(data))
    members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}

    def array_of(name: str) -> NDArray[Any]:
        check_size(path, f"contents of the array {name}", members[name].file_size, most)
        with reading(path, PLAIN_ARRAYS):
            return npy.read_array(io.BytesIO(archive.read(members[name])), allow_pickle=False)

    listed = ", ".join(members) or "none"
    features = next((name for name in FEATURES_NAMED if name in members), None)
    if features is None:
        raise DataError(path, f"no array {' or '.join(FEATURES_NAMED)}; the arrays are {listed}")
    names = LABELS_NAMED if request.label is None else (request.label,)
    label = next((name for name in names if name in members), None)
    if label is None and (request.labelled or request.label is not None):
        raise DataError(path, f"no array {' or '.join(names)}; the arrays are {listed}")
    X, y = checked_features(path, array_of(features), request), None if label is None else array_of(label)
    if y is not None and y.ndim and len(y) != len(X):
        raise DataError(path, f"{len(X)} samples and {len(y)} labels")
    return Table(X, None if y is None else checked_labels(path, y, most), label_name=label)


def read_parquet(path: Path, request: Request) -> Table:
    """Read columns of numbers and of text; the index that pandas writes is left out.

    Text is kept as its distinct values, so that a short file cannot repeat a long one until the memory is full.
    """
    parquet = needed("pyarrow.parquet", "cli", "reading it takes")
    pyarrow = needed("pyarrow", "cli", "reading it takes")
    source, most = io.BytesIO(read_whole(path, request.max_bytes)), request.max_bytes
    with reading(path, PARQUET_FILE):
        schema = parquet.ParquetFile(source).schema_arrow
    texts = [field.name for field in schema if _is_text(pyarrow, path, field)]
    with reading(path, PARQUET_FILE):
        file = parquet.ParquetFile(source, read_dictionary=texts, page_checksum_verification=True)
        rows = file.metadata.num_rows
        check_size(path, "columns", rows * sum(_width(field.type) for field in schema), most)
        batches: list[Any] = []
        sizes: dict[int, int] = {}  # by addresses: batches may share the distinct values of a text
        for batch in file.iter_batches(BATCH_ROWS):
            parts = [*batch.columns, *(one.dictionary for one in batch.columns if hasattr(one, "dictionary"))]
            sizes.update({buffer.address: buffer.size for one in parts for buffer in one.buffers() if buffer})
            check_size(path, "columns", sum(sizes.values()), most, at_least=True)
            batches.append(batch)
        table = pyarrow.Table.from_batches(batches, file.schema_arrow)
        for number, (field, column) in enumerate(zip(table.schema, table.columns, strict=True)):
            kind = column.type
            if pyarrow.types.is_decimal(kind) or (pyarrow.types.is_boolean(kind) and column.null_count):
                table = table.set_column(number, field.name, column.cast(pyarrow.float64()))
        names, indices = table.column_names, _indices(table.schema)
        frame = table.to_pandas(ignore_metadata=True, date_as_object=False)
    if not rows or not names:
        raise DataError(path, "the file holds columns and no rows" if names else "the file holds no columns")
    return table_of(Columns(path, names, True, request, None, indices), frame)


def _indices(schema: Any) -> list[str]:
    """Return the columns that pandas says are the index of its table."""
    metadata: Any = schema.pandas_metadata
    found = metadata.get("index_columns") if isinstance(metadata, dict) else None
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _is_text(pyarrow: Any, path: Path, field: Any) -> bool:
    """Tell whether a column holds text; fail if it holds neither text, numbers nor dates."""
    types, kind = pyarrow.types, field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return False
    if types.is_temporal(kind) and not types.is_interval(kind):
        return False
    if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return True
    advice = "; write it as string, as column.cast('string') of pyarrow does" * str(kind).endswith("_view")
    raise DataError(path, f"column {field.name!r} holds {kind}, neither numbers nor text{advice}")


def _width(kind: Any) -> int:
    """Return the bytes of a value in an array; for text, those of its number."""
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:  # no fixed width
        return 4
