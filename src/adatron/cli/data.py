"""The data files of a command: their options, and how they are read for a model."""

from __future__ import annotations

import functools
import os
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import click

from .status import InputError
from .values import Number

# Equal to files.FORMATS, which would import NumPy; a test compares the two.
FORMAT_NAMES = ("libsvm", "csv", "tsv", "table", "npz", "arff", "parquet")

Names = tuple[str, ...] | None

# Words for separators that a shell would take for its own.
SEPARATOR_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "space": " "}

SPARSE = 0.1  # Share of nonzeros below which data are kept as CSR.


def column(text: str) -> int | str:
    """Read the label's column: a whole number is an index, anything else a name in the header."""
    try:
        return int(text)
    except ValueError:
        return text


def separator(text: str) -> str:
    """Read a separator: a character, or its name."""
    if len(text) != 1 and text not in SEPARATOR_WORDS:
        raise click.BadParameter(f"{text!r} is neither a character nor one of {', '.join(SEPARATOR_WORDS)}")
    return SEPARATOR_WORDS.get(text, text)


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


def gathered(kind: Any, name: str) -> Any:
    """Return a decorator by which a command gets the options that are fields of a dataclass as one argument."""
    own = [field.name for field in fields(kind)]

    def decorate(command: Any) -> Any:
        @functools.wraps(command)
        def with_one(**options: Any) -> Any:
            found = {one: options.pop(one) for one in own if one in options}
            return command(**{name: kind(**found)}, **options)

        return with_one

    return decorate


def form_options(command: Any) -> Any:
    """Add the options about the form of a table; the command gets them as `form`."""
    with_form = gathered(Form, "form")(command)
    marks = "A mark of missing values; may be repeated.  [default: empty, ?, NA, ...]"
    for option in (
        click.option("--encoding", help="Encoding of a table.  [default: UTF-8, or UTF-16 with its mark]"),
        click.option("--missing", multiple=True, help=marks, callback=lambda context, option, given: given or None),
        click.option("--keep-index", is_flag=True, help="A column that looks like an index or an id is a feature."),
        click.option("--index", type=column, help="The column that names or counts the rows: no feature."),
        click.option("--drop", type=column, multiple=True, help="A column to leave out; may be repeated."),
        click.option("--header/--no-header", default=None, help="Whether the first row of a table holds names.  "
                     "[default: inferred]"),
        click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign of a table.  [default: inferred]"),
        click.option("--separator", type=separator, help="A character, comma, semicolon, tab, bar or space.  "
                     "[default: inferred]"),
    ):  # fmt: skip
        with_form = option(with_form)
    return with_form


def data_options(function: Any) -> Any:
    """Add the argument and the options that say which data files are read, and how; pass them on as a ``source``."""
    counting = "LIBSVM text: features count from 0 or 1.  [default: as the model's; inferred]"
    room = "Bytes that a file and its table may take each.  [default: a quarter of the memory]"
    command = form_options(gathered(DataFiles, "source")(function))
    command = click.option("--max-bytes", type=Number(1, whole=True), help=room)(command)
    command = click.option("--zero-based/--one-based", default=None, help=counting)(command)
    command = click.option("--label", type=column, help="The label's column or array.  [default: the last]")(command)
    formats = click.option(
        "--format",
        type=click.Choice(FORMAT_NAMES),
        metavar="FORMAT",
        help=f"{', '.join(FORMAT_NAMES)}.  [default: from the name of FILE]",
    )
    return click.argument("files", metavar="FILE...", type=click.Path(), nargs=-1, required=True)(formats(command))


def wanted_by(model: Any) -> dict[str, Any]:
    """Return the data that a fitted model takes; the model then forgets the names of its features.

    These are the number of features, whether they are CSR, their names, the numbers of those that are text, and whether
    values may be missing.
    """
    from scipy import sparse

    from .parts import machine_of, take_names
    from .preparing.columns import imputing_of, texts_of

    vectors = machine_of(model).support_vectors_
    width = int(getattr(model, "n_features_in_", vectors.shape[1]))
    texts, gaps = tuple(texts_of(model)), imputing_of(model) is not None
    return _wanted(width, sparse.issparse(vectors), take_names(model), texts, gaps)


def wanted_as(table: Any, gaps: bool) -> dict[str, Any]:
    """Return the data that a model of a table will take."""
    from scipy import sparse

    return _wanted(table.shape[1], sparse.issparse(table.X), table.feature_names, table.categorical, gaps)


def _wanted(features: int, sparse: bool, names: Names, texts: tuple[int, ...], gaps: bool) -> dict[str, Any]:
    return {"features": features, "sparse": sparse, "names": names, "texts": texts, "gaps": gaps}


