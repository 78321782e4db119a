"""Tensors of torch and arrays of CuPy at the door: where they are, what is copied, and as what results go back.

A kernel function of the user may take samples that are no rows of numbers; it gets them as they were given.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from ...arrays import is_sparse
from ...quoted import quoted
from .columns import are_numbers

if TYPE_CHECKING:
    from ...devices import Device


def host(X: Any) -> Any:
    """Return a tensor, or an array of CuPy, as a NumPy array; anything else as it is."""
    tensor = _tensor(X)
    return X if tensor is None else tensor.cpu().numpy()


def device_of(model: Any, X: Any) -> Device | None:
    """Return the device that the model's parameter asks for, or that X is on; None is the processor."""
    given, tensor = getattr(model, "device", None), _tensor(X)
    where = tensor.device if _is_remote(tensor) else None
    if given is None and where is None:
        return None
    from ...devices import resolved

    return resolved(given, where)


def refuse_remote(model: Any, X: Any) -> None:
    """Fail if X is on a device, for machines that learn on the processor."""
    if _is_remote(_tensor(X)):
        copied = f"X.{'get' if _maker(X) == 'cupy' else 'cpu'}()"
        raise TypeError(f"{type(model).__name__} learns on the processor, and X is on a device. Pass {copied}.")


def rows_there(device: Device, X: Any) -> Any:
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
    from ...extras import torch

    return torch().from_dlpack(X)


def _maker(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


LONGEST_QUOTED = 60  # Characters of a text that a message shows.


def is_function(kernel: Any) -> bool:
    """Return whether a kernel is a function of the user."""
    if not callable(kernel):
        return False
    from ...kernels import Kernel

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
    from ...kernels import Function

    return Function(kernel)(X, samples)


def _are_rows(X: Any) -> bool:
    if is_sparse(X):
        return True
    try:
        array = np.asarray(X)
    except ValueError:  # sequences of different lengths
        return False
    return array.ndim == 2 and (array.dtype.kind in "biufc" or are_numbers(X))
