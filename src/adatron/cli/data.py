"""The data files of a command: their options, and how they are read for a model."""

from __future__ import annotations

import functools
import os
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import click

# Equal to files.FORMATS, which would import NumPy; a test compares the two.
FORMATS = ("libsvm", "csv", "tsv", "table", "npz", "npy", "idx", "arff", "parquet", "hdf5")

Names = tuple[str, ...] | None

# Words for separators that a shell would take for its own.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "space": " "}

SPARSE = 0.1  # Share of nonzeros below which data are kept as CSR.


def column(text: str) -> int | str:
    """Read the label's column: a whole number is an index, anything else a name in the header."""
    try:
        return int(text)
    except ValueError:
        return text


def separator(text: str) -> str:
    """Read a separator: a character, or its name."""
    if len(text) != 1 and text not in SEPARATORS:
        raise ValueError(text)
    return SEPARATORS.get(text, text)


@dataclass(frozen=True)
class Form:
    """The form of the data and the roles of its columns, as far as options say it; see `adatron.files.read`."""

    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    drop: tuple[str | int, ...] = ()
    index: str | int | None = None
    keep_index: bool = False
    missing: tuple[str, ...] | None = None
    encoding: str | None = None


def form_options(command: Any) -> Any:
    """Add the options about the form of a table; the command gets them as `form`."""

    @functools.wraps(command)
    def with_form(*given: Any, **options: Any) -> Any:
        found: dict[str, Any] = {field.name: options.pop(field.name) for field in fields(Form)}
        found["missing"] = found["missing"] or None
        return command(*given, form=Form(**found), **options)

    marks = "A mark of missing values; may be repeated.  [default: empty, ?, NA, nan, null, None and their like]"
    for option in (
        click.option("--encoding", help="Encoding of a table.  [default: UTF-8, or UTF-16 with its mark]"),
        click.option("--missing", multiple=True, help=marks),
        click.option("--keep-index", is_flag=True, help="A column that looks like an index or an id is a feature."),
        click.option("--index", type=column, help="The column that names or counts the rows: no feature."),
        click.option("--drop", type=column, multiple=True, help="A column to leave out; may be repeated."),
        click.option("--header/--no-header", default=None, help="Whether the first row of a table holds names.  "
                     "[default: inferred]"),
        click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign of a table.  [default: inferred]"),
        click.option("--separator", type=separator, help="Between the fields of a table: a character, or comma, "
                     "semicolon, tab, bar, space (any white space).  [default: inferred]"),
    ):  # fmt: skip
        with_form = option(with_form)
    return with_form


def data_options(command: Any) -> Any:
    """Add the argument and the options that say which data files are read, and how."""
    counting = "LIBSVM text: features count from 0 or 1.  [default: as the model's data; from 0 if these use 0]"
    room = "Bytes that a file, decompressed, and its table may take each.  [default: a quarter of the free memory]"
    command = form_options(command)
    command = click.option("--max-bytes", type=click.IntRange(min=1), help=room)(command)
    command = click.option("--zero-based/--one-based", default=None, help=counting)(command)
    command = click.option("--label", type=column, help="The label's column or array.  [default: the last]")(command)
    formats = click.option("--format", type=click.Choice(FORMATS), help="Format of FILE.  [default: from its name]")
    return click.argument("files", metavar="FILE...", type=click.Path(), nargs=-1, required=True)(formats(command))


