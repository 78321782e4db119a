"""Read data files in any format. A new format is one file and one line here."""

from __future__ import annotations

import codecs
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ...quoted import quoted
from ..labels import joined_labels
from ..source import allowed, data_lines, open_binary, open_text, rewindable, room, undo_suffix
from ..table import DataError, Path, Request, Table, reading, shortened
from .arff import read_arff
from .binary import read_npz, read_parquet
from .delimited import read_delimited
from .libsvm import read_libsvm


@dataclass(frozen=True)
class Format:
    """How a file's name tells a format, and how the format is read.

    ``read`` takes a path and a request. ``takes`` names the parameters of `adatron.files.read` about the form of a text
    and the roles of its columns that the reader heeds. ``packed`` tells whether the format compresses its contents.
    """

    extensions: tuple[str, ...]
    read: Callable[[Path, Request], Table]
    takes: frozenset[str] = frozenset()
    packed: bool = False


ROLES = frozenset({"drop", "index"})  # Options about columns.
FORM = ROLES | {"separator", "decimal", "header", "missing", "encoding"}  # Options of text.

# The separator that the name of a format shows.
SEPARATOR = {"csv": ",", "tsv": "\t", "table": " "}
FORMATS: dict[str, Format] = {
    "libsvm": Format((".libsvm", ".svm", ".svmlight"), read_libsvm),
    "csv": Format((".csv",), partial(read_delimited, separator=SEPARATOR["csv"]), takes=FORM),
    "tsv": Format((".tsv", ".tab"), partial(read_delimited, separator=SEPARATOR["tsv"]), takes=FORM),
    "table": Format((), partial(read_delimited, separator=SEPARATOR["table"]), takes=FORM),
    "npz": Format((".npz",), read_npz, packed=True),
    "arff": Format((".arff",), read_arff, takes=ROLES | {"encoding"}),
    "parquet": Format((".parquet", ".pq"), read_parquet, takes=ROLES),
}
_MAGIC = {b"\x93NUMPY": "npz", b"PK\3\4": "npz", b"PAR1": "parquet"}
_LIBSVM_LINE = re.compile(r"\S+\s+(qid|\d+):\S")


