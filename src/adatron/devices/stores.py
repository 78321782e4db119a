"""The places of the rows of a fit in one precision: the device, or the processor's memory, from where they travel.

A row's sum depends on that row, the points and the order of the points. So its bits do not depend on where rows are,
nor on how many of them travel at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from ..extras import torch
from .cuda_tiles import DEEP, CudaTiles, DeviceOperand

AT_ONCE = 1 << 25  # Numbers that travel, or are gathered, at a time.


class DeviceLines(NamedTuple):
    """The lines of rows of B problems: ``ids`` on the processor, and ``padded`` (B, N) int32 on the device.

    ``counts`` (B,) int32: how many there are.
    """

    ids: Sequence[Ids]
    padded: Any
    counts: Any


@dataclass(frozen=True)
class GivenSamples:
    """The samples as they are given: rows ``ids`` of X, from which ``center`` is subtracted in float64.

    where : torch's device
    device_X : X as a tensor if it is on the device already, else None
    step : rows that travel at a time
    """

    where: Any
    X: Any
    ids: Ids
    center: NDArray[np.float64]
    device_X: Any
    step: int

    @classmethod
    def of(
        cls, where: Any, X: Any, ids: Ids, center: NDArray[np.float64], device_X: Any, memory: float
    ) -> GivenSamples:
        """Return the samples; as many rows travel at a time as fit into a small part of the memory."""
        numbers = min(AT_ONCE, int(memory) >> 8)
        return cls(where, X, ids, center, device_X, max(1, numbers // width_of(X.shape[1])))

    @property
    def width(self) -> int:
        """The features of a row on the device."""
        return width_of(self.X.shape[1])

    def __len__(self) -> int:
        return len(self.ids)

    def parts(self) -> Iterator[slice]:
        """Return ranges of rows that travel together."""
        return (slice(start, min(len(self), start + self.step)) for start in range(0, len(self), self.step))

    def moved(self, lines: Any, dtype: Any) -> Any:
        """Return some rows on the device as the tiles take them, (m, width)."""
        some, d = self.ids[lines], self.X.shape[1]
        out = torch().zeros((len(some), self.width), dtype=dtype, device=self.where)
        if self.device_X is None:
            part = torch().from_numpy(np.ascontiguousarray(self.X[some])).to(self.where)
        else:
            part = self.device_X[torch().from_numpy(some).to(self.where)]
        out[:, :d] = (part.to(torch().float64) - torch().from_numpy(self.center).to(self.where)).to(dtype)
        return out


class Resident:
    """Rows on the device, in one precision.

    resident : whether they are on the device
    width : features of a row, padded
    norms : the squared norms as the tiles have them
    """

    resident = True

    def __init__(self, tiles: CudaTiles, X: Any) -> None:
        self.tiles, self.all, self.width = tiles, tiles.operand(X), X.shape[1]

    @classmethod
    def of(cls, tiles: CudaTiles, samples: GivenSamples, dtype: Any) -> Resident:
        """Move all samples to the device."""
        X = torch().empty((len(samples), samples.width), dtype=dtype, device=samples.where)
        for some in samples.parts():
            X[some] = samples.moved(some, dtype)
        return cls(tiles, X)

    def fetched(self, lines: Any) -> tuple[DeviceOperand, Any]:
        """Return an operand on the device that has these lines, (B, m) int32, and their numbers in that operand."""
        return self.all, lines

    def add(self, out: Any, low: Any, lines: DeviceLines, points: Any, weights: Any, counts: Any) -> None:
        """Add to out + low (B, N) the weighted sums over points (B, p), of which ``counts`` (B,) are in use."""
        self.tiles.sums(out, low, self.all, lines.padded, lines.counts, self.all, points, weights, counts)

    @cached_property
    def norms(self) -> NDArray[Any]:
        return self.all.norms.cpu().numpy()


class Streamed:
    """Rows that travel to the device whenever they are needed, with the methods of ``Resident``.

    Float32 rows are made once, in memory from which a GPU copies by itself. Float64 rows, which the proofs need, are
    made of X each time. All work is in the order of one stream: nothing reads rows before they have arrived.
    """

    resident = False

    def __init__(self, tiles: CudaTiles, samples: GivenSamples, dtype: Any) -> None:
        self.tiles, self.samples, self.dtype, self.width = tiles, samples, dtype, samples.width
        self._pinned = None
        if dtype == torch().float32 and samples.device_X is None:
            pinned = samples.where.type == "cuda"
            self._pinned = torch().empty((len(samples), self.width), dtype=dtype, device="cpu", pin_memory=pinned)
            for some in samples.parts():
                self._pinned[some] = samples.moved(some, dtype).cpu()

    def _moved(self, lines: Ids) -> DeviceOperand:
        if self._pinned is None:
            return self.tiles.operand(self.samples.moved(lines, self.dtype))
        if len(lines) and lines[-1] - lines[0] == len(lines) - 1 and (np.diff(lines) == 1).all():
            some = self._pinned[int(lines[0]) : int(lines[-1]) + 1]
        else:
            some = self._pinned[torch().from_numpy(lines)]
        return self.tiles.operand(some.to(self.samples.where, non_blocking=some.is_pinned()))

    def part(self, lines: Ids) -> Streamed:
        """Return some of the rows, which travel as well."""
        return Streamed(self.tiles, replace(self.samples, ids=self.samples.ids[lines]), self.dtype)

    def fetched(self, lines: Any) -> tuple[DeviceOperand, Any]:
        numbers = torch().arange(lines.numel(), dtype=torch().int32, device=lines.device)
        return self._moved(lines.cpu().numpy().astype(np.int64).ravel()), numbers.view(lines.shape)

    def add(self, out: Any, low: Any, lines: DeviceLines, points: Any, weights: Any, counts: Any) -> None:
        for b, ids in enumerate(lines.ids):
            own = slice(b, b + 1)
            near, numbers = self.fetched(points[own])
            for start in range(0, len(ids), self.samples.step):
                some = ids[start : start + self.samples.step]
                rows, here = self._moved(some), (own, slice(start, start + len(some)))
                count = torch().full((1,), len(some), dtype=torch().int32, device=out.device)
                self.tiles.sums(out[here], low[here], rows, None, count, near, numbers, weights[own], counts[own])

    @cached_property
    def norms(self) -> NDArray[Any]:
        parts = [self._moved(np.arange(some.start, some.stop)).norms.cpu().numpy() for some in self.samples.parts()]
        return np.concatenate(parts) if parts else np.zeros(0)


DeviceStore = Resident | Streamed


def width_of(features: int) -> int:
    """Return the features of a row on a device: a multiple of what a tile takes at a time."""
    return -(-features // DEEP) * DEEP
