"""The data sets of the papers, from the folder ADATRON_DATA (or ../shared/data)."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

SIDE = 16  # pixels of a USPS digit
SMOOTHING = 0.75  # pixels, the Gaussian of SVMseq's preprocessing


class Files(NamedTuple):
    """The files of a data set, and where they can be found."""

    files: tuple[str, ...]
    source: str


UCI = "UCI Machine Learning Repository"
SETS = {
    "sonar": Files(("sonar.mines", "sonar.rocks"), f"{UCI}, Connectionist Bench"),
    "usps": Files(("zip.train.gz", "zip.test.gz"), "site of the book The Elements of Statistical Learning"),
    "mnist": Files(
        tuple(f"{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")),
        "MNIST database of handwritten digits",
    ),
    "ionosphere": Files(("ionosphere.data",), f"{UCI}, Ionosphere"),
    "pima": Files(("pima-indians-diabetes.csv",), f"{UCI}, Pima Indians Diabetes"),
    "wisconsin": Files(("breast-cancer-wisconsin.data",), f"{UCI}, Breast Cancer Wisconsin (Original)"),
}


class Split(NamedTuple):
    """Training and test samples."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]


def folder() -> Path:
    """Return the folder of the files."""
    return Path(os.environ.get("ADATRON_DATA", "../shared/data"))


def require(sets: Iterable[str]) -> None:
    """Fail if files of some data sets are not there.

    Raises
    ------
    FileNotFoundError
        The message names the files, their sources, and the variable for their folder.
    """
    lacking = [one for one in sets if not all((folder() / name).is_file() for name in SETS[one].files)]
    if lacking:
        listed = "; ".join(f"{', '.join(SETS[one].files)} ({SETS[one].source})" for one in lacking)
        given = os.environ.get("ADATRON_DATA")
        where = f"ADATRON_DATA names the folder {given}, which lacks" if given else "set ADATRON_DATA to a folder with"
        raise FileNotFoundError(f"the papers' data sets are not part of adatron: {where} {listed}")


def sonar() -> Split:
    """Return mines (1) and rocks (-1), the aspect-angle dependent split: 104 for training, 104 for the test."""
    rows: dict[bool, list[tuple[list[float], float]]] = {True: [], False: []}
    for name, label in (("sonar.mines", 1.0), ("sonar.rocks", -1.0)):
        text = (folder() / name).read_text()
        for star, _, numbers in re.findall(r"(\*?)(C[MR]\d+):\s*\{([^}]*)\}", text):
            rows[bool(star)].append(([float(v) for v in numbers.split()], label))
    train, test = (([x for x, _ in rows[k]], [y for _, y in rows[k]]) for k in (True, False))
    return Split(np.array(train[0]), np.array(train[1]), np.array(test[0]), np.array(test[1]))


def usps(smoothed: bool = True) -> Split:
    """Return digits of 16 x 16 pixels in [-1, 1]: 7,291 for training, 2,007 for the test."""
    train, test = (np.loadtxt(folder() / name) for name in ("zip.train.gz", "zip.test.gz"))
    X, X_test = train[:, 1:], test[:, 1:]
    if smoothed:
        X, X_test = _smooth(X), _smooth(X_test)
    return Split(X, train[:, 0].astype(int), X_test, test[:, 0].astype(int))


def _smooth(X: NDArray[np.float64]) -> NDArray[np.float64]:
    images = X.reshape(-1, SIDE, SIDE)
    return ndimage.gaussian_filter(images, (0.0, SMOOTHING, SMOOTHING), mode="nearest").reshape(len(X), -1)


def mnist() -> Split:
    """Return digits of 28 x 28 pixels in [0, 1]: 60,000 for training, 10,000 for the test."""
    X, y, X_test, y_test = (
        np.frombuffer(gzip.decompress((folder() / f"{part}-{kind}-ubyte.gz").read_bytes()), np.uint8, offset=start)
        for part in ("train", "t10k")
        for kind, start in (("images-idx3", 16), ("labels-idx1", 8))
    )
    return Split(X.reshape(-1, 784) / 255.0, y.astype(int), X_test.reshape(-1, 784) / 255.0, y_test.astype(int))


def ionosphere() -> Split:
    """Return good (1) and bad (-1) radar returns, the first 200 for training."""
    table = np.loadtxt(folder() / "ionosphere.data", delimiter=",", dtype=str)
    X, y = table[:, :-1].astype(float), np.where(table[:, -1] == "g", 1.0, -1.0)
    return Split(X[:200], y[:200], X[200:], y[200:])


def pima() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the 768 patients: diabetes (1) or not (-1)."""
    table = np.loadtxt(folder() / "pima-indians-diabetes.csv", delimiter=",")
    return table[:, :-1], np.where(table[:, -1] == 1, 1.0, -1.0)


def wisconsin() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the 683 complete patients: malignant (1) or benign (-1)."""
    table = np.loadtxt(folder() / "breast-cancer-wisconsin.data", delimiter=",", dtype=str)
    table = table[~(table == "?").any(axis=1)].astype(float)
    return table[:, 1:-1], np.where(table[:, -1] == 4, 1.0, -1.0)
