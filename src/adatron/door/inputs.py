"""Checks of input: data, targets and weights checked as scikit-learn does, and parameters made ready."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data  # pyright: ignore[reportPrivateUsage]

from ..arrays import Vector, canonical_csr, is_sparse, writable
from ..model.model import NOT_FINITE
from ..quoted import quoted
from . import arrays
from .arrays import checked, device_X_of, to_numpy
from .columns import refuse_dates, refuse_masked

if TYPE_CHECKING:
    from ..devices import Device
    from ..model.function import DecisionFunctions
    from ..model.model import Model

FLOATS = (np.float64, np.float32)  # Types of X that need no copy.
SMALL_MATRIX = 2**16  # Entries up to which a matrix is small however it is stored.


class Machine(Protocol):
    """The part of an estimator that the checks use."""

    kernel: Any


def given(kernel: Any) -> bool:
    """Return whether X holds kernel values: by name or as a kernel object, which this check does not import."""
    return (kernel if isinstance(kernel, str) else getattr(kernel, "name", None)) == "precomputed"


def training_data(model: Machine, X: Any, y: Any, several: bool = False) -> tuple[Any, NDArray[Any]]:
    """Return X as a C-ordered float array or CSR matrix with sorted columns, and y as a vector.

    several : whether y may have several columns, which then are those of an array; of a classifier, these are 0 and 1
    """
    X, y, numeric = to_numpy(X), to_numpy(y), isinstance(model, RegressorMixin)
    checks: dict[str, Any] = {"multi_output": True, "y_numeric": numeric}
    kept, given_y = arrays.kept(model.kernel, X), y
    if kept is None:
        X, y = _rows(model, X, y=y, **checks)
    else:
        check_consistent_length(X, y)
        refuse_masked(y, "y")
        X, y = arrays.kernel_matrix(model.kernel, X, X), validate_data(model, y=y, **checks)
    if several and y.ndim == 2 and y.shape[1] > 1:
        y = np.asarray(y, np.float64) if numeric else flags(y)
    elif y.ndim > 1 or numeric:
        y = column_or_1d(y, warn=True, dtype=np.float64 if numeric else None)
    if numeric:
        assert_all_finite(y, input_name="y")  # None among objects has become nan only now
    else:
        refuse_merged(given_y, y)
    _keep(model, kept)
    return X, y


def training_rows(model: Machine, X: Any) -> Any:
    """Return X alone, in the form of ``training_data``."""
    X = to_numpy(X)
    kept = arrays.kept(model.kernel, X)
    X = _rows(model, X) if kept is None else arrays.kernel_matrix(model.kernel, X, X)
    _keep(model, kept)
    return X


def _rows(model: Machine, X: Any, **targets: Any) -> Any:
    """Return checked rows of numbers, alone or with their targets."""
    if is_sparse(X) and given(model.kernel):
        raise TypeError("Sparse precomputed kernels are not supported.")
    found = checked(model, X, _types(model.kernel), order="C", **targets)
    return (_training(model, found[0]), found[1]) if targets else _training(model, found)


def _types(kernel: Any) -> tuple[type, ...]:
    """Return what X may hold. A function gets float64, as in scikit-learn: float32 rows would give float32 values."""
    called = not isinstance(kernel, str) and (arrays.is_function(kernel) or kernel.called)
    return (np.float64,) if called else FLOATS


def _keep(model: Machine, kept: Any) -> None:
    """Keep samples that are not rows of numbers for the model, once all input is accepted; they have no features."""
    vars(model).pop("_given_objects", None)
    if kept is not None:
        vars(model)["_given_objects"] = kept
        vars(model).pop("n_features_in_", None)


def _training(model: Machine, X: Any) -> Any:
    n, d = X.shape
    if given(model.kernel):
        if n != d:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {n}x{d} matrix.")
    elif not arrays.is_function(model.kernel):
        refuse_huge(X)
    return canonical_csr(X) if is_sparse(X) else writable(X)


def refuse_huge(X: Any) -> None:
    """Fail if a sum of the squares of all numbers may overflow."""
    values = X.data if is_sparse(X) else X
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if largest > np.sqrt(np.finfo(np.float64).max / (X.shape[0] * X.shape[1])):
        raise ValueError(NOT_FINITE)


def as_dense_if_small(X: Any, kernel: Any) -> Any:
    """Return a CSR matrix of few entries as an array: fit and model are then equal, to the bit, to those of dense rows.

    Functions get the rows as they were given.
    """
    small = is_sparse(X) and X.shape[0] * X.shape[1] <= SMALL_MATRIX and not arrays.is_function(kernel)
    return X.toarray() if small else X


def new_data(machine: Machine, X: Any, model: Model, function: DecisionFunctions) -> Any:
    """Return X for prediction: an array or CSR matrix of floats stays as it is and is made ready block by block."""
    X, name = to_numpy(X), type(machine).__name__
    if model.samples is not None:
        arrays.refuse_single(X)
        X = model.kernel(X, model.samples)
        _refuse_narrow(X, function.columns)
        return X
    X = checked(machine, X, _types(model.kernel), reset=False, ensure_min_features=int(not model.values))
    if model.values:
        _refuse_narrow(X, function.columns)
    elif X.shape[1] != model.width:  # n_features_in_ may be missing or wrong
        raise ValueError(
            f"X has {X.shape[1]} features, but {name} is expecting {model.width} features as input, those of its "
            "support vectors."
        )
    if is_sparse(X) and not function.takes_sparse:
        raise ValueError(f"cannot use sparse input in {name!r} trained on dense data")
    return X if is_sparse(X) else writable(X)


def own_values(X: Any, K: Any, model: Model, diagonal: Any) -> Vector:
    """Return k(x, x) of the samples X with the kernel values K: by the model's function, or as the user gives it."""
    if model.samples is not None:
        X = to_numpy(X)
        return np.concatenate([np.zeros(0), *(model.kernel(X[i : i + 1], X[i : i + 1])[0] for i in range(len(K)))])
    if diagonal is None:
        raise ValueError(
            "With kernel='precomputed' the distance from the centre needs k(x, x) of the new samples, too. Pass "
            "diagonal=..., their values (n_samples,), beside X."
        )
    found = writable(np.array(to_numpy(diagonal), np.float64))
    if found.shape != (len(K),) or not np.isfinite(found).all():
        raise ValueError(f"diagonal must have a finite k(x, x) for each of {len(K)} samples. Got {quoted(diagonal)}.")
    return found


