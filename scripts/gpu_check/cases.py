"""The cases of the check: data and machines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_blobs, make_classification, make_moons
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, NuSVC, OneClassSVM


class Case(NamedTuple):
    """A fit: its data, and a machine for a device.

    quick : whether it takes a second or two
    both : whether the processor fits, too
    bytes : memory of the device that the fit may use; None is what there is
    """

    name: str
    data: Callable[[], tuple[Any, Any]]
    make: Callable[[Any], Any]
    quick: bool = True
    both: bool = True
    bytes: float | None = None


def mixed(n: int, d: int) -> tuple[Any, Any]:
    X, y = make_classification(n, d, n_informative=max(2, d // 2), flip_y=0.05, class_sep=0.7, random_state=0)
    return StandardScaler().fit_transform(X), y


def single(n: int) -> tuple[Any, Any]:
    X, y = mixed(n, 20)
    return X[:, :1].copy(), y


def moons(n: int) -> tuple[Any, Any]:
    X, y = make_moons(n, noise=0.2, random_state=0)
    return StandardScaler().fit_transform(X), y


def blobs(n: int, d: int, classes: int = 2, noise: float = 0.01) -> tuple[Any, Any]:
    X, cloud = make_blobs(n, d, centers=20, cluster_std=3.0, random_state=0)
    wrong = np.random.default_rng(0).random(n) < noise
    return StandardScaler().fit_transform(X), (cloud + wrong) % classes


def smooth(n: int, d: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).standard_normal((n, d))
    return X, 10.0 * np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.1 * np.random.default_rng(1).standard_normal(n)


@cache
def mnist() -> tuple[Any, Any]:
    """Return the digits; a missing file is an error that names it."""
    from benchmarks.datasets import CASES

    split = CASES["MNIST"].load()
    return split.X, split.y


def svc(**how: Any) -> Callable[[Any], Any]:
    return lambda device: SVC(device=device, **how)


CASES = [
    Case("SVC 3,000 x 20", lambda: mixed(3000, 20), svc(C=1.0, gamma=0.05)),
    Case("SVC augmented", lambda: mixed(3000, 20), svc(C=1.0, bias="augmented", augment=2.0)),
    Case("SVC none", lambda: mixed(3000, 20), svc(C=1.0, bias="none")),
    Case("SVC double", lambda: mixed(3000, 20), svc(C=1.0, precision="double")),
    Case("SVC 200 features", lambda: mixed(3000, 200), svc(C=1.0)),
    Case("SVC 1 feature", lambda: single(3001), svc(C=1.0)),
    Case("SVC poly", lambda: mixed(3000, 20), svc(C=0.01, kernel="poly", coef0=1.0)),
    Case("SVC ovo", lambda: blobs(6000, 10, 4), svc(C=1.0)),
    Case("SVC ovr", lambda: blobs(6000, 10, 4), svc(C=1.0, multi_class="ovr")),
    Case("NuSVC", lambda: mixed(4000, 20), lambda d: NuSVC(nu=0.3, device=d)),
    Case("NuSVC ovo", lambda: blobs(6000, 10, 4), lambda d: NuSVC(nu=0.1, device=d)),
    Case("SVR", lambda: smooth(4000, 6), lambda d: SVR(C=10.0, epsilon=0.3, device=d)),
    Case("OneClassSVM", lambda: mixed(4000, 20), lambda d: OneClassSVM(nu=0.1, device=d)),
    Case("double rows travel", lambda: mixed(6000, 200), svc(C=1.0), bytes=2.0e7),
    Case("all rows travel", lambda: mixed(6000, 200), svc(C=1.0), bytes=1.4e7),
    Case("20,000 x 20, C 1", lambda: mixed(20_000, 20), svc(C=1.0, gamma=0.05), False),
    Case("20,000 x 20, C 100", lambda: mixed(20_000, 20), svc(C=100.0, gamma=0.05), False),
    Case("moons 200,000", lambda: moons(200_000), svc(C=10.0, gamma=1.0), False),
    Case("200,000 x 54, noise", lambda: blobs(200_000, 54, noise=0.1), svc(C=1.0, gamma=0.02), False),
    Case("MNIST ovo", mnist, svc(C=10.0, gamma=0.02), False),
    Case("1,000,000 x 20", lambda: blobs(1_000_000, 20), svc(C=1.0, gamma=0.05), False),
    Case("MNIST ovr", mnist, svc(C=10.0, gamma=0.02, multi_class="ovr"), False),
    Case("500,000 x 54", lambda: blobs(500_000, 54), svc(C=1.0, gamma=0.02), False, both=False),
    Case("1,000,000 x 20 travel", lambda: blobs(1_000_000, 20), svc(C=1.0, gamma=0.05), False, False, 5.0e8),
]
