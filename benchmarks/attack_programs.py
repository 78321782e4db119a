"""Random programs of every kind, many of them hard cases, each from its own seed and number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM, kernels

MAX_TIME = 3.0  # Seconds of a fit.
ESTIMATORS = {"SVC": SVC, "NuSVC": NuSVC, "SVR": SVR, "NuSVR": NuSVR, "OneClassSVM": OneClassSVM}
SHARES = {"SVC": 0.4, "SVR": 0.2, "NuSVC": 0.15, "NuSVR": 0.12, "OneClassSVM": 0.13}
KERNELS = {
    "rbf": 0.28,
    "linear": 0.17,
    "poly": 0.12,
    "laplacian": 0.1,
    "sigmoid": 0.06,
    "composed": 0.09,
    "given": 0.18,
}
SHAPES = ["plain", "plain", "scales", "offset", "far", "duplicates", "both labels", "nearly equal", "whole numbers"]
EQUAL = "rank one"
GIVEN = ["of a kernel", "of a kernel", EQUAL, "asymmetric", "asymmetric", "indefinite", "huge"]
LARGEST_DEGREE = 6  # of polynomial kernels, not drawn itself
LEAVES: dict[str, Any] = {
    "rbf": kernels.RBF,
    "linear": kernels.Linear,
    "poly": kernels.Polynomial,
    "laplacian": kernels.Laplacian,
    "sigmoid": kernels.Sigmoid,
}

Rng = np.random.Generator
Spec = tuple[Any, ...]


@dataclass
class Case:
    """The data and the parameters of a fit.

    X : samples, or kernel values; ``spec`` is their kernel in the form of ``tests/twins/values.py``
    traits : words for the table
    """

    estimator: str
    parameters: dict[str, Any]
    X: Any
    y: Any
    weight: NDArray[np.float64] | None
    spec: Spec
    kernel: str
    traits: list[str] = field(default_factory=list)

    def model(self, **more: Any) -> Any:
        return ESTIMATORS[self.estimator](**{**self.parameters, "max_time": MAX_TIME, **more})

    def fit(self, **more: Any) -> Any:
        own = () if self.estimator == "OneClassSVM" else (self.y,)
        return self.model(**more).fit(self.X, *own, sample_weight=self.weight)


def program(seed: int, number: int) -> Case:
    """Return the program of a number, always and everywhere the same."""
    rng = np.random.default_rng([seed, number])
    estimator, kernel = one_of(rng, SHARES), one_of(rng, KERNELS)
    kind, traits = str(rng.choice(GIVEN)) if kernel == "given" else "", []
    n = _size(rng, 0.4 if kind == EQUAL else 0.05)
    X = features(rng, n, traits)
    parameters = _common(rng, estimator, traits)
    y = labels(rng, X, parameters, traits) if "SVC" in estimator else targets(rng, X, parameters, estimator, traits)
    if n > 1000:
        traits.append("large")
    X, y = repeated(rng, X, y, "SVC" in estimator, traits)
    spec = kernel_for(rng, kernel, X)
    if isinstance(of := parameters.get("class_weight"), dict):
        parameters["class_weight"] = {int(c): of.get(int(c), 1.0) for c in np.unique(y)}
    if kernel == "given":
        spec, kernel = _given(rng, kind, spec, X, y, parameters), f"given: {kind}"
        X = spec[1]
    else:
        X = stored(rng, X, traits)
    return Case(estimator, {**parameters, **named(spec)}, X, y, weights_of(rng, n, traits), spec, kernel, traits)


def one_of(rng: Rng, shares: dict[str, float]) -> str:
    return str(rng.choice(list(shares), p=list(shares.values())))


def power(rng: Rng, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def _size(rng: Rng, large: float) -> int:
    """Return a number of samples. Beyond 1,000 the library chooses another route."""
    if rng.random() < large:
        return int(rng.integers(1001, 1501))
    low, high = ((2, 9), (9, 120), (120, 401))[rng.choice(3, p=[0.1, 0.65, 0.25])]
    return int(rng.integers(low, high))


def features(rng: Rng, n: int, traits: list[str]) -> NDArray[np.float64]:
    """Return rows with one of the shapes of real data."""
    d, shape = int(rng.integers(1, 13)), str(rng.choice(SHAPES))
    return scaled(rng, rng.normal(size=(n, d)), shape, traits)


def scaled(rng: Rng, X: NDArray[np.float64], shape: str, traits: list[str]) -> NDArray[np.float64]:
    """Give normal rows a shape."""
    n, d = X.shape
    if shape != "plain":
        traits.append(shape)
    if shape == "scales":
        return X * 10.0 ** rng.uniform(-8, 8, d if rng.random() < 0.5 else 1)
    if shape == "offset":
        return X * power(rng, -1, 3) + np.where(rng.random(d) < 0.6, power(rng, 2, 9.3), 0.0)
    if shape == "far":
        return X + rng.choice([0.0, power(rng, 1, 8)], (n, 1))
    if shape == "nearly equal":
        return 1.0 + power(rng, -12, -3) * X
    return np.rint(2.0 * X) if shape == "whole numbers" else X


def repeated(rng: Rng, X: Any, y: Any, classes: bool, traits: list[str]) -> tuple[Any, Any]:
    """Return few distinct rows; their labels as they are, or equal rows with equal labels."""
    if "duplicates" in traits or "both labels" in traits:
        rows = rng.integers(0, max(1, len(X) // int(rng.integers(2, 6))), len(X))
        X = X[rows]
        if "duplicates" in traits and y is not None and rng.random() < 0.7:
            y = y[rows]
            if classes:
                y[0], y[-1] = y.min(), (y.max() if len(np.unique(y)) > 1 else y.max() + 1)
    return X, y


def _common(rng: Rng, estimator: str, traits: list[str]) -> dict[str, Any]:
    """Return the parameters that do not concern the kernel."""
    out: dict[str, Any] = {"tol": power(rng, -4, -1) if rng.random() < 0.6 else power(rng, -12, -4)}
    if rng.random() < 0.25:
        out["gap_tol"] = power(rng, -9, -1)
    if rng.random() < 0.2:
        out["precision"] = str(rng.choice(["single", "double"]))
    if estimator != "OneClassSVM":
        out["bias"] = str(rng.choice(["explicit", "augmented", "none"], p=[0.6, 0.25, 0.15]))
        if out["bias"] == "augmented":
            out["augment"] = power(rng, -2, 2)
        else:
            traits += ["no bias"] * (out["bias"] == "none")
    if estimator in ("SVC", "SVR", "NuSVR"):
        wide = rng.random()
        out["C"] = power(rng, -2, 3) if wide < 0.55 else power(rng, -6, 9)
        if wide > 0.9 and estimator != "NuSVR":
            out["C"] = float("inf")
            traits.append("C inf")
    if estimator in ("NuSVC", "NuSVR", "OneClassSVM"):
        out["nu"] = float(rng.uniform(0.01, 1)) if rng.random() < 0.6 else power(rng, -7, 0)
    traits += [f"{name} tiny" for name in ("tol", "nu") if out.get(name, 1.0) < 1e-4]
    if out.get("bias", "explicit") == "explicit" and rng.random() < 0.08:
        out["solver"] = str(rng.choice(["smo", "decomposition"]))
        traits.append("solver")
    return out


def labels(rng: Rng, X: Any, parameters: dict[str, Any], traits: list[str]) -> NDArray[np.int64]:
    """Return classes that the samples decide, except for noise; each class is there."""
    k = min(max(2, len(X) // 2), 2 if rng.random() < 0.75 else int(rng.choice([3, 4, 5, 6, 12, 25])))
    score = (X[:, 0] - X[:, 0].mean()) / max(float(X[:, 0].std()), 1e-300)
    score = score + rng.choice([0.0, 0.3, 1.0, 100.0]) * rng.normal(size=len(X))
    y = np.searchsorted(np.quantile(score, np.arange(1, k) / k), score)
    y[rng.choice(len(y), k, replace=False)] = np.arange(k)
    if k > 2:
        parameters["multi_class"] = str(rng.choice(["ovo", "ovr"]))
        traits.append(f"classes {parameters['multi_class']}")
    if rng.random() < 0.15:
        powers = 10.0 ** rng.uniform(-3, 3, k)
        parameters["class_weight"] = "balanced" if rng.random() < 0.5 else dict(enumerate(powers.tolist()))
    return y


def targets(
    rng: Rng, X: Any, parameters: dict[str, Any], estimator: str, traits: list[str]
) -> NDArray[np.float64] | None:
    if estimator == "OneClassSVM":
        return None
    scale = 1.0 if rng.random() < 0.6 else power(rng, -9, 9)
    y = np.sin(X[:, 0] / max(float(X[:, 0].std()), 1e-300)) + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=len(X))
    if rng.random() < 0.1:
        y = np.ones(len(X)) if rng.random() < 0.5 else np.rint(y)
    if scale != 1.0:
        traits.append("targets")
    if estimator == "SVR":
        wide = rng.random()
        parameters["epsilon"] = 0.0 if wide < 0.3 else power(rng, -4, 0) * scale if wide < 0.9 else power(rng, 0, 9)
    y = scale * y
    if rng.random() < 0.3:
        traits.append("targets far")
        y = y + rng.choice([-1.0, 1.0]) * scale * power(rng, 1, 9)
    if rng.random() < 0.1:
        traits.append("targets float32")
        return y.astype(np.float32)
    return y


def weights_of(rng: Rng, n: int, traits: list[str]) -> NDArray[np.float64] | None:
    kind = rng.random()
    if kind < 0.6:
        return None
    traits.append("weights")
    if kind < 0.75:
        return rng.integers(0, 4, n).astype(np.float64)
    return 10.0 ** rng.uniform(-6, 6, n if kind < 0.9 else 1) * np.ones(n) * (rng.random(n) < 0.9)


def stored(rng: Rng, X: Any, traits: list[str]) -> Any:
    """Return the samples in float32, or as CSR, perhaps with one large dense column."""
    kind = rng.random()
    if kind < 0.12 and np.abs(X).max(initial=0.0) < 1e30:
        traits.append("float32")
        return X.astype(np.float32)
    if kind < 0.3:
        X = np.where(rng.random(X.shape) < rng.uniform(0.1, 0.9), X, 0.0)
        traits.append("CSR")
        if rng.random() < 0.3:
            X[:, 0] = power(rng, 2, 9) + rng.normal(size=len(X))
            traits.append("large column")
        return sparse.csr_matrix(X)
    return X


def kernel_for(rng: Rng, name: str, X: Any) -> Spec:
    """Return a kernel with parameters that mostly suit the samples."""
    if name == "given":
        name = str(rng.choice(["rbf", "linear", "poly", "laplacian", "sigmoid"]))
    if name == "composed":
        one, other = (kernel_for(rng, str(rng.choice(["rbf", "linear", "poly", "laplacian"])), X) for _ in range(2))
        kind = str(rng.choice(["sum", "product", "scaled"]))
        return (kind, one, other) if kind != "scaled" else ("sum", ("scaled", power(rng, -3, 3), one), other)
    spread = max(float(X.std(axis=0).mean()), 1e-150) if rng.random() < 0.65 else 1.0
    factor = power(rng, -2, 1.5) / X.shape[1]
    if name == "linear":
        return ("linear",)
    if name == "rbf":
        return ("rbf", min(factor / spread / spread, 1e280))
    if name == "laplacian":
        return ("laplacian", min(factor / spread, 1e280))
    size = max(float(np.square(X).mean()), 1e-280)
    gamma = float(np.clip(factor / (size if rng.random() < 0.8 else 1.0), 1e-280, 1e280))
    coef0 = float(rng.choice([0.0, 1.0, -0.5, 10.0], p=[0.3, 0.5, 0.1, 0.1]))
    if name == "sigmoid":
        return ("sigmoid", gamma, coef0)
    return ("poly", gamma, int(rng.integers(1, LARGEST_DEGREE)), abs(coef0) if rng.random() < 0.9 else coef0)


def named(spec: Spec) -> dict[str, Any]:
    """Return the kernel as the estimators take it: by name and parameters, or as an object."""
    name, *numbers = spec
    if name == "given":
        return {"kernel": "precomputed"}
    names = {"poly": ["gamma", "degree", "coef0"], "sigmoid": ["gamma", "coef0"], "linear": []}
    if name in ("sum", "product"):
        return {"kernel": _object(spec)}
    return {"kernel": name, **dict(zip(names.get(name, ["gamma"]), numbers, strict=True))}


def _object(spec: Spec) -> Any:
    name, *numbers = spec
    if name in ("sum", "product"):
        one, other = map(_object, numbers)
        return one + other if name == "sum" else one * other
    if name == "scaled":
        return numbers[0] * _object(numbers[1])
    return LEAVES[name](*numbers)


def _given(rng: Rng, kind: str, spec: Spec, X: Any, y: Any, parameters: dict[str, Any]) -> Spec:
    """Return kernel values as a user computes them, or with a typical mistake."""
    K = np.asarray(_object(spec)(X), np.float64)
    K = np.where(np.isfinite(K), K, 1.0)
    if kind == EQUAL:
        K = _equal_terms(rng, y, parameters, len(X))
    if kind == "asymmetric":
        K = K * (1.0 + power(rng, -17, -2) * rng.normal(size=K.shape))
    if kind == "indefinite":
        K = (K + K.T) / 2
        K = K - power(rng, -12, 0) * np.abs(K).max() * (np.eye(len(K)) if rng.random() < 0.5 else np.ones_like(K))
    if kind == "huge":
        K = K / max(float(np.abs(K).max()), 1e-300) * power(rng, 60, 300)
    if rng.random() < 0.15 and np.abs(K).max() < 1e30:
        K = K.astype(np.float32)
    return ("given", K)


def _equal_terms(rng: Rng, y: Any, parameters: dict[str, Any], n: int) -> NDArray[np.float64]:
    """Return only two values, in runs: many equal terms one after the other, all rounded in one direction.

    With a large C nearly all samples of both classes are at their bounds.
    """
    x = np.where(rng.random(n) < 0.5, 1.0, rng.uniform(1.0, 1.2))
    if "multi_class" not in parameters and "gap_tol" not in parameters and rng.random() < 0.8:
        x.sort()
        if "C" in parameters:
            parameters["C"] = power(rng, 5, 8.5)
        if y is not None and y.dtype.kind == "i":
            order = np.argsort(y, kind="stable")
            x[order] = np.concatenate([np.sort(x[y == c]) for c in np.unique(y)])
            parameters["class_weight"] = {int(c): float(rng.uniform(0.9, 1.1)) for c in np.unique(y)}
            y.sort()
            x = x[order]
    return np.outer(x, x)
