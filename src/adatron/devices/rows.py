"""The samples of a fit on a device, and sums of their kernel values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..extras import torch
from ..kernels import Kernel
from .cuda_tiles import CudaTiles
from .device import Device
from .stores import AT_ONCE, DeviceLines, DeviceStore, GivenSamples, Ids, Resident, Streamed, width_of

RESIDENT = 12, 4, 0  # Bytes on the device for each number of X: float32 and float64 rows, the first alone, or none.
PROBED = 24  # Rows whose kernel values are compared with those of the processor.
COMPARED_ROWS = 16  # Rows of a sum that the processor computes, too.


class DeviceRows(NamedTuple):
    """Samples on a device, in both precisions, centred if the kernel allows.

    device, kernel, tiles : where they are, and what evaluates the kernel there
    single, double : the samples
    """

    device: Device
    kernel: Kernel
    tiles: CudaTiles
    single: DeviceStore
    double: DeviceStore

    @classmethod
    def of(
        cls, device: Device, kernel: Kernel, X: Any, ids: Ids, center: NDArray[np.float64], device_X: Any,
        resident: int = RESIDENT[0],
    ) -> DeviceRows:  # fmt: skip
        """Return rows ``ids`` of X on a device.

        X : (n, d) NumPy array
        center : (d,) is subtracted in float64
        device_X : X as a tensor if it is on the device already, else None
        resident : one of ``RESIDENT``; what is not on the device travels there when it is needed
        """
        tiles, given = device.tiles(kernel), device_X
        if device_X is None and resident and 2 * len(ids) > len(X):
            device_X = moved_once(device, X)  # as a whole: it would take the processor longer to gather rows
        samples = GivenSamples.of(device.where, X, ids, center, device_X, device.memory())
        if resident == RESIDENT[0]:
            double = Resident.of(tiles, samples, torch().float64)
            return cls(device, kernel, tiles, Resident(tiles, double.all.X.to(torch().float32)), double)
        make = Resident.of if resident else Streamed
        single = make(tiles, samples, torch().float32)
        return cls(device, kernel, tiles, single, Streamed(tiles, replace(samples, device_X=given), torch().float64))

    def store(self, dtype: Any) -> DeviceStore:
        """Return the samples in the precision of a NumPy type."""
        return self.single if np.dtype(dtype).itemsize == 4 else self.double

    def numbers(self, ids: Any, dtype: Any = np.int32) -> Any:
        """Return NumPy numbers as a tensor on the device."""
        return torch().from_numpy(np.ascontiguousarray(ids, dtype)).to(self.device.where)

    def lines(self, ids: Sequence[Ids], length: int) -> DeviceLines:
        """Return the lines of several problems, padded to a length."""
        padded = np.zeros((len(ids), length), np.int32)
        for own, some in zip(padded, ids, strict=True):
            own[: len(some)] = some
        return DeviceLines(ids, self.numbers(padded), self.numbers([len(some) for some in ids]))

    def near(self, lines: Ids, dtype: Any) -> tuple[DeviceRows, Ids]:
        """Return rows of which these lines are on the device if there is room, and their numbers there.

        They serve this type, and float64, by which Newton steps go.
        """
        store = self.store(dtype)
        size = len(lines) * store.width * np.dtype(dtype).itemsize
        if store.resident or 4.0 * size > self.device.memory():
            return self, lines
        operand, numbers = store.fetched(self.numbers(lines)[None])
        own = Resident(self.tiles, operand.X)
        if store is self.double:
            here = self._replace(double=own)
        else:
            assert isinstance(self.double, Streamed)  # noqa: S101 (for the type checker)
            here = self._replace(single=own, double=self.double.part(lines))
        return here, numbers[0].cpu().numpy().astype(np.int64)

    def block(self, dtype: Any, lines: Any, out: Any, added: float, active: Any = None) -> None:
        """Set out (B, q, q) to the values among lines (B, q), see ``CudaTiles.values``."""
        some, numbers = self.store(dtype).fetched(lines)
        self.tiles.values(some, numbers, some, numbers, out, added, active)

    def sums(self, rows: Ids, points: Ids, V: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
        """Return K[rows, points] @ V for V (|points|, p), from values of a type and sums in float64."""
        out = np.zeros((len(rows), V.shape[1]))
        if not len(points) or not len(rows):
            return out
        store, lines = self.store(dtype), self.lines([rows], len(rows))
        columns, count = self.numbers(points)[None], self.numbers([len(points)])
        for j, v in enumerate(V.T):
            total = torch().zeros((1, len(rows)), dtype=torch().float64, device=self.device.where)
            low = torch().zeros_like(total)
            store.add(total, low, lines, columns, self.numbers(v, np.float64)[None], count)
            out[:, j] = (total + low)[0].cpu().numpy()
        return out

    def probe(self, X: Any, ids: Ids, center: NDArray[np.float64], bounds: tuple[float, float]) -> None:
        """Fail unless some kernel values agree with those of the processor, within the proven errors of both.

        bounds : of values in float32 and in float64
        """
        n = len(ids)
        some = np.unique(np.arange(PROBED) * max(0, n - 1) // (PROBED - 1)) if n else np.zeros(0, np.int64)
        given = np.asarray(X[ids[some]], np.float64) - center
        truth = self.kernel(given, given) if len(some) else np.zeros((0, 0))
        for dtype, bound in zip((np.float32, np.float64), bounds, strict=True):
            K = torch().empty((1, *truth.shape), dtype=getattr(torch(), np.dtype(dtype).name), device=self.device.where)
            self.block(dtype, self.numbers(some)[None], K, 0.0)
            off = float(np.abs(K[0].cpu().numpy() - truth).max(initial=0.0))
            if not off <= bound + bounds[1]:
                name = np.dtype(dtype).name
                raise RuntimeError(
                    f"{self.device.label} returns {name} kernel values that are off by {off:.3g}; at most {bound:.3g} "
                    "is allowed. Pass device='cpu', and please report this."
                )


def moved_once(device: Device, X: NDArray[Any]) -> Any:
    """Return X as a tensor on a device for many fits of it, or None if there is no room for it beside their rows."""
    n, d = X.shape
    if X.nbytes + 2.0 * room_for(X, n) > device.memory():
        return None
    out = torch().empty((n, d), dtype=torch().from_numpy(X[:0]).dtype, device=device.where)
    step = max(1, AT_ONCE // max(1, d))
    for start in range(0, n, step):
        out[start : start + step] = torch().from_numpy(X[start : start + step])
    return out


def room_for(X: Any, rows: int, resident: int = RESIDENT[0]) -> float:
    """Return the bytes that this number of rows takes on a device; infinite for CSR rows."""
    return np.inf if sparse.issparse(X) else float(resident) * rows * width_of(X.shape[1])


@dataclass(frozen=True)
class OnDevice:
    """Some of the rows on a device.

    lines : the line of ``rows`` behind each row
    """

    rows: DeviceRows
    lines: Ids

    def take(self, ids: Ids) -> OnDevice:
        """Return some of these rows."""
        return OnDevice(self.rows, self.lines[ids])

    def accumulate(self, out: NDArray[np.float64], rows: Ids, points: Ids, V: NDArray[np.float64], dtype: Any) -> None:
        """Add K[rows, points] @ V to out, by values of a type."""
        out += self.rows.sums(self.lines[rows], self.lines[points], V, dtype)

    def exact(self, rows: Ids, points: Ids, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return K[rows, points] @ v in double precision."""
        return self.rows.sums(self.lines[rows], self.lines[points], v[:, None], np.float64)[:, 0]

    def norms(self, dtype: Any) -> NDArray[Any]:
        """Return squared norms as the tiles have them."""
        return self.rows.store(dtype).norms[self.lines]


def checked_rows(n: int) -> Ids:
    """Return the places, among n rows of a sum, that the processor computes, too."""
    return np.unique(np.arange(COMPARED_ROWS) * max(0, n - 1) // (COMPARED_ROWS - 1))


def refuse_different(
    label: str, found: NDArray[np.float64], truth: NDArray[np.float64], errors: NDArray[np.float64]
) -> None:
    """Fail unless sums of a device are those of the processor, within the proven errors of both."""
    off = np.abs(found - truth)
    if not (off <= 2.0 * errors + 1e-300).all():
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        raise RuntimeError(
            f"{label} returned a sum of kernel values that is off by {off[worst]:.3g}; at most "
            f"{2.0 * errors[worst]:.3g} is allowed. Nothing it computed can be proven. Pass device='cpu', and please "
            "report this."
        )
