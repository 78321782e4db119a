"""The data files of a command, read to train on or as a model takes them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..conversions.adopt import widened
from ..files import NoModelError, is_libsvm_model, load, read, rewindable
from ..files.models.libsvm_text import load_libsvm
from ..files.source import room
from ..files.table import check_size
from ..files.tables.columns import counts
from ..pipelines import way_to
from . import parts
from .labels import label_text
from .outputs import InputError

SPARSE = 0.1  # Share of nonzeros below which data are kept as CSR.


@dataclass(frozen=True)
class DataFiles:
    """Data files and the way to read them.

    reading : arguments of `adatron.files.read`
    given : whether the data are kernel values
    """

    files: tuple[Any, ...]
    reading: dict[str, Any]
    given: bool = False

    @property
    def name(self) -> str:
        """The first file, for messages."""
        return os.fspath(self.files[0])

    def read(self, **more: Any) -> Any:
        """Read the files as the options and these arguments say."""
        return read(self.files, **self.reading | more)

    def rewindable(self) -> DataFiles:
        """Return files that can be read more than once."""
        return replace(self, files=tuple(rewindable(one, self.reading["max_bytes"]) for one in self.files))

    def to_train(self, **more: Any) -> Any:
        """Read data to train on; the share of zeros decides how they are stored, whatever the format."""
        table = self.read(**more)
        X: Any = table.X
        if table.categorical:
            return table  # the encoder decides
        nonzeros = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
        stored = self._stored(table, nonzeros < SPARSE * X.shape[0] * X.shape[1])
        if self.given and stored.shape[0] != stored.shape[1]:
            n, d = stored.shape
            raise InputError(f"{self.name}: kernel values to train on are a square matrix, not one of {n} x {d}")
        return stored

    def like(self, wanted: dict[str, Any], csr: bool, label: str | None, labelled: bool, counted: bool = False) -> Any:
        """Read data as a model wants them; LIBSVM text may use more features.

        wanted : arguments of `adatron.files.read`
        csr : whether the samples are CSR
        label : where the model's labels came from
        counted : whether a feature of the training data counts the rows, too
        """
        if self.given:  # LIBSVM's kernel values have a column more, see _stored
            wanted = wanted | {"n_features": None, "feature_names": None}
        table = self.read(**wanted, labelled=labelled, surplus=True)
        known = table.label_column is None or self.reading["label"] is not None or self.reading["keep_index"] or counted
        if not known:
            table = self._without_counter(table, wanted, label, labelled)
        return table if wanted["categorical"] else self._stored(table, csr)

    def like_training(self, table: Any, gaps: bool, labelled: bool) -> Any:
        """Read data as a model of these training data takes them, before there is one; ``gaps`` are filled."""
        sparsely, texts = sparse.issparse(table.X), table.categorical or None
        wanted = {"n_features": table.shape[1], "feature_names": table.feature_names, "categorical": texts}
        counted = not sparsely and counts(table.X[:, 0])
        return self.like(wanted | {"allow_missing": gaps}, sparsely, label_text(table), labelled, counted)

    def _without_counter(self, table: Any, wanted: dict[str, Any], label: str | None, labelled: bool) -> Any:
        """Return the table without a label that counts the rows, or fail: such a column displaces the label."""
        at, name = table.label_column, table.label_name
        taken = f"column {at if name is None else repr(name)}"
        if table.feature_names and wanted["feature_names"]:
            if (label or "").endswith(f"({name})") or not counts(table.y):
                return table
            if not labelled:
                return replace(table, y=None, label_column=None, label_name=None)
            raise InputError(
                f"{self.name}: {taken} counts the rows, and it is taken for the label as it is no feature of the "
                f"model: --label {at} says that it is the label, --label names another one"
            )
        if wanted["n_features"] and table.columns[0] == 0 and counts(table.X[:, 0]):
            raise InputError(
                f"{self.name}: {parts.named_in(table, 0)} counts the rows, and {taken}, which is taken for the label, "
                f"may be a feature: --index 0 leaves the first one out, --label {at} says that the other is the label"
            )
        return table

    def _stored(self, table: Any, sparsely: bool) -> Any:
        """Return the table with its samples as CSR or as an array; kernel values are always an array.

        In LIBSVM text each row of kernel values begins with feature 0, the number of the sample, which is dropped.
        """
        X, sparsely = table.X, sparsely and not self.given
        if self.given and sparse.issparse(X) and table.first_index != 0:
            text = "a line of kernel values begins with the number of its sample, as in '+1 0:17 1:0.2 2:0.9'"
            raise InputError(f"{self.name}: {text}; no feature 0 found")
        if sparsely == sparse.issparse(X):
            return table
        if sparsely:
            return replace(table, X=sparse.csr_matrix(X))
        check_size(self.name, "dense samples", 8 * X.shape[0] * X.shape[1], self.reading["max_bytes"] or room())
        return replace(table, X=X.toarray()[:, 1:] if self.given else X.toarray())

    def counting_as(self, first_index: int | None) -> DataFiles:
        """Return this source with features counted as those of other data were, unless the user says how."""
        if self.reading["zero_based"] is not None or first_index is None:
            return self
        return replace(self, reading=self.reading | {"zero_based": first_index == 0})

    def with_model(self, path: Any, labelled: bool, device: str | None = None) -> tuple[Any, Any]:
        """Read a fitted model, which is to compute on a device, and the data as it takes them."""
        path = rewindable(path)
        try:
            model = load(path)
        except NoModelError as error:
            raise InputError(f"{os.fspath(path)}: this is not a model; is the order MODEL FILE?") from error
        machine = parts.machine_of(model)
        check_is_fitted(machine)
        labelled = labelled and parts.task_of(model) != "novelty"
        source = replace(self.counting_as(parts.counting_of(model)), given=machine.kernel == "precomputed")
        if is_libsvm_model(path) and not source.given:  # whose text does not tell from which number its features count
            source = source.rewindable()
            if parts.counting_of(model) == 0:  # a number names a feature, as in LIBSVM
                source = replace(source, reading=self.reading | {"zero_based": True})
            source = source.counting_as(source.read(labelled=labelled).first_index)
            model = load_libsvm(path, zero_based=source.reading["zero_based"] or None)
        vectors = parts.machine_of(model).support_vectors_
        wanted = {
            "n_features": int(getattr(model, "n_features_in_", vectors.shape[1])),
            "feature_names": parts.names_of(model),
            "categorical": tuple(parts.texts_of(model)) or None,
            "allow_missing": parts.imputing_of(model) is not None,
        }
        sparsely = sparse.issparse(vectors) and not parts.branches(way_to(model).estimators[0])
        table = source.like(wanted, sparsely, parts.label_of(model), labelled)
        if source.given and table.shape[1] != (needed := getattr(model, "n_features_in_", table.shape[1])):
            raise InputError(
                f"{self.name}: {table.shape[1]:,} kernel values of a sample found, and the model needs {needed:,}, "
                "those with its training samples"
            )
        model, table = self.matched(model, table)
        machine = parts.machine_of(model)
        if device is not None and "device" not in machine.get_params(deep=False):
            raise click.UsageError(f"--device: an {type(machine).__name__} computes on the processor only")
        if device is not None:
            parts.check_device(device)
            machine.set_params(device=device)
        return model, table

    def matched(self, model: Any, table: Any) -> tuple[Any, Any]:
        """Return a model and data with the same features: the model as if its training samples had 0 in the others.

        svm-predict does the same: a Gaussian kernel counts such features in distances, products leave them out. A
        scaling leaves these features as they are, as it does with features that are always 0.
        """
        parts.warn_of_unknown(self.name, table, parts.texts_of(model))
        X, way = table.X, way_to(model)
        last, n = way.machine, getattr(model, "n_features_in_", table.shape[1])
        wide = last.kernel != "precomputed" and X.shape[1] > n
        names = parts.take_names(model) if wide or sparse.issparse(X) else parts.names_of(model)
        if not wide:
            return model, replace(table, X=parts.framed(X, names), feature_names=names)
        if not sparse.issparse(last.support_vectors_):
            what, size = f"support vectors with {X.shape[1]} features", 8 * len(last.support_vectors_) * X.shape[1]
            check_size(self.name, what, size, self.reading["max_bytes"] or room())
        if any(not isinstance(step, (StandardScaler, MinMaxScaler, MaxAbsScaler)) for _, step in way.steps):
            raise InputError(
                f"the data have {X.shape[1]} features and the model has {n}: train it with --features {X.shape[1]}, as "
                "these data use features that the training data lack"
            )
        if way.steps:
            head, rest = way.taken(X[:, :n]), X[:, n:]
            X = sparse.csr_matrix(sparse.hstack([head, rest])) if sparse.issparse(X) else np.hstack([head, rest])
        return widened(last, table.shape[1]), replace(table, X=X)
