"""LIBSVM's model files: text that svm-train writes and svm-predict reads.

For each support vector the file holds its coefficients in the n - 1 pairs of classes that it takes part in. A decision
value is a sum of kernel values minus rho, positive for the first class of a pair. scikit-learn turns the sign of two
classes. A regression or novelty detection has one coefficient for each support vector, and no classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ...arrays import MOST_COLUMNS, canonical_csr
from ...conversions.adopt import adopt, adopt_one
from ...estimators import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from ...estimators.base.classifier import Classifier
from ...estimators.base.machine import KernelMachine
from ...kernels import resolve
from ...kernels.table import LEAVES
from ...model.checks import LARGEST_SUPPORT
from ..atomic import atomic_write
from ..source import open_text
from ..table import DataError, ModelFileError, Path
from .contents import check_machine, lasting_state

#: The names of kernels here, by the names in a file.
LIBSVM_KERNELS = {
    "linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"
}  # fmt: skip
LIBSVM_TYPES: dict[str, type[KernelMachine]] = {
    "c_svc": SVC, "nu_svc": NuSVC, "one_class": OneClassSVM, "epsilon_svr": SVR, "nu_svr": NuSVR
}  # fmt: skip
START = "svm_type"  # The first keyword.
#: Keywords that LIBSVM writes; its probabilities are its own, not those of this library.
KEYS = (START, "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "nr_sv", "probA",
        "probB", "prob_density_marks")  # fmt: skip


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
    if (many := model.readout.columns) is not None:
        raise ModelFileError(path, f"LIBSVM predicts one number or class, and this model predicts {many}")
    if isinstance(model, Classifier) and model.classes_.dtype.kind not in "iu":
        raise ModelFileError(path, "LIBSVM's classes are whole numbers, the model's are not")
    if isinstance(model, Classifier) and model.readout.each:
        raise ModelFileError(path, "LIBSVM compares pairs of classes, but this model compares each class with the rest")
    lines = [f"{START} {name}", *_header(model, path), "SV", *_vectors(model)]
    with atomic_write(path) as stream:
        stream.write("".join(f"{line}\n" for line in lines).encode())


def _cure(model: Any) -> str:
    """Return the reason why a model cannot be LIBSVM text, and the advice that helps."""
    steps = [type(step).__name__ for _, step in getattr(model, "steps", [])[:-1]]
    if not steps:
        return f"LIBSVM has {', '.join(kind.__name__ for kind in LIBSVM_TYPES.values())}"
    if all(name.endswith("Scaler") for name in steps):
        return "scale the data beforehand"
    return f"LIBSVM holds no steps of a pipeline, and here are {', '.join(steps)}: transform the data beforehand"


def _turned(model: Any) -> bool:
    """Return whether scikit-learn has turned the sign of a model's decision values."""
    return isinstance(model, Classifier) and len(model.classes_) == 2


def _header(model: Any, path: Path) -> Iterator[str]:
    sign = 1.0 if _turned(model) else -1.0
    classes: list[int] = model.classes_.tolist() if isinstance(model, Classifier) else []
    spec = model.kernel_.spec()
    name = next((theirs for theirs, ours in LIBSVM_KERNELS.items() if ours == spec["kernel"]), None)
    if name is None:
        known = ", ".join(LIBSVM_KERNELS.values())
        raise ModelFileError(path, f"LIBSVM does not know the kernel {model.kernel_.name}, only {known}")
    yield f"kernel_type {name}"
    yield from (f"{key} {spec[key]!r}" for key in ("degree", "gamma", "coef0") if key in spec)
    yield f"nr_class {len(classes) or 2}"
    yield f"total_sv {len(model.support_)}"
    yield "rho " + " ".join(repr(float(sign * b)) for b in model.intercept_)
    if classes:
        yield "label " + " ".join(map(str, classes))
        yield "nr_sv " + " ".join(map(str, model.n_support_.tolist()))


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
    """Read a machine with the predictions of LIBSVM from its model text; a ModelFileError names the line.

    The file tells only the last feature that a support vector has, so the training data may have more, ``n_features``.
    Features count from 0 if that is said, or by default if a support vector has feature 0. C, nu, epsilon and the
    certificate are not in such a file.
    """
    try:
        with open_text(path) as stream:
            text = _Text(path, stream)
    except DataError as error:  # its message names the file
        found = ModelFileError("", "")
        found.args = error.args
        raise found from error
    kind = " ".join(text.header.get(START, ["none"]))
    if kind not in LIBSVM_TYPES:
        raise ModelFileError(
            path, f"the svm_type of a LIBSVM model is one of {', '.join(LIBSVM_TYPES)}; found {kind[:50]}"
        )
    model = _adopted(_with_kernel(text, LIBSVM_TYPES[kind]), text, n_features, zero_based)
    try:
        check_machine(model, lasting_state(model))
    except ValueError as error:
        raise ModelFileError(path, f"damaged LIBSVM model: {error}") from error
    return model


