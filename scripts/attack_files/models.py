"""Damaged and crafted model files, and LIBSVM's model text.

Raw damage changes bytes; crafted damage changes the content of a file and gives it the right digest and check sums. A
file must be refused, or its model must predict finite numbers, unless it holds numbers so large that sums overflow.
"""

from __future__ import annotations

import functools
import io
import json
import re
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import model_steps
import numpy as np
from model_damage import changed_text, crafted, damaged
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

import adatron
from adatron.estimators.incremental.machine import Incremental
from adatron.files import ModelFileError, save_libsvm
from adatron.files.models.archive import MARK, seal
from adatron.kernels import RBF, Laplacian, Linear, Polynomial

Generator = np.random.Generator
LARGE = 1e100  # Numbers above which sums of products may overflow.
MOST_COLUMNS = 10**5  # Columns of samples that are made for a model, at most.
DEGREE = 100  # Degree of a polynomial kernel above which powers may overflow.


@functools.cache
def data() -> tuple[Any, Any]:
    """Return samples, and classes of them."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    return X, np.digitize(X[:, 0], [-0.5, 0.5])


@functools.cache
def models() -> dict[str, tuple[bytes, Any]]:
    """Return a file of each kind, and samples that its model takes."""
    X, three = data()
    two, few = (three > 0).astype(int), sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    kernel = RBF(0.5) + 0.5 * Linear() * Polynomial(1.0, 2, 1.0) + Laplacian(0.1)
    inner = make_pipeline(StandardScaler(), adatron.IncrementalNuSVC(nu=0.2))
    made: dict[str, tuple[Any, Any]] = {
        "SVC": (adatron.SVC(probability=True).fit(X, three), X),
        "SVC of text": (adatron.SVC(multi_class="ovr").fit(X, np.array(["a", "bb", "c"])[three]), X),
        "CSR": (adatron.SVC().fit(few, three), few),
        "precomputed": (adatron.SVC(kernel="precomputed").fit(X @ X.T, three), X @ X.T),
        "kernel sum": (adatron.SVC(kernel=kernel, solver="isda").fit(X, two), X),
        "NuSVC": (adatron.NuSVC(nu=0.2).fit(X, two), X),
        "SVR": (adatron.SVR().fit(X, X[:, 1]), X),
        "OneClassSVM": (adatron.OneClassSVM().fit(X), X),
        "IncrementalSVC": (adatron.IncrementalSVC().fit(X, three), X),
        "IncrementalSVC of CSR": (adatron.IncrementalSVC(multi_class="ovr").fit(few, three), few),
        "IncrementalSVR": (adatron.IncrementalSVR().fit(X, X[:, 1]), X),
        "IncrementalOneClassSVM": (adatron.IncrementalOneClassSVM().fit(X), X),
        "pipeline": (make_pipeline(StandardScaler(), adatron.SVC()).fit(X, two), X),
        "nested": (make_pipeline(MinMaxScaler(clip=True), inner).fit(X, two), X),
        "InputMarginSVC": (adatron.InputMarginSVC(n_steps=1).fit(X, two), X),
        "rescaled": (adatron.InputMarginSVC(n_steps=1, algorithm="rescaled").fit(X, three), X),
        "compact": (adatron.SVC(kernel="linear").fit(X, three).compact(), X),
    }
    return {name: (_written(model), rows) for name, (model, rows) in made.items()}


@functools.cache
def stepped() -> dict[str, tuple[bytes, Any]]:
    """Return files of models with steps of scikit-learn, and rows that each of them takes."""
    return {f"steps {name}": (_written(model), rows) for name, (model, rows) in model_steps.models().items()}


@functools.cache
def texts() -> dict[str, tuple[bytes, Any]]:
    """Return a file of LIBSVM's text for each kernel, and samples that its model takes."""
    X, three = data()
    two, found = (three > 0).astype(int), {}
    for kernel in ("linear", "poly", "rbf", "sigmoid", "precomputed"):
        rows = X @ X.T if kernel == "precomputed" else X
        for name, y in (("two", two), ("three", three)):
            found[f"{kernel}, {name}"] = (
                _written(adatron.SVC(kernel=kernel, gamma=0.1).fit(rows, y), save_libsvm), rows
            )  # fmt: skip
    return found


def _written(model: Any, save: Callable[[Any, Path], None] = adatron.save) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        save(model, path)
        return path.read_bytes()


def attempt(rng: Generator, folder: Path) -> tuple[str, str]:
    """Return the kind of the damage and how it ended."""
    if rng.random() < 0.15:
        name, (content, X) = _one(rng, texts())
        kind, changed = "text", (damaged if rng.random() < 0.3 else changed_text)(rng, content)
        harmless = False
    else:
        name, (content, X) = _one(rng, models() if rng.random() < 0.5 else stepped())
        if rng.random() < 0.3:
            # The file as it is, without its digest, or with a new digest.
            kind = ("raw", "raw unsealed", "raw sealed")[int(rng.integers(3))]
            harmless = kind != "raw sealed"
            changed = damaged(
                rng, content if kind != "raw unsealed" else content[: content.rindex(MARK) - 2] + bytes(2)
            )
            if kind == "raw sealed":
                changed = _sealed(changed)
        else:
            kind, changed = crafted(rng, content)
            harmless = False
    path = folder / "m.adatron"
    path.write_bytes(changed)
    end = _end(path, X, f"steps {name}" if kind.startswith("steps") else name)
    if harmless and end != "refused":
        # Damage may hit only bytes without a meaning; the model is then the one that was written.
        path.write_bytes(content)
        expected = adatron.load(path).predict(X)
        path.write_bytes(changed)
        assert np.array_equal(adatron.load(path).predict(X), expected), f"{name}: damage changed predictions"
        end = "right"
    return f"{kind} {'steps' if name.startswith('steps') else name.partition(',')[0]}", end


