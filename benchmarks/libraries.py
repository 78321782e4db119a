"""The libraries that are compared: the same parameters, each with its own type of data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from .datasets import Split

CACHE = 500  # megabytes for kernel values, for every library


@dataclass(frozen=True)
class Library:
    """How a library's classifier is made.

    ``dtype`` is what the data are turned into beforehand (None: as they are); ``threads`` says how many it uses.
    """

    package: str
    make: Callable[..., Any]
    dtype: Any = None
    threads: str = "all"

    @property
    def version(self) -> str:
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return "not installed"

    def data(self, split: Split) -> Split:
        """The data in the library's type."""
        if self.dtype is None:
            return split
        X, X_test = (None if one is None else one.astype(self.dtype) for one in (split.X, split.X_test))
        return Split(X, split.y, X_test, split.y_test)


def _adatron(**parameters: Any) -> Any:
    from adatron import SVC

    return SVC(cache_size=CACHE, **parameters)


def _scikit_learn(**parameters: Any) -> Any:
    from sklearn.svm import SVC

    return SVC(cache_size=CACHE, **parameters)


def _intelex(**parameters: Any) -> Any:
    from sklearnex.svm import SVC

    return SVC(cache_size=CACHE, **parameters)


LIBRARIES: dict[str, Library] = {
    "adatron": Library("adatron", _adatron),
    "scikit-learn": Library("scikit-learn", _scikit_learn, threads="1"),
    "scikit-learn-intelex f32": Library("scikit-learn-intelex", _intelex, np.float32),
    "scikit-learn-intelex f64": Library("scikit-learn-intelex", _intelex, np.float64),
}
