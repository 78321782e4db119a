"""Tensors of torch and arrays of CuPy at the door: where they are, what is copied, and as what results go back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config

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
