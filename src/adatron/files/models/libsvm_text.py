"""LIBSVM's model files: text that svm-train writes and svm-predict reads.

For each support vector the file holds its coefficients in the n - 1 pairs of classes that it takes part in. A decision
value is a sum of kernel values minus rho, positive for the first class of a pair. scikit-learn turns the sign of two
classes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.utils.validation import check_is_fitted

from ...estimators import SVC
from ...estimators.model.adopt import adopt
from ...fitting.storage import tidy
from ...kernels import Kernel, resolve
from ...kernels.table import LEAVES
from ..atomic import atomic_write
from ..source import open_text
from ..table import DataError, ModelFileError, Path
from .contents import check_estimator, lasting_state

KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}
START = "svm_type"
PARAMETERS: dict[str, type[Any]] = {"gamma": float, "degree": int, "coef0": float}
#: Keywords that LIBSVM writes; its probabilities are its own, not those of this library.
KEYS = (START, "kernel_type", *PARAMETERS, "nr_class", "total_sv", "rho", "label", "nr_sv", "probA", "probB",
        "prob_density_marks")  # fmt: skip
LARGEST = 2**31 - 1


def save_libsvm(model: Any, path: Path) -> None:
    """Write a fitted classifier as LIBSVM model text, whole or not at all.

    Raises
    ------
    ModelFileError
        If LIBSVM cannot hold the model: another kernel, classes that are not whole numbers, one class against the
        rest, a compact model, scaling.
    OSError
        If the file cannot be written.
    """
    if not isinstance(model, SVC):
        raise ModelFileError(path, f"a {type(model).__name__} cannot be LIBSVM text: scale the data beforehand")
    check_is_fitted(model)
    if model.compact_:
        raise ModelFileError(path, "vectors of a compact model have no class: save the one before compact()")
    if model.classes_.dtype.kind not in "iu":
        raise ModelFileError(path, "LIBSVM's classes are whole numbers, the model's are not")
    if len(model.classes_) > 2 and not model._one_against_one():  # pyright: ignore[reportPrivateUsage]
        raise ModelFileError(path, "LIBSVM knows one class against one only, not multi_class='ovr'")
    lines = [*_header(model, path), "SV", *_vectors(model)]
    with atomic_write(path) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())


def _header(model: SVC, path: Path) -> Iterator[str]:
    sign = 1.0 if len(model.classes_) == 2 else -1.0
    yield "svm_type c_svc"
    yield from _kernel_lines(model.kernel_, path)
    yield f"nr_class {len(model.classes_)}"
    yield f"total_sv {len(model.support_)}"
    yield "rho " + " ".join(repr(float(sign * b)) for b in model.intercept_)
    yield "label " + " ".join(str(int(label)) for label in model.classes_)
    yield "nr_sv " + " ".join(map(str, model.n_support_.tolist()))


def _kernel_lines(kernel: Kernel, path: Path) -> Iterator[str]:
    spec = kernel.spec()
    name = next((theirs for theirs, ours in KERNELS.items() if ours == spec["kernel"]), None)
    if name is None:
        raise ModelFileError(path, f"LIBSVM does not know the kernel {kernel}, only {', '.join(KERNELS.values())}")
    yield f"kernel_type {name}"
    for parameter in ("degree", "gamma", "coef0"):
        if parameter in spec:
            yield f"{parameter} {spec[parameter]!r}"


def _vectors(model: SVC) -> Iterator[str]:
    dual: Any = model.dual_coef_
    dual = dual.toarray() if sparse.issparse(dual) else dual
    columns = (-dual if len(model.classes_) == 2 else dual).T.tolist()
    if model.kernel_.name == "precomputed":
        rows = ([f"0:{number + 1}"] for number in model.support_.tolist())
    else:
        X = sparse.csr_matrix(model.support_vectors_)
        spans = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
        start = 0 if vars(model).get("first_index_") == 0 else 1  # as in the model's data
        entries = [f"{i + start}:{v!r}" for i, v in zip(X.indices.tolist(), X.data.astype(float).tolist(), strict=True)]
        rows = (entries[a:b] for a, b in spans)
    for coefficients, row in zip(columns, rows, strict=True):
        yield " ".join([*map(repr, coefficients), *row])


def load_libsvm(path: Path, n_features: int | None = None, zero_based: bool | None = None) -> SVC:
    """Read a classifier from LIBSVM model text.

    Parameters
    ----------
    n_features : int, optional
        Features of the training data; the file tells only the last feature that a support vector has.
    zero_based : bool, optional
        Whether features count from 0. By default they do so if a support vector has feature 0.

    Returns
    -------
    SVC
        An SVC with the predictions of LIBSVM; C and the certificate are not in such a file.

    Raises
    ------
    ModelFileError
        If the file is not such a model, or is one for regression or novelty detection; if a parameter is missing, or a
        number is not finite. The message names the line.
    OSError
        If the file cannot be read.
    """
    try:
        with open_text(path) as stream:
            text = _Text(path, stream)
    except DataError as error:  # its message names the file
        raise _renamed(error) from error
    kind = " ".join(text.header.get(START, ["none"]))
    if kind not in ("c_svc", "nu_svc"):
        raise ModelFileError(path, f"a LIBSVM model for classification is wanted; its svm_type is {kind[:50]}")
    model = _assemble(text, n_features, zero_based)
    try:
        check_estimator(model, lasting_state(model))
    except ValueError as error:
        raise ModelFileError(path, f"damaged LIBSVM model: {error}") from error
    return model


def _renamed(error: DataError) -> ModelFileError:
    """Return the error of a model file with the same message."""
    found = ModelFileError("", "")
    found.args = error.args
    return found


class _Text:
    """The words of the header and the lines of the support vectors.

    Attributes
    ----------
    header, places : the values of each keyword, and the number of its line
    vectors : words of each support vector, with the number of its line
    """

    def __init__(self, path: Path, stream: Iterable[str]) -> None:
        self.path = path
        self.header: dict[str, list[str]] = {}
        self.places: dict[str, int] = {}
        numbered = enumerate(stream, 1)
        for number, line in numbered:
            if not line.strip():
                continue
            key, *values = line.split()
            if key == "SV":
                break
            if key in self.header or key not in KEYS:
                raise ModelFileError(path, f"unknown or repeated keyword {key[:50]!r} in a LIBSVM model", number)
            self.header[key], self.places[key] = values, number
        self.vectors = [(number, line) for number, line in numbered if line.strip()]

    def error(self, message: str, key: str | None = None, line: int | None = None) -> ModelFileError:
        """Return the error of a keyword's line, or of another one."""
        return ModelFileError(self.path, f"damaged LIBSVM model: {message}", self.places[key] if key else line)

    def numbers(self, key: str, kind: type[Any], count: int | None = None) -> NDArray[Any]:
        """Return the values of a keyword, and check their count."""
        if key not in self.header:
            raise self.error(f"{key} is missing")
        words = self.header[key]
        if count is not None and len(words) != count:
            raise self.error(f"{key} must have {count} values; it has {len(words)}", key)
        return self.parsed(words, kind, self.places[key])

    def parsed(self, words: list[str], kind: type[Any], line: int) -> NDArray[Any]:
        """Return words as finite numbers, whole ones for an integer kind."""
        try:
            found = np.array([kind(word) for word in words], np.int64 if kind is int else np.float64)
        except (ValueError, OverflowError) as error:
            raise self.error(str(error), line=line) from error
        if not np.isfinite(found).all():
            raise self.error(f"a number is not finite in {' '.join(words)[:50]!r}", line=line)
        return found


