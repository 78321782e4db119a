"""Arrays at the door: scikit-learn's checks, skipped where they would find nothing, and arrays of torch and CuPy.

The checks take a seventh to a fifth of a small fit, and two fifths of the prediction of a single sample. A kernel
function of the user may take samples that are not rows of numbers; it gets them as they were given.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils.validation import _get_feature_names, validate_data  # pyright: ignore[reportPrivateUsage]

from ..arrays import is_sparse
from ..model.checks import invalid_csr
from ..quoted import quoted
from .columns import advice, are_numbers, as_numbers, refuse_dates, refuse_masked

if TYPE_CHECKING:
    from ..devices import Device


def to_numpy(X: Any) -> Any:
    """Return a tensor, or an array of CuPy, as a NumPy array; anything else as it is."""
    tensor = _tensor(X)
    return X if tensor is None else tensor.cpu().numpy()


def device_of(model: Any, X: Any) -> Device | None:
    """Return the device that the model's parameter asks for, or that X is on; None is the processor."""
    given, tensor = getattr(model, "device", None), _tensor(X)
    where = tensor.device if _is_remote(tensor) else None
    if given is None and where is None:
        return None
    from ..devices import resolved

    return resolved(given, where)


def refuse_remote(model: Any, X: Any) -> None:
    """Fail if X is on a device, for machines that learn on the processor."""
    if _is_remote(_tensor(X)):
        copied = f"X.{'get' if _maker(X) == 'cupy' else 'cpu'}()"
        raise TypeError(f"{type(model).__name__} learns on the processor, and X is on a device. Pass {copied}.")


def device_X_of(device: Device, X: Any) -> Any:
    """Return X as a tensor if it holds floats on the device already, else None."""
    tensor = _tensor(X)
    if tensor is None:
        return None
    floats = tensor.is_floating_point() and tensor.element_size() in (4, 8)
    return tensor if floats and tensor.device == device.where else None


def returned(result: Any, X: Any) -> Any:
    """Return a result as X's kind of array if X is on a device, or if scikit-learn is told to do so.

    Text stays in NumPy.
    """
    tensor = _tensor(X)
    if tensor is None or not isinstance(result, np.ndarray) or result.dtype.kind not in "biuf":
        return result
    if not (_is_remote(tensor) or get_config().get("array_api_dispatch", False)):
        return result
    found = sys.modules["torch"].from_numpy(np.ascontiguousarray(result)).to(tensor.device)
    return sys.modules["cupy"].from_dlpack(found) if _maker(X) == "cupy" else found


def _is_remote(tensor: Any) -> bool:
    """Return whether there is a tensor, and NumPy cannot read it where it is."""
    return tensor is not None and tensor.device.type != "cpu"


def _tensor(X: Any) -> Any:
    """Return X as a tensor of torch, in the same memory, if torch or CuPy has made it; else None.

    The answer imports torch for arrays of CuPy only.
    """
    maker = _maker(X)
    if maker not in ("torch", "cupy") or not hasattr(X, "__dlpack__"):
        return None
    if maker == "torch":
        return X.detach()
    from ..extras import torch

    return torch().from_dlpack(X)


