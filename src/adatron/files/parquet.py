"""Read Parquet, with the extra `parquet`."""

from __future__ import annotations

import io

import numpy as np

from .columns import table_of_columns
from .extra import needs
from .source import open_binary
from .table import DataError, Path, Request, Table


def read_parquet(path: Path, request: Request) -> Table:
    """Read numeric columns and a label; a missing value is an error."""
    parquet = needs("pyarrow.parquet", "parquet", path)
    pyarrow = needs("pyarrow", "parquet", path)
    with open_binary(path) as stream:
        data = stream.read()
    try:
        table = parquet.read_table(io.BytesIO(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(path, f"not a Parquet file ({error})") from error
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count:
            raise DataError(path, f"column {name!r} has {column.null_count} missing values")
    return table_of_columns(path, table.column_names, [np.asarray(c.to_numpy()) for c in table.columns], request)
