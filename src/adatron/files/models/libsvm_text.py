"""LIBSVM's model files: text that svm-train writes and svm-predict reads.

For each support vector the file holds its coefficients in the n - 1 pairs of classes that it takes part in. A decision
value is a sum of kernel values minus rho, positive for the first class of a pair. scikit-learn turns the sign of two
classes. A regression or novelty detection has one coefficient for each support vector, and no classes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ...estimators import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from ...estimators.base.classifier import Classifier
from ...estimators.base.machine import KernelMachine
from ...estimators.forms.adopt import adopt, adopt_one
from ...fitting.storage import tidy
from ...kernels import Kernel, resolve
from ...kernels.table import LEAVES
from ...model.foreign import LARGEST_SUPPORT
from ..atomic import atomic_write
from ..source import open_text
from ..table import DataError, ModelFileError, Path
from .archive import InvalidError
from .contents import check_machine, faults, lasting_state

#: The names of kernels here, by the names in a file.
LIBSVM_KERNELS = {
    "linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"
}  # fmt: skip
LIBSVM_TYPES: dict[str, type[KernelMachine]] = {
    "c_svc": SVC, "nu_svc": NuSVC, "one_class": OneClassSVM, "epsilon_svr": SVR, "nu_svr": NuSVR
}  # fmt: skip
START = "svm_type"  # The first keyword.
LIBSVM_PARAMETERS: dict[str, type[Any]] = {"gamma": float, "degree": int, "coef0": float}
#: Keywords that LIBSVM writes; its probabilities are its own, not those of this library.
KEYS = (START, "kernel_type", *LIBSVM_PARAMETERS, "nr_class", "total_sv", "rho", "label", "nr_sv", "probA", "probB",
        "prob_density_marks")  # fmt: skip


def save_libsvm(model: Any, path: Path) -> None:
    """Write a fitted machine as LIBSVM model text, whole or not at all.

    Raises
    ------
    ModelFileError
        If LIBSVM cannot hold the model: another kernel, classes that are not whole numbers, one class against the
        rest, a compact model, scaling.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from adatron import SVC
    >>> from adatron.files import save_libsvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_libsvm(SVC().fit([[0.0], [1.0]], [0, 1]), Path(folder) / "libsvm.model")
    ...     print((Path(folder) / "libsvm.model").read_text().splitlines()[0])
    svm_type c_svc
    """
    name = next((name for name, kind in LIBSVM_TYPES.items() if isinstance(model, kind)), None)
    if name is None:
        raise ModelFileError(path, f"a {type(model).__name__} cannot be LIBSVM text: {_cure(model)}")
    check_is_fitted(model)
    if model.compact_:
        raise ModelFileError(path, "vectors of a compact model have no class: save the model from which it was made")
    if (many := model.head.columns) is not None:
        raise ModelFileError(path, f"LIBSVM predicts one number or class, and this model predicts {many}")
    if isinstance(model, Classifier):
        _check_classes(model, path)
    lines = [f"{START} {name}", *_header(model, path), "SV", *_vectors(model)]
    with atomic_write(path) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())


def _cure(model: Any) -> str:
    """Say what keeps a model from being LIBSVM text, and what helps."""
    steps = [type(step).__name__ for _, step in getattr(model, "steps", [])[:-1]]
    if not steps:
        return f"LIBSVM has {', '.join(kind.__name__ for kind in LIBSVM_TYPES.values())}"
    if all(name.endswith("Scaler") for name in steps):
        return "scale the data beforehand"
    return f"LIBSVM holds no steps of a pipeline, and here are {', '.join(steps)}: transform the data beforehand"


def _check_classes(model: Classifier, path: Path) -> None:
    if model.classes_.dtype.kind not in "iu":
        raise ModelFileError(path, "LIBSVM's classes are whole numbers, the model's are not")
    if model.head.each:
        raise ModelFileError(path, "LIBSVM compares pairs of classes, but this model compares each class with the rest")


def _turned(model: Any) -> bool:
    """Return whether scikit-learn has turned the sign of a model's decision values."""
    return isinstance(model, Classifier) and len(model.classes_) == 2


def _header(model: Any, path: Path) -> Iterator[str]:
    sign = 1.0 if _turned(model) else -1.0
    classes: list[int] = model.classes_.tolist() if isinstance(model, Classifier) else []
    yield from _kernel_lines(model.kernel_, path)
    yield f"nr_class {len(classes) or 2}"
    yield f"total_sv {len(model.support_)}"
    yield "rho " + " ".join(repr(float(sign * b)) for b in model.intercept_)
    if classes:
        yield "label " + " ".join(map(str, classes))
        yield "nr_sv " + " ".join(map(str, model.n_support_.tolist()))


def _kernel_lines(kernel: Kernel, path: Path) -> Iterator[str]:
    spec = kernel.spec()
    name = next((theirs for theirs, ours in LIBSVM_KERNELS.items() if ours == spec["kernel"]), None)
    if name is None:
        raise ModelFileError(
            path, f"LIBSVM does not know the kernel {kernel.name}, only {', '.join(LIBSVM_KERNELS.values())}"
        )
    yield f"kernel_type {name}"
    for parameter in ("degree", "gamma", "coef0"):
        if parameter in spec:
            yield f"{parameter} {spec[parameter]!r}"


def _vectors(model: Any) -> Iterator[str]:
    dual: Any = model.dual_coef_
    dual = dual.toarray() if sparse.issparse(dual) else dual
    columns = (-dual if _turned(model) else dual).T.tolist()
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


