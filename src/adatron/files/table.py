"""What every reader returns, and the one error every reader raises."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Path = str | os.PathLike[str]
LARGEST_EXACT_INTEGER = 2.0**53
MISSING_LABELS = ("", "?")


class DataError(ValueError):
    """Data that cannot be used: the message names the file, the line and what was found."""

    def __init__(self, path: Path, message: str, line: int | None = None) -> None:
        super().__init__(f"{_place(path, line)}: {message}")


class ModelFileError(ValueError):
    """A model that cannot be stored, or a file that is no model this library can read; the message names the file.

    Of text the message also names the line, if the error is in one line.
    """

    def __init__(self, path: Path, message: str, line: int | None = None) -> None:
        super().__init__(f"{_place(path, line)}: {message}")


def _place(path: Path, line: int | None) -> str:
    return os.fspath(path) if line is None else f"{os.fspath(path)}, line {line}"


class NoModelError(ModelFileError):
    """A file that is no model at all."""


@dataclass(frozen=True)
class Request:
    """What a reader is asked for; see `adatron.files.read`."""

    label: str | int | None = None
    n_features: int | None = None
    labelled: bool = True
    zero_based: bool | None = None
    feature_names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """Samples read from a file.

    Attributes
    ----------
    X : ndarray or csr_matrix, shape (n_samples, n_features)
        Finite features in float64, or in float32 if the file holds float32 only; sparse when it is LIBSVM text.
    y : ndarray of shape (n_samples,), or None
        Labels: int64 if all are whole numbers, else float64 if all are numbers, else text. None if the file has none.
    feature_names : tuple of str, or None
        Names in the header row, without the label's.
    label_name : str, or None
        The label's name in the header row.
    label_column : int, or None
        The label's column, if the labels are a column.
    first_index : int, or None
        The number of the first feature in LIBSVM text, 0 or 1; None in other formats.
    """

    X: NDArray[np.float64] | csr_matrix
    y: NDArray[Any] | None
    feature_names: tuple[str, ...] | None = None
    label_name: str | None = None
    label_column: int | None = None
    first_index: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        X: Any = self.X  # for scipy's own annotations the shape of a sparse matrix may be None
        return X.shape


def whole_if_possible(y: NDArray[np.float64]) -> NDArray[Any]:
    """Return whole-numbered labels as int64, so that a class is printed as 1, not as 1.0."""
    if np.all(y == np.rint(y)) and np.all(np.abs(y) <= LARGEST_EXACT_INTEGER):
        return y.astype(np.int64)
    return y
