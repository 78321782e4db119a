"""The samples of a fit on a device, and sums of their kernel values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..kernels import Kernel
from .device import Device
from .library import torch
from .tiles import DEEP, Operand, Tiles

Ids = NDArray[np.int64]
AT_ONCE = 1 << 25  # Numbers that travel, or are gathered, at a time.
OF_NUMBER = 12.0  # Bytes on the device for each number of X: a float32 and a float64.
PROBED = 24  # Rows whose kernel values are compared with those of the processor.


class Rows(NamedTuple):
    """Samples on a device, in both precisions, centred if the kernel allows.

    device, kernel, tiles : where they are, and what evaluates the kernel there
    single, double : the samples
    """

    device: Device
    kernel: Kernel
    tiles: Tiles
    single: Operand
    double: Operand

    @classmethod
    def of(cls, device: Device, kernel: Kernel, X: Any, ids: Ids, center: NDArray[np.float64], there: Any) -> Rows:
        """Return rows ``ids`` of X on a device.

        X : (n, d) NumPy array
        center : (d,) is subtracted in float64
        there : X as a tensor if it is on the device already, else None
        """
        tiles = device.tiles(kernel)
        n, d = len(ids), X.shape[1]
        width = -(-d // DEEP) * DEEP
        single = torch().zeros((n, width), dtype=torch().float32, device=device.where)
        double = torch().zeros((n, width), dtype=torch().float64, device=device.where)
        mean = torch().from_numpy(center).to(device.where)
        step = max(1, AT_ONCE // max(1, width))
        for start in range(0, n, step):
            some = ids[start : start + step]
            if there is None:
                part = torch().from_numpy(np.ascontiguousarray(X[some])).to(device.where)
            else:
                part = there[torch().from_numpy(some).to(device.where)]
            centred = part.to(torch().float64) - mean
            double[start : start + step, :d] = centred
            single[start : start + step, :d] = centred.to(torch().float32)
        return cls(device, kernel, tiles, tiles.operand(single), tiles.operand(double))

    def operand(self, dtype: Any) -> Operand:
        """Return the samples in the precision of a NumPy type."""
        return self.single if np.dtype(dtype).itemsize == 4 else self.double

    def numbers(self, ids: Any, dtype: Any = np.int32) -> Any:
        """Return NumPy numbers as a tensor on the device."""
        return torch().from_numpy(np.ascontiguousarray(ids, dtype)).to(self.device.where)

    def sums(self, rows: Ids, points: Ids, V: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
        """Return K[rows, points] @ V for V (|points|, p), from values of a type and sums in float64."""
        operand = self.operand(dtype)
        out = np.zeros((len(rows), V.shape[1]))
        if not len(points) or not len(rows):
            return out
        lines, columns = self.numbers(rows)[None], self.numbers(points)[None]
        counts = [self.numbers([len(some)]) for some in (rows, points)]
        for j, v in enumerate(V.T):
            total = torch().zeros((1, len(rows)), dtype=torch().float64, device=self.device.where)
            low = torch().zeros_like(total)
            weights = self.numbers(v, np.float64)[None]
            self.tiles.sums(total, low, operand, lines, counts[0], operand, columns, weights, counts[1])
            out[:, j] = (total + low)[0].cpu().numpy()
        return out

    def values(self, rows: Ids, points: Ids, dtype: Any) -> NDArray[Any]:
        """Return K[rows, points] in a type."""
        operand = self.operand(dtype)
        out = torch().empty((1, len(rows), len(points)), dtype=operand.X.dtype, device=self.device.where)
        self.tiles.values(operand, self.numbers(rows)[None], operand, self.numbers(points)[None], out)
        return out[0].cpu().numpy()

    def norms(self, dtype: Any) -> NDArray[Any]:
        """Return the squared norms as the tiles have them."""
        return self.operand(dtype).norms.cpu().numpy()

    def probe(self, X: Any, ids: Ids, center: NDArray[np.float64], bounds: tuple[float, float]) -> None:
        """Fail unless some kernel values agree with those of the processor, within the proven errors of both.

        bounds : of values in float32 and in float64
        """
        n = len(ids)
        some = np.unique(np.arange(PROBED) * max(1, n - 1) // (PROBED - 1)) if n else np.zeros(0, np.int64)
        given = np.asarray(X[ids[some]], np.float64) - center
        truth = self.kernel(given, given) if len(some) else np.zeros((0, 0))
        for dtype, bound in zip((np.float32, np.float64), bounds, strict=True):
            off = float(np.abs(self.values(some, some, dtype) - truth).max(initial=0.0)) if len(some) else 0.0
            if not off <= bound + bounds[1]:
                name = np.dtype(dtype).name
                raise RuntimeError(
                    f"{self.device.label} returns {name} kernel values that are off by {off:.3g}; at most {bound:.3g} "
                    "is allowed. Pass device='cpu', and please report this."
                )


def room_for(X: Any, rows: int) -> float:
    """Return the bytes that so many rows take on a device; infinite for CSR rows."""
    return np.inf if sparse.issparse(X) else OF_NUMBER * rows * (-(-X.shape[1] // DEEP) * DEEP)