def _refuse_narrow(K: Any, columns: NDArray[np.int64]) -> None:
    """Fail if kernel values have no column of some support vector."""
    if columns.view(np.uint64).max(initial=0) < max(1, K.shape[1]):  # a negative one is larger than all
        return
    if columns.min() < 0:
        raise ValueError(f"support_ must hold numbers of training samples. Got {columns.min()}.")
    raise ValueError(f"X has {K.shape[1]} columns, kernel values with training samples; {columns.max() + 1} are needed")


def rows_to_predict(
    machine: Machine, X: Any, model: Model, function: DecisionFunctions, device: Device
) -> tuple[Any, bool]:
    """Return rows for a device to predict, and whether they are there already; None if a device is not for such rows.

    A tensor stays where it is. Its width is checked on its first row, and its numbers on the device.
    """
    device_X = device_X_of(device, X)
    if device_X is None:
        rows = None if model.values else new_data(machine, X, model, function)
        return (rows if isinstance(rows, np.ndarray) else None), False
    fine = device_X.ndim == 2 and len(device_X) > 0 and not model.values
    if not fine or not bool(device_X.sum().isfinite()):
        return None, False  # the checks of what comes to the processor say what is wrong
    new_data(machine, device_X[:1], model, function)
    return device_X, True


def classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes, and the number of each sample's class."""
    whole = y.dtype.kind in "biu" or (y.dtype.kind == "f" and bool((y == np.rint(y)).all()))
    if not whole and y.dtype.kind != "U":
        check_classification_targets(y)
    found = np.unique(y, return_inverse=True)
    if whole and 2 * len(found[0]) > len(y):
        check_classification_targets(y)  # for whole numbers it would only say that there are many classes
    return found


def weights_of_classes(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.int64], weight: Vector | None = None
) -> Vector:
    """Return the weight of every class; 'balanced' counts a sample of weight 2 as two samples.

    weight : of every sample; None is 1
    """
    if len(classes) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):  # 'balanced', as scikit-learn's function has it, which takes half of a small fit
        counts = np.bincount(codes, minlength=len(classes)).astype(np.float64)
        if weight is not None:
            counts = _sums_of_classes(weight, codes, counts)
        return balanced(counts)
    return named(class_weight, classes)


def balanced(counts: Vector) -> Vector:
    """Return the weights of classes with so many samples, or so much weight, that balance them."""
    present = counts > 0
    return counts.sum() / (np.count_nonzero(present) * np.where(present, counts, 1.0))


def named(class_weight: dict[Any, float], classes: NDArray[Any]) -> Vector:
    """Return the weights of classes that are given by their names."""
    # As scikit-learn's function does it, except that names which are digits stay names.
    names: list[Any] = classes.tolist()
    missing = [name for name in names if name not in class_weight]
    if missing and len(names) - len(missing) != len(class_weight):
        raise ValueError(f"The classes, {missing}, are not in class_weight")
    weights = np.array([class_weight.get(name, 1.0) for name in names], np.float64)
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError(
            f"The 'class_weight' parameter must hold finite weights >= 0. Got {quoted(class_weight)} instead."
        )
    return weights


