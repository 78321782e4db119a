"""The data files of a command: their options, and reading them as a model wants them."""

from __future__ import annotations

from typing import Any

import click

# As in files.FORMATS, which would take NumPy along; a test compares the two.
FORMATS = ("libsvm", "csv", "tsv", "table", "npz", "npy", "idx", "arff", "parquet", "hdf5")

SPARSE = 0.1  # share of nonzeros below which data are kept as CSR


def column(text: str) -> int | str:
    """Read the label's column: a whole number is an index, anything else a name in the header."""
    try:
        return int(text)
    except ValueError:
        return text


def data_options(command: Any) -> Any:
    """Add the argument and the options that say which data files are read, and how."""
    command = click.option("--label", type=column, help="The label's column or array.  [default: the last]")(command)
    formats = click.option("--format", type=click.Choice(FORMATS), help="Format of FILE.  [default: from its name]")
    return click.argument("files", metavar="FILE...", type=click.Path(), nargs=-1, required=True)(formats(command))


def read_to_train(files: tuple[str, ...], format: str | None, label: int | str | None, features: int | None) -> Any:
    """Read labelled data; the share of zeros decides how they are stored, so that every format gives the same model."""
    import numpy as np
    from scipy import sparse

    from ..files import read

    table = read(files, format, label, n_features=features)
    X: Any = table.X
    nonzeros = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    return _stored(table, nonzeros < SPARSE * X.shape[0] * X.shape[1])


def read_for(model: Any, files: tuple[str, ...], format: str | None, label: int | str | None, labelled: bool) -> Any:
    """Read the data for a fitted model: with its features, stored as its support vectors are."""
    from scipy import sparse

    from ..files import read
    from .parts import svc_of

    svc = svc_of(model)
    features = getattr(svc, "n_features_in_", None)
    return _stored(read(files, format, label, features, labelled), sparse.issparse(svc.support_vectors_))


def _stored(table: Any, sparsely: bool) -> Any:
    """The table with its samples as CSR or as an array."""
    from dataclasses import replace

    from scipy import sparse

    X = table.X
    if sparsely == sparse.issparse(X):
        return table
    return replace(table, X=sparse.csr_matrix(X) if sparsely else X.toarray())