def load_libsvm(path: Path, n_features: int | None = None, zero_based: bool | None = None) -> KernelMachine:
    """Read a machine from LIBSVM model text.

    Parameters
    ----------
    n_features : int, optional
        Features of the training data; the file tells only the last feature that a support vector has.
    zero_based : bool, optional
        Whether features count from 0. By default they do so if a support vector has feature 0.

    Returns
    -------
    SVC, NuSVC, SVR, NuSVR or OneClassSVM
        A machine with the predictions of LIBSVM; C, nu, epsilon and the certificate are not in such a file.

    Raises
    ------
    ModelFileError
        If the file is not such a model; if a parameter is missing, or a number is not finite. The message names the
        line.
    OSError
        If the file cannot be read.
    """
    try:
        with open_text(path) as stream:
            text = _Text(path, stream)
    except DataError as error:  # its message names the file
        raise _renamed(error) from error
    kind = " ".join(text.header.get(START, ["none"]))
    if kind not in LIBSVM_TYPES:
        raise ModelFileError(
            path, f"the svm_type of a LIBSVM model is one of {', '.join(LIBSVM_TYPES)}; found {kind[:50]}"
        )
    made, counted = _with_kernel(text, LIBSVM_TYPES[kind]), (n_features, zero_based)
    model = _with_classes(made, text, *counted) if isinstance(made, Classifier) else _alone(made, text, *counted)
    try:
        check_machine(model, lasting_state(model))
        if fault := faults(model):
            raise InvalidError(fault)
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


def _with_classes(model: Classifier, text: _Text, n_features: int | None, zero_based: bool | None) -> Classifier:
    labels = text.numbers("label", int)
    n = len(labels)
    if n < 2 or len(np.unique(labels)) < n or int(text.numbers("nr_class", int, 1)[0]) != n:
        raise text.error("label must have nr_class different labels, at least 2", "label")
    counts = text.numbers("nr_sv", int, n)
    if (counts < 0).any() or (counts > len(text.vectors)).any() or counts.sum() != _total(text):
        raise text.error(f"{len(text.vectors)} support vectors found, {_total(text)} announced", "total_sv")
    rho = text.numbers("rho", float, n * (n - 1) // 2)
    dual, X, support = _expansion(model, text, n - 1, n_features, zero_based)
    if n == 2:
        dual, rho = -dual, -rho
    return adopt(model, labels, counts, X, dual, -rho, support)


def _alone(model: KernelMachine, text: _Text, n_features: int | None, zero_based: bool | None) -> KernelMachine:
    rho = text.numbers("rho", float, 1)
    _total(text)
    dual, X, support = _expansion(model, text, 1, n_features, zero_based)
    return adopt_one(model, X, dual[0], float(-rho[0]), support)


def _total(text: _Text) -> int:
    """Return the number of support vectors; as many lines must be there."""
    total = int(text.numbers("total_sv", int, 1)[0])
    if len(text.vectors) != total:
        raise text.error(f"{len(text.vectors)} support vectors found, {total} announced", "total_sv")
    return total


def _expansion(
    model: KernelMachine, text: _Text, n: int, n_features: int | None, zero_based: bool | None
) -> tuple[NDArray[np.float64], Any, NDArray[np.int64]]:
    """Return n coefficients of each support vector, (n, n_support), the vectors, and their numbers."""
    columns, rest = list[NDArray[np.float64]](), list[tuple[int, str]]()
    for line, row in text.vectors:
        words = row.split(None, n)
        if len(words) < n:
            raise text.error(f"{n} coefficients are expected", line=line)
        columns.append(text.parsed(words[:n], float, line))
        rest.append((line, words[n] if len(words) > n else ""))
    dual = np.array(columns, np.float64).reshape(len(columns), n).T
    if model.kernel != "precomputed":
        X, first = _features(text, rest, n_features, zero_based)
        if first == 0:
            model.first_index_ = 0  # pyright: ignore[reportAttributeAccessIssue]
        return dual, X, np.arange(len(rest))
    numbers = [int(text.parsed([row.removeprefix("0:")], int, line)[0]) for line, row in rest]
    support = np.array(numbers, np.int64) - 1
    if len(support) and not (support.min() >= 0 and support.max() < LARGEST_SUPPORT):
        raise text.error(f"support vectors must have numbers from 1 to {LARGEST_SUPPORT}")
    return dual, np.zeros((0, 0)), support


def _with_kernel(text: _Text, kind: type[KernelMachine]) -> KernelMachine:
    """Return an estimator with the kernel of a file; all parameters of the kernel must be there."""
    named = " ".join(text.header.get("kernel_type", ["none"]))
    if named not in LIBSVM_KERNELS:
        raise text.error(f"unknown kernel_type {named[:50]!r}", "kernel_type" if "kernel_type" in text.places else None)
    name = LIBSVM_KERNELS[named]
    leaf: Any = LEAVES[name]
    needed = {field.name for field in fields(leaf)}
    given: dict[str, Any] = {
        key: text.numbers(key, kind, 1)[0].item() for key, kind in LIBSVM_PARAMETERS.items() if key in needed
    }
    parameters: dict[str, Any] = {"gamma": 1.0, "degree": 3, "coef0": 0.0, **given}
    try:
        resolve(name, **parameters)
    except ValueError as error:
        raise text.error(str(error)) from error
    made: Any = kind
    return made(kernel=name, **parameters)


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
    from sklearn.datasets import load_svmlight_file

    text = "".join(f"0 {row.strip()}\n" for row in rows).encode()
    read: Any = load_svmlight_file
    return sparse.csr_matrix(read(io.BytesIO(text), zero_based=True)[0])