@dataclass(frozen=True)
class Source:
    """Data files and the way to read them."""

    files: tuple[Any, ...]
    format: str | None
    label: int | str | None
    zero_based: bool | None
    max_bytes: int | None = None
    form: Form = Form()

    def _read(self, features: int | None = None, labelled: bool = True, names: Names = None) -> Any:
        from ..files import read
        from .status import warnings_as_lines

        given: Any = asdict(self.form)
        with warnings_as_lines():
            return read(
                self.files, self.format, self.label, features, labelled, self.zero_based, names, self.max_bytes, **given
            )

    def to_train(self, features: int | None, given: bool) -> Any:
        """Read labelled data; the share of zeros decides how they are stored, whatever the format.

        ``given`` says that the data are kernel values.
        """
        import numpy as np
        from scipy import sparse

        table = self._read(features)
        self._require_classes(table)
        self._warn_of_single_samples(table)
        X: Any = table.X
        nonzeros = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
        stored = self._stored(table, nonzeros < SPARSE * X.shape[0] * X.shape[1], given)
        if given and stored.shape[0] != stored.shape[1]:
            n, d = stored.shape
            raise ValueError(f"{self.files[0]}: kernel values to train on are a square matrix, not one of {n} x {d}")
        return stored

    def _require_classes(self, table: Any) -> None:
        """Fail if the labels are measurements: then probably nobody meant that column as labels."""
        fractions = table.y[table.y % 1 != 0] if table.y.dtype.kind == "f" else table.y[:0]
        if not len(fractions):
            return
        found = f"the label {fractions[0]:g} is not a class"
        if table.label_column is not None:
            name = f" ({table.label_name})" if table.label_name else ""
            found += f": column {table.label_column}{name} is taken for the label, --label names another one"
        raise ValueError(f"{self.files[0]}: {found}")

    def _warn_of_single_samples(self, table: Any) -> None:
        """Warn of classes of one sample: one may be a header of numbers that was read as a sample."""
        import numpy as np

        classes, counts = np.unique(table.y, return_counts=True)
        single = classes[counts == 1].tolist()
        if not single or len(table.y) == len(classes):
            return
        named = f"the class {single[0]!r} has" if len(single) == 1 else f"{len(single)} classes, as {single[0]!r}, have"
        first = table.dialect is not None and not table.dialect.header and table.y[0] in single
        cure = "; if the first row is a header, --header says so" if first else ""
        click.echo(f"warning: {self.files[0]}: {named} one sample{cure}", err=True)

    def like(self, X: Any, given: bool, labelled: bool = True, names: Names = None) -> Any:
        """Read data with as many features as X, of these names, stored as X is."""
        from scipy import sparse

        # LIBSVM's kernel values have a column more, see _stored.
        features = None if given else X.shape[1]
        names = None if given else names
        return self._stored(self._read(features, labelled, names), sparse.issparse(X), given)

    def _stored(self, table: Any, sparsely: bool, given: bool) -> Any:
        """Return the table with its samples as CSR or as an array; kernel values are always an array.

        In LIBSVM text each row of kernel values begins with feature 0, the number of the sample, which is dropped.
        """
        from scipy import sparse

        X = table.X
        if given:
            if sparse.issparse(X) and table.first_index != 0:
                text = "a line of kernel values begins with the number of its sample, as in '+1 0:17 1:0.2 2:0.9'"
                raise ValueError(f"{self.files[0]}: {text}; no feature 0 found")
            return replace(table, X=self._dense(X)[:, 1:] if sparse.issparse(X) else X)
        if sparsely == sparse.issparse(X):
            return table
        return replace(table, X=sparse.csr_matrix(X) if sparsely else self._dense(X))

    def _dense(self, X: Any) -> Any:
        """Return sparse samples as an array, which may take far more memory than their file."""
        from ..files.table import check_size
        from ..files.tables.memory import room

        check_size(self.files[0], "dense samples", 8 * X.shape[0] * X.shape[1], self.max_bytes or room())
        return X.toarray()

    def counting_as(self, first_index: int | None) -> Source:
        """Return this source with features counted as those of other data were, unless the user says how."""
        if self.zero_based is not None or first_index is None:
            return self
        return replace(self, zero_based=first_index == 0)

    def with_model(self, path: Any, labelled: bool) -> tuple[Any, Any]:
        """Read a fitted model, and the data as it takes them.

        LIBSVM's text does not say how many features there are; then the data do.
        """
        from sklearn.utils.validation import check_is_fitted

        from ..files import NoModelError, is_libsvm_model, load, rewindable
        from .parts import counting_of, svc_of, take_names

        path = rewindable(path)
        try:
            model = load(path)
        except NoModelError as error:
            raise ValueError(f"{os.fspath(path)}: this is not a model; is the order MODEL FILE?") from error
        svc = svc_of(model)
        check_is_fitted(svc)
        source, given = self.counting_as(counting_of(model)), svc.kernel == "precomputed"
        if is_libsvm_model(path) and not given:
            source = replace(source, files=tuple(rewindable(one, self.max_bytes) for one in self.files))
            width = source._read(labelled=labelled).shape[1]
            model = svc = load(path, max(width, svc.n_features_in_))
        return model, source.like(svc.support_vectors_, given, labelled, take_names(model))