def _maker(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


LONGEST_QUOTED = 60  # Characters of a text that a message shows.


def is_function(kernel: Any) -> bool:
    """Return whether a kernel is a function of the user."""
    if not callable(kernel):
        return False
    from ..kernels import Kernel

    return not isinstance(kernel, Kernel)


def kept(kernel: Any, X: Any) -> Any:
    """Return X if only a function can take it, so that predictions need it; else None."""
    if not is_function(kernel) or _are_rows(X):
        return None
    refuse_single(X)
    return X


def refuse_single(X: Any) -> None:
    """Fail if X is one text, whose letters would be samples, or an array of no dimension."""
    if isinstance(X, (str, bytes)) or getattr(X, "ndim", 1) == 0:
        one = quoted(X)[:LONGEST_QUOTED]
        raise ValueError(f"X must hold samples, such as a list of texts. Got one alone, {one}; pass [X].")


def kernel_matrix(kernel: Any, X: Any, samples: Any) -> NDArray[np.float64]:
    """Return the function's values of X (n) and the training samples (m), (n, m)."""
    from ..kernels import Function

    return Function(kernel)(X, samples)


def _are_rows(X: Any) -> bool:
    if is_sparse(X):
        return True
    try:
        array = np.asarray(X)
    except ValueError:  # sequences of different lengths
        return False
    return array.ndim == 2 and (array.dtype.kind in "biufc" or are_numbers(X))


FEW_ROWS = 256  # Rows of a frame up to which its checks take longer than a prediction.


def checked(model: Any, X: Any, dtype: tuple[type, ...], reset: bool = True, **others: Any) -> Any:
    """Return X, or X and y if there is one, as ``validate_data`` does.

    Finite C-ordered arrays and CSR matrices of the right type and shape are returned as they are, lists of numbers
    and a frame of floats to predict as arrays. scikit-learn converts or refuses everything else.
    """
    targets = (_of_list(others["y"]),) if "y" in others else ()
    attributes = vars(model)
    names = None if reset else attributes.get("feature_names_in_")
    values: Any = (
        _of_list(X, dtype[0]) if names is None else _of_frame(X, names)
    )  # it warns of other names, and of none
    csr = type(values) in (sparse.csr_matrix, sparse.csr_array) and not invalid_csr(values)
    plain = (_is_plain(values, 2) or csr) and values.dtype in dtype and 0 not in values.shape
    plain = plain and all(_is_plain(y, 1) and y.dtype.kind in "biuf" and len(y) == values.shape[0] for y in targets)
    plain = plain and (reset or attributes.get("n_features_in_") == values.shape[1])
    if plain and all(map(_is_finite, (values.data if is_sparse(values) else values, *targets))):
        found = (values, *targets) if targets else values
        if reset:
            attributes.pop("feature_names_in_", None)
            attributes["n_features_in_"] = values.shape[1]
    else:
        X = as_numbers(X)
        refuse = refuse_dates if others.get("y_numeric") else refuse_masked
        refuse(others.get("y"), "y")
        try:
            found = validate_data(model, X, dtype=dtype, accept_sparse="csr", reset=reset, **others)
        except ValueError as error:
            note = None if _misnamed(X, names) else advice(model, X)
            if note is not None:
                error.add_note(note)
            raise
        X = found[0] if targets else found
        if is_sparse(X) and (fault := invalid_csr(X)):
            raise ValueError(f"X {fault}.")
    if reset:
        for name in ("first_index_", "label_"):  # they belong to other data, which the command line read
            attributes.pop(name, None)
    return found


def _is_plain(values: Any, ndim: int) -> bool:
    return type(values) is np.ndarray and values.ndim == ndim and values.flags.c_contiguous


def _of_list(values: Any, dtype: type | None = None) -> Any:
    """Return a list as an array, whole numbers converted to ``dtype``; anything else, and a ragged list, as it is."""
    if type(values) is not list:
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        return values
    return array.astype(dtype) if dtype is not None and array.dtype.kind in "iu" else array


def _of_frame(X: Any, names: NDArray[Any]) -> Any:
    """Return the numbers of a small frame of pandas that has columns of floats with these names, else None."""
    pandas = sys.modules.get("pandas")
    if pandas is None or type(X) is not pandas.DataFrame or len(X) > FEW_ROWS or X.columns.tolist() != names.tolist():
        return None
    floats = all(kind in (np.float64, np.float32) for kind in X.dtypes.tolist())
    return np.ascontiguousarray(X.to_numpy()) if floats else None


def _misnamed(X: Any, names: Any) -> bool:
    """Return whether the columns of X have other names than in the fit, which is then the error."""
    given: Any = None if names is None else _get_feature_names(X)
    return given is not None and not np.array_equal(given, np.asarray(names))


def _is_finite(values: NDArray[Any]) -> bool:
    """Return whether a sum shows that all values are finite; the sum may overflow although they are."""
    return bool(np.isfinite(values.sum()))
