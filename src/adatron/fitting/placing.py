"""The samples of a fit on a device: which ones a device takes, and how they get there."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..devices import Device, unsuited
from ..devices.rows import DeviceRows, OnDevice
from ..gram import Source
from ..kernels import Kernel


def refuse_unsuited(device: Device, kernel: Kernel, X: Any) -> None:
    """Fail if a device does not evaluate the kernel of such samples."""
    if sparse.issparse(X):
        raise ValueError(
            f"device={device.name!r} takes no sparse X. Leave device out, or pass X.toarray() if it fits into memory."
        )
    reason = unsuited(kernel)
    if reason is not None:
        raise ValueError(
            f"device={device.name!r} does not evaluate the {kernel.name!r} kernel: {reason}. Leave device out, or use "
            "'rbf', 'linear', 'poly', 'sigmoid', or sums and products of them."
        )


def moved(device: Device, source: Source, there: Any, resident: int) -> OnDevice:
    """Return the rows of a source on a device; ``there``: X as a tensor, if it is on the device already.

    resident : see ``Route``
    """
    rows = DeviceRows.of(device, source.kernel, source.X, source.ids, source.center, there, resident)
    bounds = [source.kernel.error_bound(source.largest, float(source.terms), unit) for unit in (2.0**-24, 2.0**-53)]
    rows.probe(source.X, source.ids, source.center, (bounds[0], bounds[1]))
    return OnDevice(rows, np.arange(len(source)))