@dataclass(frozen=True)
class DataFiles:
    """Data files and the way to read them."""

    files: tuple[Any, ...]
    format: str | None
    label: int | str | None
    zero_based: bool | None
    max_bytes: int | None = None
    form: Form = Form()

    def _read(self, features: int | None = None, labelled: bool = True, names: Names = None, **more: Any) -> Any:
        from ..files import read

        given: Any = asdict(self.form) | more
        return read(
            self.files, self.format, self.label, features, labelled, self.zero_based, names, self.max_bytes, **given
        )

    def to_train(self, features: int | None, given: bool, labelled: bool = True, **more: Any) -> Any:
        """Read data to train on; the share of zeros decides how they are stored, whatever the format.

        ``given`` says that the data are kernel values, and ``more`` are arguments of `adatron.files.read`.
        """
        import numpy as np
        from scipy import sparse

        table = self._read(features, labelled, **more)
        X: Any = table.X
        if table.categorical:
            return table  # the encoder decides
        nonzeros = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
        stored = self._stored(table, nonzeros < SPARSE * X.shape[0] * X.shape[1], given)
        if given and stored.shape[0] != stored.shape[1]:
            n, d = stored.shape
            raise InputError(f"{self.files[0]}: kernel values to train on are a square matrix, not one of {n} x {d}")
        return stored

    def like(self, wanted: dict[str, Any], given: bool, labelled: bool = True) -> Any:
        """Read data as a model wants them, see `wanted_by`; LIBSVM text may use more features."""
        # LIBSVM's kernel values have a column more, see _stored.
        features, names = (None, None) if given else (wanted["features"], wanted["names"])
        more = {"categorical": wanted["texts"] or None, "allow_missing": wanted["gaps"], "surplus": True}
        table = self._read(features, labelled, names, **more)
        return table if wanted["texts"] else self._stored(table, wanted["sparse"], given)

    def _stored(self, table: Any, sparsely: bool, given: bool) -> Any:
        """Return the table with its samples as CSR or as an array; kernel values are always an array.

        In LIBSVM text each row of kernel values begins with feature 0, the number of the sample, which is dropped.
        """
        from scipy import sparse

        X = table.X
        if given:
            if sparse.issparse(X) and table.first_index != 0:
                text = "a line of kernel values begins with the number of its sample, as in '+1 0:17 1:0.2 2:0.9'"
                raise InputError(f"{self.files[0]}: {text}; no feature 0 found")
            return replace(table, X=self._dense(X)[:, 1:] if sparse.issparse(X) else X)
        if sparsely == sparse.issparse(X):
            return table
        return replace(table, X=sparse.csr_matrix(X) if sparsely else self._dense(X))

    def _dense(self, X: Any) -> Any:
        """Return sparse samples as an array, which may take far more memory than their file."""
        from ..files.source import room
        from ..files.table import check_size

        check_size(self.files[0], "dense samples", 8 * X.shape[0] * X.shape[1], self.max_bytes or room())
        return X.toarray()

    def counting_as(self, first_index: int | None) -> DataFiles:
        """Return this source with features counted as those of other data were, unless the user says how."""
        if self.zero_based is not None or first_index is None:
            return self
        return replace(self, zero_based=first_index == 0)

    def with_model(self, path: Any, labelled: bool) -> tuple[Any, Any]:
        """Read a fitted model, and the data as it takes them.

        LIBSVM's text does not say how many features there are, nor the number of the first one; then the data do.
        """
        from sklearn.utils.validation import check_is_fitted

        from ..files import NoModelError, is_libsvm_model, load, rewindable
        from ..files.models.libsvm_text import load_libsvm
        from .parts import counting_of, machine_of, task_of
        from .preparing.columns import texts_of, warn_of_unknown, with_surplus

        path = rewindable(path)
        try:
            model = load(path)
        except NoModelError as error:
            raise InputError(f"{os.fspath(path)}: this is not a model; is the order MODEL FILE?") from error
        machine = machine_of(model)
        check_is_fitted(machine)
        labelled = labelled and task_of(model) != "novelty"
        source, given = self.counting_as(counting_of(model)), machine.kernel == "precomputed"
        if is_libsvm_model(path) and not given:
            files = tuple(rewindable(one, self.max_bytes) for one in self.files)
            from_zero = True if counting_of(model) == 0 else self.zero_based  # a number names a feature, as in LIBSVM
            source = replace(self, files=files, zero_based=from_zero)
            found = source._read(labelled=labelled)
            source = source.counting_as(found.first_index)
            from_zero = source.zero_based or None
            width = load_libsvm(path, zero_based=from_zero).n_features_in_
            model = machine = load_libsvm(path, max(found.shape[1], width), from_zero)
        table = source.like(wanted_by(model), given, labelled)
        if given and table.shape[1] != (needed := getattr(model, "n_features_in_", table.shape[1])):
            raise InputError(
                f"{os.fspath(self.files[0])}: {table.shape[1]:,} kernel values of a sample found, and the model needs "
                f"{needed:,}, those with its training samples"
            )
        warn_of_unknown(os.fspath(self.files[0]), table, texts_of(model))
        return (model, table) if given else with_surplus(model, table, self.files[0], self.max_bytes)
