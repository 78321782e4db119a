"""The data sets of the benchmarks: source, scaling, C and gamma."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_blobs, make_classification, make_moons
from sklearn.preprocessing import StandardScaler

from adatron.files import read

DATA = Path(os.environ.get("ADATRON_DATA") or Path(__file__).parents[2] / "shared" / "data")


class Split(NamedTuple):
    """Samples to train on, and to test on if there are some."""

    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None


@dataclass(frozen=True)
class Case:
    """One line of the tables: data, an RBF kernel's gamma, C and, for a regression, half the tube's width."""

    load: Callable[[], Split]
    C: float
    gamma: float
    epsilon: float | None = None
    large: bool = False  # measured only if asked for by name
    one_vs_rest: bool = False  # a problem for each class instead of one for each pair

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters for every library."""
        tube = {} if self.epsilon is None else {"epsilon": self.epsilon}
        return {"C": self.C, "gamma": self.gamma, **tube}

    @property
    def machine(self) -> str:
        """The class of the estimator."""
        return "SVC" if self.epsilon is None else "SVR"


def _every_fourth(X: Any, y: Any) -> Split:
    """Take every fourth sample for testing."""
    test = np.arange(len(y)) % 4 == 3
    return Split(X[~test], y[~test], X[test], y[test])


def _standardised(split: Split) -> Split:
    scaler = StandardScaler().fit(split.X)
    X_test = None if split.X_test is None else scaler.transform(split.X_test)
    return Split(scaler.transform(split.X), split.y, X_test, split.y_test)


def _heart() -> Split:
    table: Any = read(DATA / "heart_scale")
    return Split(table.X.toarray(), table.y)


def _sonar() -> Split:
    """Return the split by aspect angle: a star marks the samples to train on."""
    parts: dict[str, list[Any]] = {"*": [], "": []}
    for name in ("sonar.mines", "sonar.rocks"):
        for star, label, numbers in re.findall(r"(\*?)(C[MR])\d+:\s*\{([^}]*)\}", (DATA / name).read_text()):
            parts[star].append((np.array(numbers.split(), float), int(label == "CM")))
    (X, y), (X_test, y_test) = (
        (np.stack([x for x, _ in rows]), np.array([label for _, label in rows])) for rows in parts.values()
    )
    return Split(X, y, X_test, y_test)


def _ionosphere() -> Split:
    table: Any = read(DATA / "ionosphere.data")
    return Split(table.X[:200], table.y[:200], table.X[200:], table.y[200:])


def _pima() -> Split:
    table: Any = read(DATA / "pima-indians-diabetes.csv")
    return _standardised(_every_fourth(table.X, table.y))


def _wisconsin() -> Split:
    """Return the data without the 16 rows that have a missing value, and without the patients' numbers."""
    lines = (DATA / "breast-cancer-wisconsin.data").read_text().split()
    rows = np.array([line.split(",") for line in lines if "?" not in line], float)
    return _every_fourth(rows[:, 1:-1] / 10.0, rows[:, -1].astype(int))


def _usps() -> Split:
    train, test = (read(DATA / f"zip.{part}.gz", label=0) for part in ("train", "test"))
    return Split(train.X, train.y, test.X, test.y)


def _libsvm(train: str, test: str, features: int) -> Split:
    first, second = (read(DATA / name, n_features=features) for name in (train, test))
    return Split(first.X, first.y, second.X, second.y)


def _dense(split: Split) -> Split:
    return Split(split.X.toarray(), split.y, split.X_test.toarray(), split.y_test)


def _mnist() -> Split:
    """Return grey values from 0 to 1 in float32."""
    X, y, X_test, y_test = (
        np.frombuffer(gzip.decompress((DATA / f"{part}-{kind}-ubyte.gz").read_bytes()), np.uint8, offset=start)
        for part in ("train", "t10k")
        for kind, start in (("images-idx3", 16), ("labels-idx1", 8))
    )
    scaled = [np.asarray(one.reshape(-1, 784) / 255.0, np.float32) for one in (X, X_test)]
    return Split(scaled[0], y.astype(np.int64), scaled[1], y_test.astype(np.int64))


