"""Tensors of torch at the door: which device they are on, what is copied, and as what results go back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config

if TYPE_CHECKING:
    from ...devices import Device


def host(X: Any) -> Any:
    """Return a tensor as a NumPy array; anything else as it is."""
    return X.detach().cpu().numpy() if _is_tensor(X) else X


def device_of(model: Any, X: Any) -> Device | None:
    """Return the device that the model's parameter asks for, or that X is on; None is the processor."""
    given = getattr(model, "device", None)
    where = X.device if _is_remote(X) else None
    if given is None and where is None:
        return None
    from ...devices import resolved

    return resolved(given, where)


def refuse_remote(model: Any, X: Any) -> None:
    """Fail if X is on a device, for machines that learn on the processor."""
    if _is_remote(X):
        raise TypeError(f"{type(model).__name__} learns on the processor, and X is on a device. Pass X.cpu().")


def rows_there(device: Device, X: Any) -> Any:
    """Return X if it is a tensor of floats on the device already, else None."""
    if not _is_tensor(X):
        return None
    floats = X.is_floating_point() and X.element_size() in (4, 8)
    return X.detach() if floats and X.device == device.where else None


def returned(result: Any, X: Any) -> Any:
    """Return a result as a tensor if X is one on a device, or one for which scikit-learn is told to do so.

    Text stays in NumPy.
    """
    if not _is_tensor(X) or not isinstance(result, np.ndarray) or result.dtype.kind not in "biuf":
        return result
    if not (_is_remote(X) or get_config().get("array_api_dispatch", False)):
        return result
    return sys.modules["torch"].from_numpy(np.ascontiguousarray(result)).to(X.device)


def _is_remote(X: Any) -> bool:
    """Return whether X is a tensor that NumPy cannot read where it is."""
    return _is_tensor(X) and X.device.type != "cpu"


def _is_tensor(X: Any) -> bool:
    """Return whether X is a tensor of torch, without importing torch for the answer; fail if CuPy has made it."""
    name = type(X).__module__.partition(".")[0]
    if name not in ("torch", "cupy") or not hasattr(X, "__dlpack__"):
        return False
    if name == "cupy":
        raise TypeError("Arrays of CuPy are not taken. Pass torch.from_dlpack(array), or array.get() for NumPy.")
    return True
