"""Read Parquet, with the extra `cli`."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...extras import needed
from ..source import read_whole
from ..table import DataError, Path, Request, Table, check_size, parsing
from .columns import roles_of, table_of_columns

PARQUET_FILE = "a Parquet file"
BATCH_ROWS = 2**16  # Rows of a batch.


def read_parquet(path: Path, request: Request) -> Table:
    """Read columns of numbers and of text; the index that pandas writes is left out.

    Text is kept as its distinct values, so that a short file cannot repeat a long one until the memory is full.
    """
    parquet = needed("pyarrow.parquet", "cli", "reading it takes")
    pyarrow = needed("pyarrow", "cli", "reading it takes")
    source, most = io.BytesIO(read_whole(path, request.max_bytes)), request.max_bytes
    with parsing(path, PARQUET_FILE):
        schema = parquet.ParquetFile(source).schema_arrow
    texts = [field.name for field in schema if _is_text(pyarrow, path, field)]
    with parsing(path, PARQUET_FILE):
        file = parquet.ParquetFile(source, read_dictionary=texts, page_checksum_verification=True)
        rows = file.metadata.num_rows
        narrowest = sum(_width(field.type) for field in schema)
        check_size(path, "columns", rows * narrowest, most)
        batches: list[Any] = []
        sizes: dict[int, int] = {}
        for batch in file.iter_batches(BATCH_ROWS):
            sizes.update(_buffers(batch))
            check_size(path, "columns", sum(sizes.values()), most, at_least=True)
            batches.append(batch)
        table = pyarrow.Table.from_batches(batches, file.schema_arrow)
        indices = _indices(table.schema)
    if not rows or not table.column_names:
        raise DataError(
            path, "the file holds columns and no rows" if table.column_names else "the file holds no columns"
        )
    with parsing(path, PARQUET_FILE):
        columns = [_values(pyarrow, column) for column in table.columns]
    names = table.column_names
    return table_of_columns(path, names, columns, roles_of(path, names, True, request, None, indices), request)


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
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind) or types.is_duration(kind):
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


def _buffers(batch: Any) -> dict[int, int]:
    """Return the addresses and sizes of a batch's buffers; batches may share the distinct values of a text."""
    parts = [*batch.columns, *(column.dictionary for column in batch.columns if hasattr(column, "dictionary"))]
    return {buffer.address: buffer.size for part in parts for buffer in part.buffers() if buffer is not None}


def _values(pyarrow: Any, column: Any) -> NDArray[Any]:
    types = pyarrow.types
    if types.is_decimal(column.type) or (types.is_boolean(column.type) and column.null_count):
        column = column.cast(pyarrow.float64())
    if not types.is_dictionary(column.type):
        return np.asarray(column.to_numpy())
    encoded = column.unify_dictionaries().combine_chunks()
    chunks = encoded.chunks if isinstance(encoded, pyarrow.ChunkedArray) else [encoded]
    return np.concatenate([_decoded(chunk.dictionary.to_pylist(), chunk.indices) for chunk in chunks])


def _decoded(texts: list[Any], codes: Any) -> NDArray[Any]:
    """Return the texts of some numbers, and None for a missing one."""
    return np.array([*texts, None], object)[codes.fill_null(len(texts)).to_numpy()]
