"""Read Parquet, with the extra `parquet`."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..source import read_whole
from ..table import DataError, Path, Request, Table, check_size, parsing
from .columns import table_of_columns
from .extra import needs

KIND = "a Parquet file"
ROWS = 2**16  # Rows of a batch.


def read_parquet(path: Path, request: Request) -> Table:
    """Read numeric columns and a label; a missing value is an error.

    Text is kept as its distinct values, so that a short file cannot repeat a long one until the memory is full.
    """
    parquet = needs("pyarrow.parquet", "parquet", path)
    pyarrow = needs("pyarrow", "parquet", path)
    source, most = io.BytesIO(read_whole(path, request.max_bytes)), request.max_bytes
    with parsing(path, KIND):
        schema = parquet.ParquetFile(source).schema_arrow
    texts = [field.name for field in schema if _is_text(pyarrow, path, field)]
    with parsing(path, KIND):
        file = parquet.ParquetFile(source, read_dictionary=texts, page_checksum_verification=True)
        rows = file.metadata.num_rows
        narrowest = sum(_width(field.type) for field in schema)
        check_size(path, "columns", rows * narrowest, most)
        batches: list[Any] = []
        sizes: dict[int, int] = {}
        for batch in file.iter_batches(ROWS):
            sizes.update(_buffers(batch))
            check_size(path, "columns", sum(sizes.values()), most, at_least=True)
            batches.append(batch)
        table = pyarrow.Table.from_batches(batches, file.schema_arrow)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count:
            raise DataError(path, f"column {name!r} has {column.null_count} missing values")
    with parsing(path, KIND):
        columns = [_values(pyarrow, column) for column in table.columns]
    return table_of_columns(path, table.column_names, columns, request)


def _is_text(pyarrow: Any, path: Path, field: Any) -> bool:
    """Tell whether a column holds text; fail if it holds neither text nor numbers."""
    types, kind = pyarrow.types, field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return False
    if types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind):
        return True
    raise DataError(path, f"column {field.name!r} holds {kind}, neither numbers nor text")


def _width(kind: Any) -> int:
    """Return the bytes of a value in an array; for text, those of its number."""
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:  # no fixed width
        return 4


def _buffers(batch: Any) -> dict[int, int]:
    """Return the addresses and sizes of a batch's buffers; batches may share the distinct values of a text."""
    parts = [*batch.columns, *(column.dictionary for column in batch.columns if hasattr(column, "dictionary"))]
    return {buffer.address: buffer.size for part in parts for buffer in part.buffers() if buffer is not None}


def _values(pyarrow: Any, column: Any) -> NDArray[Any]:
    if not pyarrow.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy())
    encoded = column.unify_dictionaries().combine_chunks()
    chunks = encoded.chunks if isinstance(encoded, pyarrow.ChunkedArray) else [encoded]
    parts = [np.array([*chunk.dictionary.to_pylist(), None], object)[chunk.indices.to_numpy()] for chunk in chunks]
    return np.concatenate(parts)