def _sums_of_classes(weight: Vector, codes: NDArray[np.int64], counts: Vector) -> Vector:
    """Return exactly rounded sums of the weights of each class, so that the order of the rows does not matter."""
    ends = np.cumsum(counts.astype(np.int64))[:-1]
    return np.array([fsum(part) for part in np.split(weight[np.argsort(codes, kind="stable")], ends)])


def weights(X: Any, sample_weight: Any) -> Vector:
    """Return the weight of every sample."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    sample_weight = to_numpy(sample_weight)
    refuse_dates(sample_weight, "sample_weight")
    values = np.asarray(sample_weight, np.float64)
    if values.ndim == 1 and len(values) != X.shape[0]:
        raise ValueError(f"sample_weight and X have incompatible shapes: {values.shape} vs {X.shape}")
    if not np.isnan(values).any() and not (values > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return writable(_check_sample_weight(sample_weight, X, dtype=np.float64))


def gamma(value: float | str, X: Any, kernel: Any, weight: Vector | None = None) -> float:
    """Return the number behind 'scale' and 'auto'; a sample of weight 2 counts as two samples.

    weight : of every sample; None is 1
    """
    from ..fitting.samples import variance

    if not isinstance(value, str):
        return float(value)
    if given(kernel) or arrays.is_function(kernel):
        return 0.0  # this kernel has no gamma; scikit-learn does the same
    return 1.0 / X.shape[1] if value == "auto" else gamma_of(X.shape[1], variance(X, weight))


def gamma_of(features: int, spread: float) -> float:
    """Return the number behind 'scale', given the variance."""
    found = 1.0 / (features * spread) if spread > 0 else 1.0
    if not np.isfinite(found):
        raise ValueError(
            f"gamma='scale' is 1 / (n_features * X.var()) = inf, as X.var() is {spread:g}: X has too small values. "
            "Scale it, or give gamma as a number."
        )
    return found


def augment(value: float | str, X: Any, weight: Vector | None = None) -> float:
    """Return the augmenting factor: 'auto' is the magnitude of the inputs (SVMseq, section 4.1.1)."""
    from ..fitting.samples import weighted_mean

    if not isinstance(value, str):
        return float(value)
    if is_sparse(X):
        squares = np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    else:
        squares = np.square(X, dtype=np.float64).sum(axis=1)
    return float(np.sqrt(weighted_mean(weight, squares))) or 1.0  # the order of the rows does not matter


ONE_EACH = "sklearn.multioutput.MultiOutputClassifier fits one classifier for each column."


def refuse_merged(given: Any, y: NDArray[Any]) -> None:
    """Fail if an array holds dates, or fewer labels than the list it was: 1 beside '1', or whole numbers in float64."""
    if y.dtype.kind in "mM":
        raise ValueError(
            f"Unknown label type: {y.dtype}. Pass text, as y.astype(str) makes of dates, or whole numbers: a model "
            "file holds no dates."
        )
    if not isinstance(given, (list, tuple)) or y.ndim != 1 or y.dtype.kind not in "fU":
        return
    labels: Any = given
    kinds = set(map(type, labels))
    if kinds <= {str, np.str_} or kinds <= {float, np.float64}:
        return
    try:
        many = len(set(labels))
    except TypeError:  # labels that are sequences of one number
        return
    if many > len(np.unique(y)):
        raise ValueError(
            f"Unknown label type: NumPy turns {many} different labels into {len(np.unique(y))} in {y.dtype}. Pass an "
            "array of one type: text, or whole numbers in int64 or uint64."
        )


def flags(y: Any) -> NDArray[Any]:
    """Return several labels of each sample, (n, T), which must be 0 and 1."""
    if is_sparse(y):
        y = y.toarray()
    wrong = y if y.dtype.kind not in "biuf" else y[(y != 0) & (y != 1)]
    if wrong.size:
        raise ValueError(
            f"Several labels of a sample must be numbers 0 or 1. Got {quoted(wrong.flat[0])} of type {y.dtype}. "
            f"{ONE_EACH}"
        )
    return y


def refuse_constant(sides: NDArray[np.float64]) -> None:
    """Fail if a label is the same for all samples.

    sides : (T, n_combinations) 1 or -1, what each combination has of each label
    """
    constant = np.flatnonzero(sides.min(axis=1) == sides.max(axis=1))
    if constant.size:
        column, only = constant[0], int(sides[constant[0], 0] > 0.0)
        raise ValueError(f"Each column of y needs positive weights of both 0 and 1. Column {column} has only {only}.")
