"""The libraries of the comparison: the same parameters, each with its own type of data."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier

from .datasets import Split

CACHE = 1000  # Megabytes for kernel values, for every library.


@dataclass(frozen=True)
class Library:
    """The construction of a library's machines.

    ``module`` has the machines; ``dtype`` is the type that the data are converted to beforehand (None: as they are);
    ``threads`` is the number of its threads.
    """

    package: str
    module: str
    dtype: Any = None
    threads: str = "all"

    @property
    def version(self) -> str:
        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return "not installed"

    @property
    def installed(self) -> bool:
        return self.version != "not installed"

    def make(self, machine: str = "SVC", one_vs_rest: bool = False, **parameters: Any) -> Any:
        """Return an unfitted estimator."""
        made = getattr(import_module(self.module), machine)(**{"cache_size": CACHE, **parameters})
        if one_vs_rest and self.package == "adatron":
            return made.set_params(multi_class="ovr")
        return OneVsRestClassifier(made) if one_vs_rest else made

    def data(self, split: Split) -> Split:
        """Return the data in the library's type."""
        if self.dtype is None:
            return split
        X, X_test = (None if one is None else one.astype(self.dtype) for one in (split.X, split.X_test))
        return Split(X, split.y, X_test, split.y_test)


LIBRARIES: dict[str, Library] = {
    "adatron": Library("adatron", "adatron"),
    "scikit-learn": Library("scikit-learn", "sklearn.svm", threads="1"),
    "scikit-learn-intelex f32": Library("scikit-learn-intelex", "sklearnex.svm", np.float32),
    "scikit-learn-intelex f64": Library("scikit-learn-intelex", "sklearnex.svm", np.float64),
}
