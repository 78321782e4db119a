"""The result of every reader, and the one error that every reader raises."""

from __future__ import annotations

import csv
import lzma
import os
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Path = str | os.PathLike[str]
LARGEST_EXACT_INTEGER = 2.0**53  # Beyond it float64 no longer holds every whole number.
MISSING_LABELS = ("", "?")  # Fields that are no label.
# Marks of a missing value unless the caller names others.
MISSING = frozenset({
    "", "?", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN", "null", "NULL",
    "None", "none",
})  # fmt: skip
# Those of them that are as likely a word: in a column of text, and among labels, they are one.
WORDS = frozenset({"na", "null", "NULL", "None", "none"})
# Separators of a table that are named in words.
SEPARATOR_NAMES = {" ": "white space", "\t": "tab"}
#: Errors that libraries below the readers raise about contents, and nothing here does.
OF_LIBRARIES = (
    re.error, zlib.error, lzma.LZMAError, struct.error, zipfile.BadZipFile, csv.Error, EOFError, UnicodeError,
    RecursionError, OverflowError,
)  # fmt: skip
# Length to which quotations from a file are cut: they may be as long as the file.
LONGEST_MESSAGE = 1000


class FileError(ValueError):
    """A file that cannot be used: the message names the file, the line and what was found.

    problem : what was found, without the file and the line
    """

    def __init__(self, path: Path, message: str, line: int | None = None) -> None:
        place = os.fspath(path) if line is None else f"{os.fspath(path)}, line {line}"
        shown = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]} ..."
        super().__init__(f"{place}: {shown}")
        self.problem = message


class DataError(FileError):
    r"""Data that cannot be used: the message names the file, the line and what was found.

    Attributes
    ----------
    problem : str
        What was found, without the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from adatron.files import DataError, read
    >>> path = Path(tempfile.mkdtemp()) / "data.svm"
    >>> path.write_text("1 1:0.5\n-1 1:half\n")
    18
    >>> try:
    ...     read(path)
    ... except DataError as error:
    ...     print("line 2" in str(error))
    True
    """


class ModelFileError(FileError):
    """A model that cannot be stored, or a file that is not a readable model; the message names the file.

    If the file is text and the error is in one line, the message also names the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from adatron import load
    >>> from adatron.files import ModelFileError
    >>> path = Path(tempfile.mkdtemp()) / "model.adatron"
    >>> path.write_text("no model")
    8
    >>> try:
    ...     load(path)
    ... except ModelFileError as error:
    ...     print(str(path) in str(error))
    True
    """


class NoModelError(ModelFileError):
    """A file that is not a model at all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from adatron.files import NoModelError, load
    >>> path = Path(tempfile.mkdtemp()) / "notes.txt"
    >>> _ = path.write_text("no model")
    >>> try:
    ...     load(path)
    ... except NoModelError as error:
    ...     print(str(error).rpartition(": ")[2])
    not an adatron model file
    """


@dataclass(frozen=True)
class Request:
    """A request to a reader; see `adatron.files.read`."""

    label: str | int | None = None
    n_features: int | None = None
    labelled: bool = True
    zero_based: bool | None = None
    feature_names: tuple[str, ...] | None = None
    max_bytes: int = sys.maxsize
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    drop: tuple[str | int, ...] = ()
    index: str | int | None = None
    keep_index: bool = False
    missing: tuple[str, ...] | None = None
    encoding: str | None = None
    categorical: Literal["auto"] | frozenset[int] | None = None
    allow_missing: bool = False
    surplus: bool = False

    @cached_property
    def marks(self) -> frozenset[str]:
        """All marks of missing values."""
        return MISSING if self.missing is None else frozenset(self.missing)

    @cached_property
    def gaps(self) -> frozenset[str]:
        """The marks of missing labels, and of missing text."""
        return MISSING - WORDS if self.missing is None else self.marks

    def takes_text(self, feature: int, text: bool) -> bool:
        """Tell whether a feature is to be read as text; ``text`` says whether its values look like text."""
        if self.categorical is None or self.categorical == "auto":
            return text and self.categorical is not None
        return feature in self.categorical


@dataclass(frozen=True)
class Dialect:
    """The form of a delimited text, found or given.

    separator : the character between fields; a space stands for any white space
    decimal : the character before the decimals
    header : whether the first row holds names
    """

    separator: str
    decimal: str
    header: bool


