"""LIBSVM's model files: text that svm-train writes and svm-predict reads.

The file holds, for each support vector, its coefficients in the n - 1 pairs of classes it takes part in. A decision
value is a sum of kernel values minus rho, positive for the first class of a pair; scikit-learn turns the sign of two
classes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.utils.validation import check_is_fitted

from ..estimators import SVC
from ..estimators.model.adopt import adopt
from ..kernels import Kernel
from .atomic import atomic_write
from .source import open_text
from .table import ModelFileError, Path

KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}
START = "svm_type"


def save_libsvm(model: Any, path: Path) -> None:
    """Write a fitted classifier as LIBSVM model text, whole or not at all.

    Raises
    ------
    ModelFileError
        If LIBSVM has no place for it: another kernel, classes that are not whole numbers, one class against the rest,
        a compact model, scaling.
    OSError
        If the file cannot be written.
    """
    if not isinstance(model, SVC):
        raise ModelFileError(path, f"a {type(model).__name__} has no place there: scale the data beforehand")
    check_is_fitted(model)
    if model.compact_:
        raise ModelFileError(path, "vectors of a compact model have no class: save the one before compact()")
    if model.classes_.dtype.kind not in "iu":
        raise ModelFileError(path, "LIBSVM's classes are whole numbers, these are not")
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
    if model.kernel == "precomputed":
        rows = ([f"0:{number + 1}"] for number in model.support_.tolist())
    else:
        X = sparse.csr_matrix(model.support_vectors_)
        spans = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
        entries = [f"{i + 1}:{v!r}" for i, v in zip(X.indices.tolist(), X.data.astype(float).tolist(), strict=True)]
        rows = (entries[a:b] for a, b in spans)
    for coefficients, row in zip(columns, rows, strict=True):
        yield " ".join([*map(repr, coefficients), *row])


def load_libsvm(path: Path, n_features: int | None = None) -> SVC:
    """Read a classifier from LIBSVM model text.

    Parameters
    ----------
    n_features : int, optional
        Features of the data it was trained on; the file tells only the last one that a support vector has.

    Returns
    -------
    SVC
        Its predictions are those of LIBSVM; C and the certificate are not in such a file.

    Raises
    ------
    ModelFileError
        If the file is no such model, or one for regression or novelty detection.
    OSError
        If the file cannot be read.
    """
    with open_text(path) as stream:
        header = _read_header(stream)
        lines = [line for line in stream if line.strip()]
    kind = " ".join(header.get(START, ["none"]))
    if kind not in ("c_svc", "nu_svc"):
        raise ModelFileError(path, f"a LIBSVM model for classification is wanted; its svm_type is {kind}")
    try:
        return _assemble(header, lines, n_features)
    except (KeyError, ValueError, IndexError, OverflowError) as error:
        raise ModelFileError(path, f"damaged LIBSVM model ({error!r})") from error


def _read_header(stream: Any) -> dict[str, list[str]]:
    header: dict[str, list[str]] = {}
    for line in stream:
        key, *values = line.split() or [""]
        if key == "SV":
            break
        header[key] = values
    return header


def _assemble(header: dict[str, list[str]], lines: list[str], n_features: int | None) -> SVC:
    given = {name: header[name][0] for name in ("gamma", "coef0", "degree") if name in header}
    types: dict[str, Any] = {"gamma": float, "coef0": float, "degree": int}
    parameters: dict[str, Any] = {"gamma": 1.0, **{name: types[name](text) for name, text in given.items()}}
    model = SVC(kernel=KERNELS[header["kernel_type"][0]], **parameters)
    total, labels = int(header["total_sv"][0]), np.array(header["label"], np.int64)
    counts = np.array(header["nr_sv"], np.int64)
    n = len(labels)
    if len(lines) != total or counts.sum() != total or len(counts) != n or n < 2 or (counts < 0).any():
        raise ValueError(f"{len(lines)} support vectors found, {total} announced")
    words = [line.split(None, n - 1) for line in lines]
    dual = np.array([row[: n - 1] for row in words], np.float64).reshape(total, n - 1).T
    rest = [row[n - 1] if len(row) == n else "" for row in words]
    rho = np.array(header["rho"], np.float64)
    if len(rho) != n * (n - 1) // 2 or not (np.isfinite(dual).all() and np.isfinite(rho).all()):
        raise ValueError("rho or coefficients")
    if n == 2:
        dual, rho = -dual, -rho
    if model.kernel == "precomputed":
        X, support = np.zeros((total, 0)), np.array([int(row.removeprefix("0:")) - 1 for row in rest], np.int64)
        if support.min(initial=0) < 0:
            raise ValueError("the number of a support vector is below 1")
    else:
        X, support = _features(rest, n_features), np.arange(total)
    return adopt(model, labels, counts, X, dual, -rho, support)


def _features(rows: list[str], n_features: int | None) -> sparse.csr_matrix:
    text = "".join(f"0 {row.strip()}\n" for row in rows).encode()
    read: Any = load_svmlight_file
    return sparse.csr_matrix(read(io.BytesIO(text), n_features=n_features, zero_based=False)[0])
