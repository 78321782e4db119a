"""Read ARFF, the format of Weka."""

from __future__ import annotations

import io
import re

from ..source import open_text
from ..table import Path, Request, Table, check_size, parsing
from .columns import table_of_columns

# Bytes of memory that a byte of the text may become: SciPy makes an object of each value.
EXPANSION = 16
_DATA = re.compile(r"^@data", re.IGNORECASE | re.MULTILINE)


def read_arff(path: Path, request: Request) -> Table:
    """Read numeric attributes and a label that may be nominal; a missing value (?) is an error."""
    from scipy.io import arff  # not at the top, so that the help appears at once

    with open_text(path, request.max_bytes // EXPANSION) as stream:
        text = stream.read()
    _check_nominal(path, text, request.max_bytes)
    with parsing(path, "an ARFF file of numbers and nominal values"):
        data, meta = arff.loadarff(io.StringIO(text))
        columns = [data[name] for name in meta.names()]
    return table_of_columns(path, meta.names(), columns, request)


def _check_nominal(path: Path, text: str, most: int) -> None:
    """Bound the table: in each row a nominal value takes as much as the longest one that the header declares."""
    data = _DATA.search(text)
    start = len(text) if data is None else data.start()
    declared = sum(len(line) for line in text[:start].splitlines() if "{" in line)
    check_size(path, "nominal values", declared * (text.count("\n", start) + 1), most)