def _assemble(text: _Text, n_features: int | None, zero_based: bool | None) -> SVC:
    model = _with_kernel(text)
    labels = text.numbers("label", int)
    n, total = len(labels), int(text.numbers("total_sv", int, 1)[0])
    if n < 2 or len(np.unique(labels)) < n or int(text.numbers("nr_class", int, 1)[0]) != n:
        raise text.error("label must have nr_class different labels, at least 2", "label")
    counts = text.numbers("nr_sv", int, n)
    if (counts < 0).any() or (counts > len(text.vectors)).any() or not len(text.vectors) == total == counts.sum():
        raise text.error(f"{len(text.vectors)} support vectors found, {total} announced", "total_sv")
    rho = text.numbers("rho", float, n * (n - 1) // 2)
    columns, rest = list[NDArray[np.float64]](), list[tuple[int, str]]()
    for line, row in text.vectors:
        words = row.split(None, n - 1)
        if len(words) < n - 1:
            raise text.error(f"{n - 1} coefficients are expected", line=line)
        columns.append(text.parsed(words[: n - 1], float, line))
        rest.append((line, words[n - 1] if len(words) == n else ""))
    dual: Any = np.array(columns, np.float64).reshape(total, n - 1).T
    if n == 2:
        dual, rho = -dual, -rho
    if model.kernel == "precomputed":
        numbers = [int(text.parsed([row.removeprefix("0:")], int, line)[0]) for line, row in rest]
        X, support = np.zeros((0, 0)), np.array(numbers, np.int64) - 1
        if total and not (support.min() >= 0 and support.max() < LARGEST):
            raise text.error(f"support vectors must have numbers from 1 to {LARGEST}")
    else:
        (X, first), support = _features(text, rest, n_features, zero_based), np.arange(total)
        if first == 0:
            model.first_index_ = 0  # pyright: ignore[reportAttributeAccessIssue]
    return adopt(model, labels, counts, X, dual, -rho, support)


def _with_kernel(text: _Text) -> SVC:
    """Return an estimator with the kernel of a file; all parameters of the kernel must be there."""
    named = " ".join(text.header.get("kernel_type", ["none"]))
    if named not in KERNELS:
        raise text.error(f"unknown kernel_type {named[:50]!r}", "kernel_type" if "kernel_type" in text.places else None)
    name = KERNELS[named]
    leaf: Any = LEAVES[name]
    needed = {field.name for field in fields(leaf)}
    given: dict[str, Any] = {
        key: text.numbers(key, kind, 1)[0].item() for key, kind in PARAMETERS.items() if key in needed
    }
    parameters: dict[str, Any] = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **given}
    try:
        resolve(name, **parameters)
    except ValueError as error:
        raise text.error(str(error)) from error
    return SVC(kernel=name, **parameters)