class _Text:
    """The words of a file.

    header, places : the values of each keyword, and the number of its line
    vectors : words of each support vector, with the number of its line
    """

    def __init__(self, path: Path, stream: Iterable[str]) -> None:
        self.path = path
        self.header: dict[str, list[str]] = {}
        self.places: dict[str, int] = {}
        numbered = self._numbered(stream)
        for number, (key, *values) in numbered:
            if key == "SV":
                break
            if key in self.header or key not in KEYS:
                raise ModelFileError(path, f"unknown or repeated keyword {key[:50]!r} in a LIBSVM model", number)
            self.header[key], self.places[key] = values, number
        self.vectors = list(numbered)

    def _numbered(self, stream: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        for number, line in enumerate(stream, 1):
            if not line.isascii():  # Python would read the digits of all alphabets
                raise self.error(f"there is more than ASCII in {line.strip()[:50]!r}", number)
            if words := line.split():
                yield number, words

    def error(self, message: str, line: int | None = None) -> ModelFileError:
        """Return the error of a line, or of the whole file."""
        return ModelFileError(self.path, f"damaged LIBSVM model: {message}", line)

    def numbers(self, key: str, kind: type[Any], count: int | None = None) -> NDArray[Any]:
        """Return the values of a keyword, and check their count."""
        if key not in self.header:
            raise self.error(f"{key} is missing")
        words = self.header[key]
        if count is not None and len(words) != count:
            raise self.error(f"{key} must have {count} values; it has {len(words)}", self.places[key])
        return self.parsed(words, kind, self.places[key])

    def parsed(self, words: Sequence[str], kind: type[Any], line: int) -> NDArray[Any]:
        """Return words as finite numbers, whole ones for an integer kind."""
        try:
            found = np.array(list(map(kind, words)), np.int64 if kind is int else np.float64)
        except (ValueError, OverflowError) as error:
            raise self.error(str(error), line) from error
        if not np.isfinite(found).all():
            raise self.error(f"a number is not finite in {' '.join(words)[:50]!r}", line)
        return found


def _with_kernel(text: _Text, kind: type[KernelMachine]) -> KernelMachine:
    """Return an estimator with the kernel of a file; all parameters of the kernel must be there."""
    named = " ".join(text.header.get("kernel_type", ["none"]))
    if named not in LIBSVM_KERNELS:
        raise text.error(f"unknown kernel_type {named[:50]!r}", text.places.get("kernel_type"))
    name = LIBSVM_KERNELS[named]
    leaf: Any = LEAVES[name]
    parameters: dict[str, Any] = {"gamma": 1.0, "degree": 3, "coef0": 0.0}
    for key in parameters.keys() & {field.name for field in fields(leaf)}:
        parameters[key] = text.numbers(key, int if key == "degree" else float, 1)[0].item()
    try:
        resolve(name, **parameters)
    except ValueError as error:
        raise text.error(str(error)) from error
    made: Any = kind
    return made(kernel=name, **parameters)


def _adopted(model: Any, text: _Text, n_features: int | None, zero_based: bool | None) -> KernelMachine:
    """Return the machine with the support vectors and coefficients of a file."""
    classes = isinstance(model, Classifier)
    labels = text.numbers("label", int) if classes else np.arange(2)
    n = len(labels)
    if classes and (len(np.unique(labels)) < max(2, n) or text.numbers("nr_class", int, 1)[0] != n):
        raise text.error("label must have nr_class different labels, at least 2", text.places["label"])
    if len(text.vectors) != (total := text.numbers("total_sv", int, 1)[0]):
        raise text.error(f"{len(text.vectors)} support vectors found, {total} announced")
    rho = text.numbers("rho", float, n * (n - 1) // 2)
    if short := [line for line, words in text.vectors if len(words) < n - 1]:
        raise text.error(f"{n - 1} coefficients are expected", short[0])
    coefficients = [text.parsed(words[: n - 1], float, line) for line, words in text.vectors]
    dual, rows = np.reshape(coefficients, (total, n - 1)).T, [(line, words[n - 1 :]) for line, words in text.vectors]
    if model.kernel == "precomputed":
        found = [text.parsed([" ".join(words).removeprefix("0:")], int, line)[0] - 1 for line, words in rows]
        if not all(0 <= one < LARGEST_SUPPORT for one in found):
            raise text.error(f"support vectors must have numbers from 1 to {LARGEST_SUPPORT}")
        X, support = np.zeros((0, 0)), np.array(found, np.int64)
    else:
        (X, first), support = _features(text, rows, n_features, zero_based), np.arange(total)
        if first == 0:
            vars(model)["first_index_"] = 0
    if not classes:
        return adopt_one(model, X, dual[0], float(-rho[0]), support)
    counts, sign = text.numbers("nr_sv", int, n), -1.0 if n == 2 else 1.0
    if (counts < 0).any() or (counts > total).any() or counts.sum() != total:
        raise text.error(f"nr_sv must count {total} support vectors", text.places["nr_sv"])
    return adopt(model, labels, counts, X, sign * dual, -sign * rho, support)


def _features(
    text: _Text, rows: list[tuple[int, list[str]]], n_features: int | None, zero_based: bool | None
) -> tuple[sparse.csr_matrix, int]:
    """Return the support vectors, and the number of their first feature: 0 if one uses it, unless it is told."""
    columns, values = [np.zeros(0, np.int64)], [np.zeros(0)]
    named, numbers = list[str](), columns[0]  # of the vector before, which often has the same features
    for line, words in rows:
        flat = ":".join(words).split(":") if words else []
        if len(flat) != 2 * len(words) or not all(":" in word for word in words):
            raise text.error(f"not pairs of a feature's number and its value: {' '.join(words)[:50]!r}", line)
        if flat[::2] != named:
            named, numbers = flat[::2], text.parsed(flat[::2], int, line)
        if words and not (numbers[0] >= 0 and numbers[-1] < MOST_COLUMNS and (numbers[1:] > numbers[:-1]).all()):
            raise text.error(f"numbers of features must ascend, from 0 to {MOST_COLUMNS - 1}", line)
        if zero_based is False and 0 in numbers[:1]:
            raise text.error("feature 0 found, and features count from 1 here, as requested", line)
        columns.append(numbers)
        values.append(text.parsed(flat[1::2], float, line))
    found, ends = np.concatenate(columns), np.cumsum([len(one) for one in columns])
    first = 0 if zero_based or 0 in found else 1
    width = max(1, int(found.max(initial=0)) + 1 - first)  # if no vector has a feature, the matrix still has one
    if n_features is not None and len(found) and n_features < width:
        raise text.error(f"feature {found.max()} found, {n_features} features expected")
    shape = len(rows), width if n_features is None else n_features
    return canonical_csr(sparse.csr_matrix((np.concatenate(values), found - first, ends), shape)), first
