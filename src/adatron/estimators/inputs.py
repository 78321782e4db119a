"""What comes in: data, targets and weights checked as scikit-learn does, and the parameters made ready."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data  # pyright: ignore[reportPrivateUsage]

if TYPE_CHECKING:
    from ..kernels import Kernel
    from .engine import Fitted, Settings
    from .machine import KernelMachine

Vector = NDArray[np.float64]
FLOATS = (np.float64, np.float32)
MOST_COLUMNS = 2**31 - 1  # columns have 32-bit numbers in compiled code
DIFFERENT_SCALES = 1e3  # ratio of the features' standard deviations that deserves a word


def given(kernel: Any) -> bool:
    """Whether X holds kernel values."""
    return isinstance(kernel, str) and kernel == "precomputed"


def training_data(model: KernelMachine, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    """X as a C-ordered float array or CSR matrix with sorted columns, y as a vector."""
    _refuse_sparse_values(model, X)
    numeric = is_regressor(model)
    X, y = validate_data(
        model, X, y, dtype=FLOATS, order="C", accept_sparse="csr", multi_output=True, y_numeric=numeric
    )
    y = column_or_1d(y, warn=True, dtype=np.float64 if numeric else None)
    if numeric:
        assert_all_finite(y, input_name="y")  # None among objects is nan only now
    return _stored(_square(model, X)), y


def training_rows(model: KernelMachine, X: Any) -> Any:
    """The same for X alone."""
    _refuse_sparse_values(model, X)
    return _stored(_square(model, validate_data(model, X, dtype=FLOATS, order="C", accept_sparse="csr")))


def _refuse_sparse_values(model: KernelMachine, X: Any) -> None:
    if sparse.issparse(X) and given(model.kernel):
        raise TypeError("Sparse precomputed kernels are not supported.")


def _square(model: KernelMachine, X: Any) -> Any:
    if given(model.kernel) and X.shape[0] != X.shape[1]:
        raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
    return X


def new_data(model: KernelMachine, X: Any, vectors: Any) -> Any:
    """X for prediction, as it is if it is an array or CSR matrix of floats; its rows are made ready block by block."""
    X = validate_data(model, X, dtype=FLOATS, accept_sparse="csr", reset=False)
    if given(model.kernel) and model.support_.max(initial=-1) >= X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} columns, kernel values with training samples; {model.support_.max() + 1} are needed"
        )
    if sparse.issparse(X) and not sparse.issparse(vectors):
        raise ValueError(f"cannot use sparse input in {type(model).__name__!r} trained on dense data")
    return X if sparse.issparse(X) else _opened(X)


def _stored(X: Any) -> Any:
    return tidy(X) if sparse.issparse(X) else _opened(X)


class _Memory:
    """The memory of an array; numpy keeps this object, and so the array, as long as it uses it."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def _opened(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory without the mark that it may only be read.

    Nothing writes to it, but for numba an array with the mark (a memmap, a pandas frame's) is another type, for which
    it would compile the tile loops once more.
    """
    return array if array.flags.writeable else np.asarray(_Memory(array))


def tidy(X: Any) -> Any:
    """CSR rows with sorted columns, no repeated ones and no stored zeros; what has all this is not copied."""
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"Sparse X may have at most {MOST_COLUMNS} features. Got {X.shape[1]}; drop empty columns.")
    X = sparse.csr_matrix(X)
    X.data, X.indices, X.indptr = _opened(X.data), _opened(X.indices), _opened(X.indptr)
    if not (X.has_canonical_format and X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, and the number of each sample's class."""
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def weights_of_classes(class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int64]) -> Vector:
    """Weight of every class."""
    if len(classes) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
    weights = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if not (weights >= 0).all():
        raise ValueError(f"The 'class_weight' parameter must hold weights >= 0. Got {class_weight!r} instead.")
    return weights


def weights(X: Any, sample_weight: Any) -> Vector:
    """The weight of every sample."""
    if sample_weight is not None and not (np.asarray(sample_weight, np.float64) > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return _check_sample_weight(sample_weight, X, dtype=np.float64)


def gamma(value: float | str, X: Any, kernel: Any) -> float:
    """The number behind 'scale' and 'auto'."""
    from .samples import variance

    if not isinstance(value, str):
        return float(value)
    if given(kernel) or value == "auto":
        return 1.0 / X.shape[1]
    spread = variance(X)
    found = 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0
    if not 0.0 < found < np.inf:
        raise ValueError(
            f"gamma='scale' is 1 / (n_features * X.var()) = {found}, as X.var() is {spread:g}: X has too large or too "
            "small values. Scale it, or give gamma as a number."
        )
    return found


def augment(value: float | str, X: Any) -> float:
    """The augmenting factor: 'auto' is the magnitude of the inputs (SVMseq, section 4.1.1)."""
    if not isinstance(value, str):
        return float(value)
    squares = X.multiply(X).sum() if sparse.issparse(X) else np.square(X, dtype=np.float64).sum()
    return float(np.sqrt(squares / X.shape[0])) or 1.0


def settings(model: KernelMachine, kernel: Kernel) -> Settings:
    """The parameters as the engine takes them."""
    from .engine import Settings

    return Settings(
        kernel=kernel,
        solver=model.solver,
        precision=model.precision,
        cache_bytes=model.cache_size * 2**20,
        n_jobs=model.n_jobs,
        tol=float(model.tol),
        gap_tol=model.gap_tol,
        max_iter=int(model.max_iter),
        max_time=model.max_time,
        callback=model.callback or (_print_progress if model.verbose else None),
    )


def _print_progress(state: Any) -> None:
    print(
        f"problem {state.problem + 1}/{state.n_problems}: {state.seconds:.1f} s, {state.n_iter} iterations, "
        f"KKT violation {state.kkt_violation:.2e}, relative gap {state.duality_gap:.2e}"
    )


def warn_unless_converged(fitted: list[Fitted], X: Any) -> None:
    """One line that says what was reached, the likely cause, and the cure."""
    open_ones = [f.solution for f in fitted if f.solution is not None and not f.solution.status.good]
    if not open_ones:
        return
    worst = max(open_ones, key=lambda s: s.certificate.kkt_violation)
    certificate = worst.certificate
    warnings.warn(
        f"Not converged in {len(open_ones)} of {len(fitted)} problems: KKT violation {certificate.kkt_violation:.2e}, "
        f"relative duality gap {certificate.relative_gap:.2e}; {worst.status.value}.{_scales(X)}",
        ConvergenceWarning,
        stacklevel=4,
    )


def _scales(X: Any) -> str:
    if sparse.issparse(X):
        return ""
    spread = X.std(axis=0, dtype=np.float64)
    spread = spread[spread > 0]
    if not len(spread) or spread.max() < DIFFERENT_SCALES * spread.min():
        return ""
    return f" Here the features' standard deviations range from {spread.min():.1e} to {spread.max():.1e}."
