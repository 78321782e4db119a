"""Read ARFF, the format of Weka."""

from __future__ import annotations

import io

from .columns import table_of_columns
from .source import open_text
from .table import DataError, Path, Request, Table


def read_arff(path: Path, request: Request) -> Table:
    """Read numeric attributes and a label that may be nominal; a missing value (?) is an error."""
    from scipy.io import arff  # after the help: it takes a while

    with open_text(path) as stream:
        text = stream.read()
    try:
        data, meta = arff.loadarff(io.StringIO(text))
    except (arff.ArffError, NotImplementedError, ValueError, StopIteration, IndexError) as error:
        reason = str(error) or "it ends too early"
        raise DataError(path, f"not an ARFF file of numbers and nominal values ({reason})") from error
    return table_of_columns(path, meta.names(), [data[name] for name in meta.names()], request)