@dataclass(frozen=True)
class Table:
    r"""Samples read from a file.

    Attributes
    ----------
    X : ndarray or csr_matrix, shape (n_samples, n_features)
        Finite features in float64, or in float32 if the file holds only float32; sparse for LIBSVM text. An array of
        objects if there are columns of text: float, and str in these columns. A missing value, if the request allows
        any, is NaN, also in a column of text.
    y : ndarray of shape (n_samples,), or None
        Labels: bool, int64 if all are whole numbers (uint64 if they need it), else float64 if all are numbers, else
        text. None for a table without labels.
    feature_names : tuple of str, or None
        Names in the header row, without the label's name.
    label_name : str, or None
        The label's name in the header row.
    label_column : int, or None
        The label's column, if the labels are a column.
    first_index : int, or None
        The number of the first feature in LIBSVM text, 0 or 1; None in other formats.
    categorical : tuple of int
        The features that are columns of text; empty unless the request allows any.
    notes : tuple of str
        Sentences about columns that were left out since they are no features, or that may be none.
    dialect : Dialect, or None
        The form of a delimited text; None in other formats.
    columns : tuple of int, or None
        The column of each feature in a table; None if the file has no columns.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from adatron.files import read
    >>> path = Path(tempfile.mkdtemp()) / "data.csv"
    >>> path.write_text("width,height,kind\n1.5,2.0,a\n0.5,1.0,b\n")
    38
    >>> table = read(path)
    >>> table.X.shape, table.y.tolist(), table.feature_names
    ((2, 2), ['a', 'b'], ('width', 'height'))
    """

    X: NDArray[Any] | csr_matrix
    y: NDArray[Any] | None
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None
    label_column: int | None = None
    first_index: int | None = None
    categorical: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    dialect: Dialect | None = None
    columns: tuple[int, ...] | None = None

    def summary(self) -> str:
        """Return in one line what was read, and what was inferred."""
        n, d = self.shape
        texts = len(self.categorical)
        parts = [f"{d - texts:,} numeric feature{'s' * (d - texts != 1)}"] if d > texts else []
        parts += [f"{texts:,} of text"] if texts else []
        printed = [f"read {n:,} row{'s' * (n != 1)} × {' and '.join(parts)}"]
        if self.dialect is not None:
            printed.append(f"separator {SEPARATOR_NAMES.get(self.dialect.separator, repr(self.dialect.separator))}")
            printed += [f"decimal {self.dialect.decimal!r}"] * (self.dialect.decimal != ".")
            printed += ["no header"] * (not self.dialect.header)
        if self.label_name is not None:
            printed.append(f"label {self.label_name!r}")
        elif self.label_column is not None:
            printed.append(f"label in column {self.label_column}")
        return ", ".join(printed)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of samples and features."""
        X: Any = self.X  # scipy's own annotations allow None as the shape of a sparse matrix
        return X.shape


def shortened(words: Any, most: int = 10, form: Callable[[Any], str] = str) -> str:
    """Return the first words of a list, and how many there are."""
    listed = ", ".join(map(form, words[:most]))
    return listed if len(words) <= most else f"{listed}, ... {len(words):,} in all"


def whole_if_possible(y: NDArray[np.float64]) -> NDArray[Any]:
    """Return whole-numbered labels as int64, so that a class is printed as 1, not as 1.0."""
    if np.all(y == np.rint(y)) and np.all(np.abs(y) <= LARGEST_EXACT_INTEGER):
        return y.astype(np.int64)
    return y


def check_size(path: Path, what: str, size: int, most: int, at_least: bool = False) -> None:
    """Raise a DataError if something, named in the plural, takes more bytes than allowed.

    ``at_least`` says that there may be more data to come, so that the size is not known.
    """
    if size > most:
        found = "" if at_least else f"{size:,} bytes, "
        raise DataError(path, f"{what} of {found}more than the {most:,} bytes that it may take (max_bytes)")


@contextmanager
def reading(path: Path, kind: str | None = None) -> Iterator[None]:
    """Turn what other libraries raise about the contents of a file into a DataError.

    Each reader turns the errors that it expects into better sentences. ``ValueError`` and its like are turned only
    where another library alone works, on a file that should be a ``kind``, with its article: they may be bugs of ours.
    """
    try:
        yield
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(path, "reading it takes more memory than there is") from error
    except ImportError as error:  # of an extra
        raise DataError(path, str(error)) from error
    except Exception as error:
        if kind is not None:
            raise DataError(path, f"not {kind} ({str(error) or type(error).__name__})") from error
        if not isinstance(error, OF_LIBRARIES):
            raise
        raise DataError(path, f"its contents cannot be read ({type(error).__name__}: {error})") from error