def read(
    path: Path | Sequence[Path],
    format: str | None = None,
    label: str | int | None = None,
    n_features: int | None = None,
    labelled: bool = True,
    zero_based: bool | None = None,
    feature_names: Sequence[str] | None = None,
    max_bytes: int | None = None,
    separator: str | None = None,
    decimal: Literal[".", ","] | None = None,
    header: bool | None = None,
    drop: Sequence[str | int] = (),
    index: str | int | None = None,
    keep_index: bool = False,
    missing: Sequence[str] | None = None,
    encoding: str | None = None,
    categorical: Literal["auto"] | Sequence[int] | None = None,
    allow_missing: bool = False,
    surplus: bool = False,
) -> Table:
    r"""Read samples and labels from a file, or from several.

    Blank lines and lines that begin with # are skipped; .gz, .bz2 and .xz files are decompressed. In a table the first
    row is a header in two cases. Either a field beside the label is neither a value nor a mark for a missing one,
    and no column has a number both there and in the second row. Or the fields are 0, 1, 2, ..., as in a table whose
    columns have no names. True and false are 1 and 0. A warning names each column that is left out by its name: an
    index of pandas, a column named id, ID or ..._id. Another one names a first column that counts the rows. Tables,
    ARFF and Parquet take the extra `cli`.

    Parameters
    ----------
    path : path or sequence of paths
        The file; ``-`` is standard input. A pipe is read into memory to its end. Several files are joined, sample after
        sample.
    format : {'libsvm', 'csv', 'tsv', 'table', 'npz', 'arff', 'parquet'}, optional
        'table' has white space between its columns. By default the extension decides; if it tells nothing, the first
        bytes decide.
    label : str or int, optional
        The label's column in a table, by its name in the header or by its index from 0 (negative: from the end). By
        default a column named label, target, class or y, or else the last one. In NPZ it is the name of the
        array of labels. LIBSVM text has its label in front.
    n_features : int, optional
        The features a model expects. A table must have this many; LIBSVM text, which leaves out zeros, may have fewer.
    labelled : bool, default=True
        False for data to predict, which may come without labels. A table of `n_features` columns (or of any number if
        `n_features` is None) is then read as features only, and a table with one column more as features and label. An
        explicit `label` goes before this rule.
    zero_based : bool, optional
        Whether the features of LIBSVM text count from 0. By default they do so in a file that uses feature 0.
    feature_names : sequence of str, optional
        The names of the features a model expects. A file with names must have these names, in this order; by default
        its label is then the one column with another name.
    max_bytes : int, optional
        The most bytes for the decompressed contents of a file, and for its table. By default a quarter of the free
        memory, and of .gz, .bz2, .xz and NPZ at most 200 times the file's length, or 64 MiB if that is more. A
        reader holds up to three copies of the data at some time.
    separator : str, optional
        The character between the fields of a table; a space stands for any white space. By default the first rows tell
        whether it is a comma, a semicolon, a tab, a bar or white space.
    decimal : {'.', ','}, optional
        The decimal sign of a table. By default the first rows tell.
    header : bool, optional
        Whether the first row of a table holds names.
    drop : sequence of str or int, optional
        Columns to leave out, by name or index.
    index : str or int, optional
        The column that names or counts the rows, by name or index. It is left out.
    keep_index : bool, default=False
        Whether a column that looks like an index or an id is a feature.
    missing : sequence of str, optional
        All marks of missing values in a table. By default an empty field, ?, NA, nan, null, None and their like.
    encoding : str, optional
        The encoding of a table, such as 'cp1252'. By default UTF-8, or UTF-16 with a byte order mark.
    categorical : 'auto' or sequence of int, optional
        With 'auto' columns of text are features, too; see `Table`. By default they are an error. A sequence names the
        features that a model has as text, by their numbers; their values are then text although they look like numbers.
    allow_missing : bool, default=False
        Whether features may be missing; see `Table`. By default a missing value is an error.
    surplus : bool, default=False
        Whether LIBSVM text may use more features than ``n_features``; the table then has them.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        For data that cannot be used; the message names the file, the line and what was found.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from adatron.files import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("length,width,species\n1.4,0.2,setosa\n6.0,2.5,virginica\n")
    ...     table = read(path, label="species")
    >>> table.X.shape, table.y.tolist()
    ((2, 2), ['setosa', 'virginica'])
    """
    most = room() if max_bytes is None else max_bytes
    if most < 1:
        raise ValueError(f"max_bytes is {quoted(max_bytes)}; a positive number of bytes is allowed")
    paths = [rewindable(one, most) for one in ([path] if isinstance(path, (str, os.PathLike)) else path)]
    if not paths:
        raise ValueError("no file to read")
    _check_form(separator, decimal, encoding)
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; the formats are {', '.join(FORMATS)}")
    texts = categorical if categorical is None or isinstance(categorical, str) else frozenset(categorical)
    request = Request(
        label, n_features, labelled, zero_based, None if feature_names is None else tuple(feature_names), most,
        separator=separator, decimal=decimal, header=header, drop=tuple(drop), index=index, keep_index=keep_index,
        missing=None if missing is None else tuple(missing), encoding=encoding, categorical=texts,
        allow_missing=allow_missing, surplus=surplus,
    )  # fmt: skip
    with reading(paths[0]):
        found = format or format_of(paths[0], request)
    chosen = FORMATS[found]
    for name in sorted(FORM - chosen.takes):
        if (value := getattr(request, name)) is not False and value != getattr(Request, name):
            raise DataError(paths[0], f"{name} is for tables of text, and this file is read as {found}")
    tables: list[tuple[Path, Table]] = []
    for one in paths:
        limit = allowed(one, chosen.packed) if max_bytes is None else max_bytes
        try:
            with reading(one):
                table = chosen.read(one, replace(request, max_bytes=limit, categorical=texts))
        except DataError as error:
            if format is None and _by_extension(paths[0]) is None and undo_suffix(paths[0]):
                error.args = (f"{error}; the file was read as {found}, --format names another format",)
            raise
        _check_texts(one, table, texts)
        tables.append((one, table))
        texts = texts and frozenset(tables[0][1].categorical)
        for note in table.notes:
            warnings.warn(f"{os.fspath(one)}: {note}", stacklevel=2)
    with reading(paths[0]):
        return reduce(_joined, tables)[1]


