"""Decision values on a device: the sum over the support vectors, for rows that are there or that travel in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices import Device, unsuited
from ..devices.cuda_tiles import DEEP, DeviceOperand
from ..devices.rows import room_for
from ..extras import torch
from ..gram import Source
from .signs import SINGLE_REACH, Values

DEVICE_NUMBERS = 1 << 26  # Numbers of rows, or kernel values, on the device at a time.
FEW_OUTPUTS = 2  # Outputs up to which sums are made one by one, without the kernel values in memory.
AS_ONE, MOST_BLOCK_ROWS = 1024, 1 << 20  # Multiple of rows of a block, and most rows.


class Remote:
    """Support vectors and coefficients on a device.

    Parameters
    ----------
    device : Device
    points : the support vectors
    coefficients : (m, p)
    level : see ``Expansion``
    """

    def __init__(self, device: Device, points: Source, coefficients: Values, level: Values) -> None:
        self.device, self.points, self.level = device, points, level
        self.tiles = device.tiles(points.kernel)
        self._center = torch().from_numpy(points.center).to(device.where)
        given = torch().from_numpy(np.ascontiguousarray(points.X[points.ids])).to(device.where)
        self._vectors = {dtype: self._operand(given, dtype) for dtype in (torch().float32, torch().float64)}
        self._W = torch().from_numpy(coefficients).to(device.where)

    @staticmethod
    def suits(points: Source, device: Device) -> bool:
        """Return whether a device evaluates sums over such support vectors, and has room for them."""
        if unsuited(points.kernel) is not None or not isinstance(points.X, np.ndarray) or points.careful:
            return False
        return room_for(points.X, len(points)) <= device.memory()

    def _operand(self, given: Any, dtype: Any) -> DeviceOperand:
        """Return rows as the tiles take them, centred in float64."""
        n, d = given.shape
        X = torch().zeros((n, -(-d // DEEP) * DEEP), dtype=dtype, device=self.device.where)
        X[:, :d] = given.to(torch().float64) - self._center
        return self.tiles.operand(X)

    def values(self, X: Any, intercepts: Values, single: bool) -> Values:
        """Return the decision values of rows, (n, p), X being a NumPy array or a tensor on the device.

        single : float32 kernel values for rows of which they say anything, else float64
        """
        limit = SINGLE_REACH * self.points.largest if single else -np.inf
        if single and not self.points.suits_single(limit, requested=True):
            limit = -np.inf
        out = np.empty((len(X), self._W.shape[1]))
        step = DEVICE_NUMBERS // max(X.shape[1], 4 * self._W.shape[1]) // AS_ONE * AS_ONE
        step = min(MOST_BLOCK_ROWS, max(AS_ONE, step))
        following = self.device.arrived(X[:step])
        for start in range(0, len(X), step):
            found = self._block(following, limit)  # begun, not waited for
            following = self.device.arrived(X[start + step : start + 2 * step])
            out[start : start + step] = found.cpu().numpy()
        return out + (intercepts + self.level)

    def _block(self, given: Any, limit: float) -> Any:
        """Return the sums of some rows; a row's sum does not depend on the rows beside it."""
        if limit == -np.inf:
            return self._sums(self._operand(given, torch().float64))
        rows = self._operand(given, torch().float32)
        far = torch().nonzero(~(rows.norms <= limit))[:, 0]  # waits for the norms, and not for the sums
        out = self._sums(rows)
        if len(far):
            out[far] = self._sums(self._operand(given[far], torch().float64))
        return out

    def _sums(self, rows: DeviceOperand) -> Any:
        vectors, n, (m, p) = self._vectors[rows.X.dtype], len(rows.X), self._W.shape
        out = torch().zeros((n, p), dtype=torch().float64, device=self.device.where)
        if not n or not m:
            return out
        if p <= FEW_OUTPUTS:
            count = torch().full((1,), n, dtype=torch().int32, device=self.device.where)
            points = torch().arange(m, dtype=torch().int32, device=self.device.where)[None]
            every = torch().full((1,), m, dtype=torch().int32, device=self.device.where)
            for column in range(p):
                total = torch().zeros((1, n), dtype=torch().float64, device=self.device.where)
                low = torch().zeros_like(total)
                weights = self._W[:, column][None].contiguous()
                self.tiles.sums(total, low, rows, None, count, vectors, points, weights, every)
                out[:, column] = (total + low)[0]
            return out
        step = max(1, DEVICE_NUMBERS // n // 64) * 64
        for start in range(0, m, step):
            some = DeviceOperand(vectors.X[start : start + step], vectors.norms[start : start + step])
            K = torch().empty((1, n, len(some.X)), dtype=rows.X.dtype, device=self.device.where)
            self.tiles.values(rows, None, some, None, K)
            self.tiles.weigh(out, K[0], self._W[start : start + step])
        return out