def _sealed(content: bytes) -> bytes:
    """Return a damaged zip with the digest that it should have, if it can be read at all."""
    out = io.BytesIO(content)
    try:
        with zipfile.ZipFile(out, "a") as archive:
            archive.comment = seal(archive)
    except Exception:  # zipfile does not list what damage causes
        return content
    return out.getvalue()


def _end(path: Path, X: Any, name: str) -> str:
    """Load a file and predict."""
    try:
        with warnings.catch_warnings(action="ignore"):
            model = adatron.load(path)
    except ModelFileError as error:
        if str(path) not in str(error):
            raise AssertionError("the file is not named") from error
        return "refused"
    with warnings.catch_warnings(action="ignore"):
        return model_steps.used(model, X) if name.startswith("steps") else _predicted(model, X, path)


def _predicted(model: Any, X: Any, path: Path) -> str:
    last = model
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    try:
        check_is_fitted(last)
    except ValueError:
        return "unfitted"
    if last.kernel == "precomputed":
        columns = int(np.max(last.support_, initial=0)) + 1  # LIBSVM's text does not give the number of columns
        columns = max(columns, getattr(last, "n_features_in_", 0))
        if columns > MOST_COLUMNS:
            return "differs"
        X = np.resize(data()[0] @ data()[0].T, (X.shape[0], columns))
    width = getattr(model, "n_features_in_", X.shape[1])
    if width != X.shape[1]:
        if width > MOST_COLUMNS:
            return "differs"
        X = np.resize(X.toarray() if sparse.issparse(X) else X, (len(data()[0]), width))
    if sparse.issparse(getattr(last, "support_vectors_", None)) or sparse.issparse(X):
        dense = not sparse.issparse(last.support_vectors_)
        X = X.toarray() if dense and sparse.issparse(X) else X if dense else sparse.csr_matrix(X)
    values = []
    try:
        if not (getattr(last, "break_ties", False) and last.decision_function_shape == "ovo"):
            values.append(model.predict(X))
        if hasattr(model, "decision_function"):
            values.append(model.decision_function(X))
        if getattr(last, "_slope", None) is not None and hasattr(model, "predict_proba"):
            values.append(model.predict_proba(X))
    except ValueError as error:
        if not _is_large(path) or not any(word in str(error) for word in ("infinity", "finite", "large")):
            raise
        return "overflow"
    for found in values:
        assert found.shape[0] == X.shape[0], found.shape
        assert found.dtype.kind not in "fc" or np.isfinite(found).all() or _is_large(path), found
    _go_on(last, X)
    return "differs"


def _go_on(model: Any, X: Any) -> None:
    """Learn, unlearn and compact, which may fail only in documented ways."""
    with np.errstate(all="ignore"), suppress(ValueError, ArithmeticError):
        model.compact().predict(X)
    if isinstance(model, Incremental):
        for change in (
            lambda: model.partial_fit(X[:1], getattr(model, "classes_", [0.0])[:1]),
            lambda: model.forget(model.ids_[:1]),
            model.deletion_report,
        ):
            with suppress(ValueError, ArithmeticError):
                change()


def _is_large(path: Path) -> bool:
    """Return whether a file holds numbers so large, or so small, that products or quotients of them overflow."""
    content = path.read_bytes()
    if not content.startswith(b"PK"):
        words = content.decode().replace(":", " ").split()
        return any(_large(float(word)) or float(word) > DEGREE for word in words if _is_number(word))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if name.endswith(".npy"):
                array = np.load(archive.open(name))
                if array.dtype.kind in "fiu" and any(_large(float(value)) for value in array.flat):
                    return True
        numbers: list[float] = []
        _walk(json.loads(archive.read("model.json")), numbers)
        degrees = re.findall(rb'"degree", (\d+)', archive.read("model.json"))
        return any(map(_large, numbers)) or any(int(degree) > DEGREE for degree in degrees)


def _walk(value: Any, numbers: list[float]) -> None:
    if isinstance(value, dict):
        for one in value.values():
            _walk(one, numbers)
    elif isinstance(value, list):
        for one in value:
            _walk(one, numbers)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        numbers.append(float(value) if abs(value) < 2**1000 else float("inf"))


def _large(number: float) -> bool:
    return abs(number) > LARGE or 0 < abs(number) < 1 / LARGE


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _one(rng: Generator, choices: dict[str, Any]) -> tuple[str, Any]:
    name = list(choices)[rng.integers(len(choices))]
    return name, choices[name]