def _check_form(separator: str | None, decimal: str | None, encoding: str | None) -> None:
    """Fail if an option about the form of a table is not valid."""
    if separator is not None and (len(separator) != 1 or separator.isalnum() or separator in "\"'\r\n.+-#"):
        raise ValueError(f"separator={separator!r}; one character is allowed that is no part of a number, nor a quote")
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal={decimal!r}; '.' and ',' are allowed")
    try:
        text = encoding is None or codecs.lookup(encoding)._is_text_encoding  # pyright: ignore[reportPrivateUsage]
    except LookupError:
        text = False
    if not text:
        raise ValueError(f"encoding={encoding!r} is not known; utf-8, utf-16, latin-1 and cp1252 are examples")


def _check_texts(path: Path, table: Table, wanted: Literal["auto"] | frozenset[int] | None) -> None:
    """Fail if the format has no text for features that are text in the model."""
    if isinstance(wanted, frozenset) and wanted != frozenset(table.categorical):
        named = shortened(sorted(wanted), 5)
        raise DataError(path, f"the model has text in features {named}, and a file of this format holds numbers alone")


def format_of(path: Path, request: Request) -> str:
    """Return the format of a file: its extension tells it, or else its first bytes or its first telling line."""
    known = _by_extension(path)
    if known is not None:
        return known
    with open_binary(path, request.max_bytes) as stream:
        start = stream.read(8)
    binary = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
    if binary is not None:
        return binary
    with open_text(path, request.max_bytes, request.encoding) as stream:
        for _, line in data_lines(stream):
            if _LIBSVM_LINE.match(line):
                return "libsvm"
            # One word alone may be a LIBSVM sample of zeros: the next line decides.
            for signs, name in (("@%", "arff"), (",;", "csv"), ("\t", "tsv"), (" ", "table")):
                if line[0] in signs if name == "arff" else any(sign in line for sign in signs):
                    return name
    return "table"


def _by_extension(path: Path) -> str | None:
    extension = undo_suffix(path)
    return next((name for name, one in FORMATS.items() if extension in one.extensions), None)


def _joined(first: tuple[Path, Table], second: tuple[Path, Table]) -> tuple[Path, Table]:
    """Return the samples of two files, one after the other."""
    (_, a), (path, b) = first, second
    y = joined_labels(path, a.y, b.y)
    matrices: list[Any] = [a.X, b.X]
    if a.first_index is None:
        if a.shape[1] != b.shape[1] or a.feature_names != b.feature_names or a.categorical != b.categorical:
            raise DataError(path, "its features are not those of the file before it")
        return path, replace(a, X=np.concatenate(matrices), y=y, notes=(*a.notes, *b.notes))
    # One file of LIBSVM text that uses feature 0 shows that both count from 0.
    begins = [one.first_index or 0 for one in (a, b)]
    start = min(begins)
    width = max(X.shape[1] + begin - start for X, begin in zip(matrices, begins, strict=True))
    shifted = [
        sparse.csr_matrix((X.data, X.indices + begin - start, X.indptr), (X.shape[0], width))
        for X, begin in zip(matrices, begins, strict=True)
    ]
    return path, Table(sparse.csr_matrix(sparse.vstack(shifted, "csr")), y, first_index=start)
