"""Digests of about ninety fits, which show whether a change of the code has changed the bits of its results.

The fits cover every estimator, kernel, form of the bias, kind of input and way of solving. Each is small enough for all
to take a minute or two.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adatron import (
    SVC,
    SVR,
    IncrementalNuSVC,
    IncrementalOneClassSVM,
    IncrementalSVC,
    IncrementalSVR,
    InputMarginSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
)
from adatron.kernels import RBF, Laplacian, Linear, Polynomial

PARTS = {
    "solution": ("support_", "dual_coef_", "intercept_", "n_iter_"),
    "proof": ("duality_gap_", "kkt_violation_", "dual_objective_", "status_"),
}


class Fit(NamedTuple):
    """One fit: its name, the model before the fit, the samples, and new ones for predictions."""

    name: str
    model: Any
    X: Any
    y: Any
    new: Any
    weight: Any = None


def _blobs(n: int, d: int, k: int = 2, seed: int = 0, spread: float = 1.5) -> tuple[NDArray[np.float64], Any]:
    rng = np.random.default_rng([seed, n, d, k])
    centres = rng.normal(size=(k, d))
    y = np.arange(n) % k
    return centres[y] + spread * rng.normal(size=(n, d)), y


def _sine(n: int, d: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    return X, np.sin(2.0 * X[:, 0]) + 0.2 * rng.normal(size=n)


def _sparse(n: int, d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng([2, n, d])
    X, y = _blobs(n, d, 2, 3)
    return sparse.csr_array(np.where(rng.random(X.shape) < 0.1, X, 0.0)), y


def _dot(X: Any, Z: Any) -> Any:
    return np.tanh(0.01 * X @ Z.T) + X @ Z.T


KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {},
    "linear": {"kernel": "linear", "C": 0.1},
    "poly": {"kernel": "poly", "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
    "laplacian": {"kernel": "laplacian"},
    "sum": {"kernel": RBF(0.1) + 0.5 * Laplacian(0.2)},
    "product": {"kernel": Polynomial(0.1, 2, 1.0) * RBF(0.05)},
    "scaled": {"kernel": 2.0 * RBF(0.1) + Linear()},
    "function": {"kernel": _dot, "C": 0.1},
}
BIASES: dict[str, dict[str, Any]] = {
    "explicit": {},
    "augmented": {"bias": "augmented", "augment": 1.0},
    "none": {"bias": "none"},
}
MACHINES: dict[str, Callable[..., Any]] = {"SVC": SVC, "NuSVC": NuSVC, "SVR": SVR, "NuSVR": NuSVR}
CLASSIC = {"kernel_adatron": "augmented", "svmseq": "augmented", "isda": "augmented",
           "smo": "explicit", "decomposition": "explicit"}  # fmt: skip


def fits() -> Iterator[Fit]:
    """Yield all fits."""
    yield from _small()
    yield from _inputs()
    yield from _classes()
    yield from _large()
    yield from _others()


def _small() -> Iterator[Fit]:
    """Yield fits of one block in float64: kernels, forms of the bias, machines, solvers."""
    X, y = _blobs(300, 8)
    new = X[::3] + 0.1
    for name, parameters in KERNELS.items():
        for bias, more in BIASES.items():
            if bias == "explicit" or name in ("rbf", "poly", "sum"):
                yield Fit(f"small {name} {bias}", SVC(**{**parameters, **more}), X, y, new)
    target = _sine(300, 8)[1]
    for name, machine in MACHINES.items():
        for bias, more in BIASES.items():
            of = y if "SVC" in name else target
            own = {"nu": 0.3} if name.startswith("Nu") else {}
            yield Fit(f"small {name} {bias}", machine(**own, **more), X, of, new)
    yield Fit("small OneClassSVM", OneClassSVM(nu=0.2), X, None, new)
    weight = np.arange(300) % 4 / 2.0
    yield Fit("small weights", SVC(class_weight={0: 1.0, 1: 3.0}), X, y, new, weight)
    yield Fit("small probability", SVC(probability=True, random_state=0), X, y, new)
    yield Fit("small gap_tol", SVC(C=100.0, gap_tol=1e-9), X, y, new)
    yield Fit("small hard margin", SVC(C=np.inf, gamma=1.0), X, y, new)
    yield Fit("small duplicates", SVC(), np.rint(X), y, new)
    for name, bias in CLASSIC.items():
        yield Fit(f"classic {name}", SVC(solver=name, bias=bias), X, y, new)


def _inputs() -> Iterator[Fit]:
    """Yield fits of CSR rows, given values, float32, and a function over many rows."""
    for n in (300, 3000):
        X, y = _sparse(n, 60)
        for kernel in ("rbf", "linear", "laplacian"):
            yield Fit(f"CSR {n} {kernel}", SVC(kernel=kernel), X, y, X[:50])
        X, y = _blobs(n, 5)
        K = np.exp(-0.1 * np.square(X[:, None] - X[None]).sum(axis=2))
        yield Fit(f"given {n}", SVC(kernel="precomputed"), K, y, K[:50])
        yield Fit(f"float32 {n}", SVC(), X.astype(np.float32), y, X[:50].astype(np.float32))
    X, y = _blobs(1500, 5)
    yield Fit("function 1500", SVC(kernel=_dot, C=0.01), X, y, X[:50])


def _classes() -> Iterator[Fit]:
    """Yield batches of pairs and of classes against the rest."""
    for k, m in ((3, 50), (26, 30), (120, 6)):
        X, y = _blobs(k * m, 10, k, 5, 0.7)
        for way in ("ovo", "ovr"):
            yield Fit(f"{k} classes {way}", SVC(multi_class=way), X, y, X[::7])
    X, y = _blobs(600, 6, 6, 6)
    yield Fit("6 classes single", SVC(precision="single"), X, y, X[::7])
    yield Fit("6 classes augmented", SVC(bias="augmented"), X, y, X[::7])
    yield Fit("6 classes NuSVC", NuSVC(nu=0.2), X, y, X[::7])
    yield Fit("6 classes break_ties", SVC(break_ties=True, probability=True, random_state=0), X, y, X[::7])
    yield Fit("6 classes gap_tol", SVC(gap_tol=1e-6), X, y, X[::7])
    X, y = _blobs(9000, 20, 4, 7)
    yield Fit("4 classes 9000", SVC(), X, y, X[::70])
    yield Fit("4 classes 9000 ovr", SVC(multi_class="ovr"), X, y, X[::70])


def _large() -> Iterator[Fit]:
    """Yield fits with blocks, parts, Newton steps, active sets, stored rows, float64 tiles."""
    for n, d in ((1500, 10), (6000, 20)):
        X, y = _blobs(n, d)
        for bias, more in BIASES.items():
            yield Fit(f"{n} rows {bias}", SVC(**more), X, y, X[::40])
        yield Fit(f"{n} rows C 100", SVC(C=100.0), X, y, X[::40])
        yield Fit(f"{n} rows double", SVC(precision="double"), X, y, X[::40])
        yield Fit(f"{n} rows gap_tol", SVC(gap_tol=1e-6), X, y, X[::40])
        yield Fit(f"{n} rows NuSVC", NuSVC(nu=0.3), X, y, X[::40])
        X, target = _sine(n, d)
        yield Fit(f"{n} rows SVR", SVR(), X, target, X[::40])
        yield Fit(f"{n} rows NuSVR", NuSVR(nu=0.3), X, target, X[::40])
        yield Fit(f"{n} rows SVR C 1000", SVR(C=1000.0, gamma=0.3), X, target, X[::40])
        yield Fit(f"{n} rows OneClassSVM", OneClassSVM(nu=0.1), X, None, X[::40])
    X, y = _blobs(5000, 300)
    yield Fit("5000 rows of 300 features, rows stored", SVC(gamma=1e-3), X, y, X[::100])
    X, y = _blobs(60_000, 2, 2, 8)
    yield Fit("60000 rows, parts", SVC(C=0.1), X, y, X[::1000])


def _others() -> Iterator[Fit]:
    """Yield fits of machines that learn and forget samples, and of those with a large margin in the input space."""
    X, y = _blobs(120, 4)
    yield Fit("IncrementalSVC", IncrementalSVC(), X, y, X[::5])
    yield Fit("IncrementalNuSVC", IncrementalNuSVC(nu=0.2), X, y, X[::5])
    yield Fit("IncrementalOneClassSVM", IncrementalOneClassSVM(nu=0.2), X, None, X[::5])
    yield Fit("IncrementalSVR", IncrementalSVR(), *_sine(120, 4), X[::5])
    for k in (2, 3):
        X, y = _blobs(120, 3, k, 9)
        yield Fit(f"IncrementalSVC {k} classes ovr", IncrementalSVC(multi_class="ovr"), X, y, X[::5])
        for algorithm in ("full", "simplified", "rescaled"):
            model = InputMarginSVC(C=2.0, algorithm=algorithm, n_steps=2)
            yield Fit(f"InputMarginSVC {k} classes {algorithm}", model, X, y, X[::5])


def _bytes(value: Any) -> bytes:
    if sparse.issparse(value):
        return b"".join(_bytes(part) for part in (value.data, value.indices, value.indptr))
    array = np.asarray(value)
    return repr(value).encode() if array.dtype == object else array.dtype.str.encode() + array.tobytes()


def digest(one: Fit) -> dict[str, str]:
    """Return a digest for each part of a fit: the solution, its proof, predictions."""
    more = {} if one.weight is None else {"sample_weight": one.weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = one.model.fit(one.X, *(() if one.y is None else (one.y,)), **more)
        out = {}
        for part, names in PARTS.items():
            found = hashlib.sha256()
            for name in names:
                found.update(_bytes(getattr(model, name, None)))
            out[part] = found.hexdigest()[:16]
        ways = [getattr(model, way, None) for way in ("predict", "decision_function", "predict_proba")]
        new = hashlib.sha256(b"".join(_bytes(way(one.new)) for way in ways if way is not None))
        return {**out, "predictions": new.hexdigest()[:16]}