def _features(
    text: _Text, rows: list[tuple[int, str]], n_features: int | None, zero_based: bool | None
) -> tuple[sparse.csr_matrix, int]:
    """Return the support vectors, and the number of their first feature: 0 if one uses it, unless it is told."""
    try:
        found: Any = _parsed([row for _, row in rows])
    except (ValueError, OverflowError) as error:
        for line, row in rows:
            try:
                _parsed([row])
            except (ValueError, OverflowError) as own:
                raise text.error(str(own), line=line) from own
        raise text.error(str(error)) from error
    wrong = np.flatnonzero(~np.isfinite(found.data))
    if len(wrong):
        row = int(np.searchsorted(found.indptr, wrong[0], side="right")) - 1
        raise text.error(f"feature {found.indices[wrong[0]]} is {found.data[wrong[0]]}", line=rows[row][0])
    from_zero = bool(found.nnz) and int(found.indices.min()) == 0
    if from_zero and zero_based is False:
        row = int(np.searchsorted(found.indptr, np.flatnonzero(found.indices == 0)[0], side="right")) - 1
        raise text.error("feature 0 found, and features count from 1 here, as requested", line=rows[row][0])
    first = 0 if zero_based or from_zero else 1
    width = max(1, found.shape[1] - first)  # if no vector has a feature, the matrix still has one
    if n_features is not None and n_features < width and found.nnz:
        raise text.error(f"feature {found.indices.max()} found, {n_features} features expected")
    shape = (found.shape[0], width if n_features is None else n_features)
    return tidy(sparse.csr_matrix((found.data, found.indices - first, found.indptr), shape)), first


def _parsed(rows: list[str]) -> sparse.csr_matrix:
    """Return features from their text, feature j in column j."""
    if any(sign in row for row in rows for sign in ("#", "qid")):
        raise ValueError("a support vector is pairs of a number and a value")
    text = "".join(f"0 {row.strip()}\n" for row in rows).encode()
    read: Any = load_svmlight_file
    return sparse.csr_matrix(read(io.BytesIO(text), zero_based=True)[0])
