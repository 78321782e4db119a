"""Ranges of C, gamma, nu and epsilon for a machine and its data.

gamma. A Gaussian kernel tells samples apart whose squared distance is about 1 / gamma. Caputo et al. (2002) take gamma
between 1 / (0.9 quantile of squared distances) and 1 / (0.1 quantile). The range here reaches ten times as far on both
sides, in half decades. gamma='scale' is one of the values if the range holds it.

C. Let n be the number of samples and v their spread in the kernel's space, the mean of k(x, x) - k(x, z). Below about
1 / (n v) all variables are at the bound, and the function only changes its size. From some large C on nothing changes
either. That C depends on gamma, and a path to it can cost more than the rest of the search. So the range starts as five
decades around 1 / v, times the deviation of the targets in a regression. The range is widened towards both ends if the
best candidate is at its edge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import svm
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing, check_array, indexable  # pyright: ignore[reportPrivateUsage]

from ...door import inputs
from ...estimators import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from ...kernels import Kernel, resolve
from ...pipelines import way_to

# Machines of this library whose ranges of C or nu are known.
OUR_MACHINES: tuple[type, ...] = (SVC, NuSVC, SVR, NuSVR, OneClassSVM, QuantileSVR)
RANGED_MACHINES = (*OUR_MACHINES, SVDD, svm.SVC, svm.NuSVC, svm.SVR, svm.NuSVR, svm.OneClassSVM)  # that have ranges
SAME_VALUE = 1.01  # Ratio of two values up to which the second one is not worth a fit.
DIGITS = 3  # Significant digits of a value.
DECISIVE = ("kernel", "degree", "coef0", "class_weight")  # Parameters of a machine that its ranges depend on.
RANGE_SAMPLES = 1500  # Most samples that the ranges are computed from.
GAMMA_QUANTILES = (0.1, 0.9)  # The quantiles of the squared distances between which Caputo et al. look for 1 / gamma.
GAMMA_ROOM = 10.0  # Factor of the range of gamma beyond the quantiles, on both sides.
GAMMA_RATIO = 10.0**0.5  # Ratio of neighbouring values of gamma.
MOST_GAMMAS = 9  # Most values of gamma.
C_DECADES = (-1, 0, 1, 2, 3)  # Powers of ten of C, around its scale.
TUBES = (0.01, 0.03, 0.1, 0.3)  # Values of epsilon, as parts of the deviation of the targets.
NU_VALUES = (0.02, 0.05, 0.1, 0.2, 0.5, 0.8)  # Values of nu.
FEASIBLE_SHARE = 0.95  # Part of the largest nu that is feasible: folds differ a little.
LEAST_NU = 1e-4  # Least nu that a range is widened to.
DISTANT, SCALED = ("rbf", "laplacian"), ("poly", "sigmoid")  # Kernels with a gamma: of distances, of products.
SMALLEST_SCALE, LARGEST_SCALE = 1e-300, 1e300  # Values that have a reciprocal, with some room.
NO_GAMMA = (
    "'auto' finds no range of gamma: most {}distances between samples are between {:.3g} and {:.3g}, and the largest "
    "value of X is {:.3g}. These are too {} for the kernel: scale X first, for example with a StandardScaler."
)


def rounded(value: float, digits: int = DIGITS) -> float:
    """Return a value with few digits."""
    return float(f"{value:.{digits}g}")


@dataclass(frozen=True)
class Axis:
    """Values of a parameter in ascending order.

    factor : ratio of the next value beyond an edge to the outermost one
    least, most : limits beyond which nothing changes, or nothing is allowed
    """

    values: tuple[float, ...]
    factor: float
    least: float = 0.0
    most: float = inf

    def beyond(self, edge: str) -> float | None:
        """Return the next value beyond the 'smallest' or the 'largest' one; None if the range ends there."""
        if edge == "smallest":
            value = max(rounded(self.values[0] / self.factor), self.least)
            return value if 0.0 < value <= self.values[0] / SAME_VALUE else None
        value = min(rounded(self.values[-1] * self.factor), self.most)
        return value if SAME_VALUE * self.values[-1] <= value < inf else None

    def wider(self, edge: str) -> Axis:
        """Return the range with the next value beyond an edge."""
        value = self.beyond(edge)
        assert value is not None  # noqa: S101 (for the type checker)
        return replace(self, values=tuple(sorted((*self.values, value))))


def geometric(least: float, most: float, anchor: float, step: float, count: int) -> tuple[float, ...]:
    """Return values in steps from an anchor, between two limits or just beyond; of too many, the middle ones."""
    values = [anchor]
    while values[0] > least:
        values.insert(0, values[0] / step)
    while values[-1] < most:
        values.append(values[-1] * step)
    surplus = max(0, len(values) - count)
    return tuple(rounded(value) for value in values[surplus // 2 : len(values) - (surplus - surplus // 2)])


def decides(estimator: Any, name: str) -> bool:
    """Return whether the ranges of the other parameters may depend on a parameter."""
    prefix = way_to(estimator).prefix or ""
    own = name.removeprefix(prefix) if name.startswith(prefix) else ""
    return not own or own in DECISIVE


def ranges(estimator: Any, X: Any, y: Any, names: list[str] | None) -> dict[str, Axis]:
    """Return the ranges of parameters of an estimator, by their names.

    Raise a ValueError if the estimator is no support vector machine, or has no such range.

    names : of the wanted parameters; None: all that the machine and its kernel have
    """
    way = way_to(estimator)
    machine, prefix = way.machine, way.prefix
    if prefix is None or not isinstance(machine, RANGED_MACHINES):
        machine = estimator if prefix is None else machine
        raise ValueError(
            "'auto' in param_grid is for support vector machines, alone or last in a Pipeline: SVC, NuSVC, SVR, "
            f"NuSVR, OneClassSVM and SVDD. Got {_named(machine)}; give a dict of lists instead."
        )
    found = _Ranges(machine, *_sample(estimator, X, y)).all()
    if names is None:
        return {prefix + name: axis for name, axis in found.items()}
    for name in names:
        if not name.startswith(prefix) or name.removeprefix(prefix) not in found:
            known = ", ".join(repr(prefix + one) for one in found)
            kernel = f" with kernel={machine.kernel!r}" if name.endswith("gamma") else ""
            raise ValueError(
                f"'auto' finds no range for {name!r}. For {type(machine).__name__}{kernel} it knows only the ranges of "
                f"{known}."
            )
    return {name: found[name.removeprefix(prefix)] for name in names}


def _named(machine: Any) -> str:
    return f"the class {machine.__name__}" if isinstance(machine, type) else type(machine).__name__


def _sample(estimator: Any, X: Any, y: Any) -> tuple[Any, Any, int]:
    """Return some samples as the machine sees them, all targets, and the number of all samples.

    The steps of a pipeline are fitted to these samples alone. Samples that are not rows of numbers are None.
    """
    X, y = indexable(X, y)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if not n:
        raise ValueError(f"X has no samples: 'auto' needs some. Got an array of shape {np.shape(X)}.")
    rows = np.arange(n)
    if n > RANGE_SAMPLES:
        rows = np.sort(np.random.default_rng(0).choice(n, RANGE_SAMPLES, replace=False))
    some: Any = _safe_indexing(X, rows)
    targets = None if y is None else _safe_indexing(y, rows)
    way = way_to(estimator)
    given = inputs.given(way.machine.kernel)
    if given and np.shape(X) == (n, n):
        some = _safe_indexing(some, rows, axis=1)
    if way.steps:
        copied: Any = clone(make_pipeline(*(step for _, step in way.steps)))
        some = copied.fit_transform(some, targets)
    if given and np.shape(some) != (len(rows), len(rows)):
        raise ValueError(f"X must be a square matrix for kernel='precomputed'. Got an array of shape {np.shape(some)}.")
    try:
        checked: Any = check_array
        some = checked(some, accept_sparse="csr", dtype=np.float64)
    except (ValueError, TypeError):  # objects of a kernel function, or something wrong: a fit says what
        some = None
    return some, None if y is None else np.asarray(y), n


class _Ranges:
    """The ranges of a machine's parameters over a sample, as ``_sample`` returns it."""

    def __init__(self, machine: Any, X: Any, y: Any, size: int) -> None:
        self.machine, self.X, self.y, self.size, self.parameters = machine, X, y, size, machine.get_params()
        self.scale = self._scale()

    def all(self) -> dict[str, Axis]:
        """Return all of them."""
        found: dict[str, Axis] = {}
        if self.X is not None and isinstance(self.machine.kernel, str):
            if self.machine.kernel in DISTANT:
                found["gamma"] = self._gamma_of_distances()
            elif self.machine.kernel in SCALED:
                values = tuple(rounded(self.scale * factor) for factor in (0.1, 1.0, 10.0))
                found["gamma"] = Axis(values, GAMMA_RATIO)
        deviation = self._deviation()
        if self.parameters.get("C") is not None:  # an SVDD without C has nu
            found["C"] = self._C(deviation, found["gamma"].values if "gamma" in found else ())
        if "epsilon" in self.parameters:
            found["epsilon"] = Axis(tuple(rounded(deviation * part, 1) for part in TUBES), GAMMA_RATIO)
        if "nu" in self.parameters:
            found["nu"] = self._nu()
        return dict(sorted(found.items()))

    def _scale(self) -> float:
        """Return the number behind gamma='scale'."""
        if self.X is None:
            return 1.0
        try:
            return float(inputs.gamma("scale", self.X, "rbf"))
        except ValueError:  # too small values
            if self.machine.kernel in SCALED:
                raise
            return 1.0

    def _gamma_of_distances(self) -> Axis:
        X, squares = self.X, self.machine.kernel == "rbf"
        with np.errstate(over="ignore", invalid="ignore"):  # such samples are refused below
            distances: Any = euclidean_distances(X, squared=True) if squares else manhattan_distances(X)
        between = distances[np.triu_indices(len(distances), 1)]
        between = between[between > 0.0]
        if not len(between) and not abs(X.max(axis=0) - X.min(axis=0)).max():  # all samples are equal
            return Axis((rounded(self.scale),), GAMMA_RATIO)
        with np.errstate(invalid="ignore"):
            near, far = np.quantile(between, GAMMA_QUANTILES).tolist() if len(between) else (0.0, 0.0)
        if not GAMMA_ROOM * SMALLEST_SCALE <= near <= far <= LARGEST_SCALE / GAMMA_ROOM:
            size = float(abs(X).max())
            raise ValueError(NO_GAMMA.format("squared " * squares, near, far, size, "small" if size < 1.0 else "large"))
        least, most = 1.0 / (GAMMA_ROOM * far), GAMMA_ROOM / near
        anchor = self.scale if least <= self.scale <= most else 1.0 / float(np.median(between))
        return Axis(geometric(least, most, anchor, GAMMA_RATIO, MOST_GAMMAS), GAMMA_RATIO)

    def _C(self, deviation: float, gammas: tuple[float, ...]) -> Axis:
        spread = self._spread(gammas[len(gammas) // 2] if gammas else self.scale)
        unit = 10.0 ** np.round(np.log10(deviation / spread))
        least = rounded(float(deviation / (spread * self.size)), 1)
        values = tuple(rounded(float(unit * 10.0**power)) for power in C_DECADES)
        return Axis(values, 10.0, min(least, values[0]))

    def _spread(self, gamma: float) -> float:
        """Return the spread of the samples in the kernel's space."""
        X, parameters = self.X, self.parameters
        if X is None:
            return 1.0
        if inputs.given(self.machine.kernel):
            K: NDArray[np.float64] = X
        else:
            kernel = resolve(self.machine.kernel, gamma, parameters["degree"], parameters["coef0"])
            rows = X.toarray() if sparse.issparse(X) and not isinstance(self.machine.kernel, (str, Kernel)) else X
            K = np.asarray(kernel(rows, rows))
        spread = float(np.mean(np.diagonal(K)) - np.mean(K))
        return spread if 0.0 < spread < np.inf else 1.0

    def _deviation(self) -> float:
        """Return the standard deviation of the targets of a regression; 1 of other machines."""
        if not is_regressor(self.machine) or self.y is None:
            return 1.0
        try:
            deviation = float(np.std(np.asarray(self.y, np.float64)))
        except (ValueError, TypeError):  # no numbers: a fit says what
            return 1.0
        return deviation if 0.0 < deviation < np.inf else 1.0

    def _nu(self) -> Axis:
        most = self._largest_nu()
        values = tuple(value for value in NU_VALUES if value <= most)
        if is_outlier_detector(self.machine):
            values = (0.01, *values[:-1])
        if len(values) < 3:
            values = tuple(rounded(most * part) for part in (0.1, 0.3, 0.6, 1.0))
        return Axis(values, 2.0, min(LEAST_NU, values[0]), most)

    def _largest_nu(self) -> float:
        """Return about the largest nu that all pairs of classes allow; 1 if there are no classes."""
        balanced = self.parameters.get("class_weight") is not None
        if not is_classifier(self.machine) or self.y is None or balanced:
            return 1.0
        counts = np.sort(np.unique(self.y, return_counts=True)[1])
        return rounded(FEASIBLE_SHARE * 2.0 * float(counts[0]) / float(counts[0] + counts[-1]))
