"""Read Parquet, with the extra `cli`."""

from __future__ import annotations

import io
from typing import Any

from ...extras import needed
from ..source import read_whole
from ..table import DataError, Path, Request, Table, check_size, parsing
from .columns import roles_of, table_of

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
        for number, (field, column) in enumerate(zip(table.schema, table.columns, strict=True)):
            kind = column.type
            if pyarrow.types.is_decimal(kind) or (pyarrow.types.is_boolean(kind) and column.null_count):
                table = table.set_column(number, field.name, column.cast(pyarrow.float64()))
        names, indices = table.column_names, _indices(table.schema)
        frame = table.to_pandas(ignore_metadata=True, date_as_object=False)
    if not rows or not names:
        raise DataError(path, "the file holds columns and no rows" if names else "the file holds no columns")
    return table_of(path, frame, names, roles_of(path, names, True, request, None, indices), request)


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