def _regression(name: str, scale_target: bool) -> Split:
    table: Any = read(DATA / name)
    X, y = (np.asarray(part, np.float64) for part in (table.X, table.y))
    return _standardised(Split(X, (y - y.mean()) / y.std() if scale_target else y))


def family(n: int = 20_000, of: int = 20_000) -> Split:
    """Return the 20,000 x 20 family, or a larger one of its kind; fewer rows are the first ones of it."""
    X, y = make_classification(of, 20, n_informative=10, flip_y=0.05, class_sep=0.7, random_state=0)
    X = StandardScaler().fit_transform(X)
    return Split(X[:n], y[:n])


def _made(**arguments: Any) -> Split:
    return _standardised(Split(*make_classification(**arguments, random_state=0)))


def _moons(n: int) -> Split:
    return _standardised(Split(*make_moons(n, noise=0.2, random_state=0)))


def _blobs(n: int) -> Split:
    """Return twenty clouds of two classes in turn, with one label in a hundred wrong."""
    X, cloud = make_blobs(n, 20, centers=20, cluster_std=3.0, random_state=0)
    wrong = np.random.default_rng(0).random(n) < 0.01
    return _standardised(Split(X, (cloud + wrong) % 2))


def _classes(n: int, features: int, classes: int) -> Split:
    """Return a cloud for each class."""
    return _standardised(Split(*make_blobs(n, features, centers=classes, cluster_std=4.0, random_state=0)[:2]))


CASES: dict[str, Case] = {
    "heart_scale": Case(_heart, C=1.0, gamma=1 / 13),
    "sonar": Case(_sonar, C=10.0, gamma=1.0),
    "ionosphere": Case(_ionosphere, C=10.0, gamma=0.1),
    "Pima": Case(_pima, C=1.0, gamma=1 / 8),
    "Wisconsin": Case(_wisconsin, C=1.0, gamma=1.0),
    "USPS": Case(_usps, C=10.0, gamma=1 / 128),
    "a9a": Case(partial(_libsvm, "a9a.gz", "a9a.t.gz", 123), C=1.0, gamma=0.05),
    "a9a, dense": Case(lambda: _dense(_libsvm("a9a.gz", "a9a.t.gz", 123)), C=1.0, gamma=0.05),
    "ijcnn1": Case(lambda: _dense(_libsvm("ijcnn1.trn.bz2", "ijcnn1.tst.bz2", 22)), C=32.0, gamma=2.0),
    "10,000 x 100": Case(partial(_made, n_samples=10_000, n_features=100, n_informative=30), C=1.0, gamma=0.01),
    "10,000 x 16, 26 classes": Case(partial(_classes, 10_000, 16, 26), C=10.0, gamma=1 / 16),
    "12,000 x 22, noisy": Case(
        partial(_made, n_samples=12_000, n_features=22, n_informative=10, flip_y=0.2), C=1.0, gamma=0.05
    ),
    "12,000 x 784": Case(
        partial(_made, n_samples=12_000, n_features=784, n_informative=30, flip_y=0.02, class_sep=1.5),
        C=1.0,
        gamma=5e-4,
    ),
    "20,000 x 20, C 1": Case(family, C=1.0, gamma=0.05),
    "20,000 x 20, C 100": Case(family, C=100.0, gamma=0.05),
    "20,000 x 20, C 1e4": Case(family, C=1e4, gamma=0.05),
    "moons 20,000": Case(partial(_moons, 20_000), C=10.0, gamma=1.0),
    "moons 200,000": Case(partial(_moons, 200_000), C=10.0, gamma=1.0),
    "cal.housing, regression": Case(
        partial(_regression, "cal.housing.arff.gz", scale_target=True), C=10.0, gamma=0.25, epsilon=0.1
    ),
    "cpu.small, regression": Case(
        partial(_regression, "cpu.small.arff", scale_target=False), C=100.0, gamma=0.1, epsilon=0.1
    ),
    "MNIST": Case(_mnist, C=10.0, gamma=0.02),
    "MNIST, one vs rest": Case(_mnist, C=10.0, gamma=0.02, one_vs_rest=True),
    "1,000,000 x 20": Case(partial(_blobs, 1_000_000), C=1.0, gamma=0.05, large=True),
}
