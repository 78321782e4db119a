"""Read a data file, whatever its format."""

from __future__ import annotations

import re

from .delimited import read_delimited
from .libsvm import read_libsvm
from .source import data_lines, open_text, undo_suffix
from .table import DataError, Path, Table

_DELIMITERS = {"csv": ",", "tsv": "\t", "table": None}
FORMATS = ("libsvm", *_DELIMITERS)
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}
_LIBSVM_LINE = re.compile(r"\S+\s+(qid|\d+):\S")


def read(
    path: Path,
    format: str | None = None,
    label: str | int | None = None,
    n_features: int | None = None,
    labelled: bool = True,
) -> Table:
    """Read samples and labels from a file.

    Blank lines and lines that begin with # are skipped; .gz, .bz2 and .xz files are decompressed. In a table the first
    row is a header if a field beside the label is neither a number nor a mark for a missing value.

    Parameters
    ----------
    path : path
        The file.
    format : {'libsvm', 'csv', 'tsv', 'table'}, optional
        'table' has white space between its columns. By default the extension decides, and if that tells nothing the
        first line of data.
    label : str or int, optional
        The label's column in a table, by its name in the header or by its index from 0 (negative: from the end). By
        default a column named label, target, class or y, or else the last one. LIBSVM text has its label in front.
    n_features : int, optional
        The features a model expects. A table must have that many; LIBSVM text, which leaves out zeros, may have fewer.
    labelled : bool, default=True
        False for data to predict, which may come without labels: then a table of `n_features` columns (or of any number
        if `n_features` is None) is read as features only, and one with a column more as features and label. An explicit
        `label` goes before this rule.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        For data that cannot be used, with file, line and what was found.
    OSError
        If the file cannot be read.
    """
    name = format or _EXTENSIONS.get(undo_suffix(path)) or _sniff(path)
    if name == "libsvm":
        if label is not None:
            raise DataError(path, "LIBSVM text has its label in front: leave out the label column")
        return read_libsvm(path, n_features)
    if name not in _DELIMITERS:
        raise ValueError(f"unknown format {name!r}; the formats are {', '.join(FORMATS)}")
    return read_delimited(path, _DELIMITERS[name], label, n_features, labelled)


def _sniff(path: Path) -> str:
    """Return the format that the first telling line shows."""
    with open_text(path) as stream:
        for _, line in data_lines(stream):
            if _LIBSVM_LINE.match(line):
                return "libsvm"
            if "," in line:
                return "csv"
            if "\t" in line:
                return "tsv"
            # One word alone may be a LIBSVM sample of zeros: the next line tells.
            if " " in line:
                return "table"
    return "table"
