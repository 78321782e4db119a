"""A device: where its arrays are, what evaluates kernels there, and from which size on it is worth asking."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from ..extras import torch
from ..kernels import Kernel
from ..quoted import quoted
from .cuda_tiles import CudaTiles
from .nvrtc import Nvrtc

FIT, PREDICTION = 2e9, 2e8  # Multiply-adds below which the processor is taken to be faster: cautious ones.
MEMORY_SHARE = 0.8  # Fraction of the free memory of a device that a fit may use.
DEVICE_NAMES = "None, 'cpu', 'cuda' or 'cuda:N'"
_RECORDING = Lock()


@dataclass(frozen=True, eq=False)
class Device:
    """A place where a fit, or a prediction, computes kernel values.

    name : as the user named it
    label : what the route of a fit calls it
    where : torch's device
    make : makes the tiles of a kernel
    fit, prediction : multiply-adds from which it is used
    bytes : memory that it may use; None asks torch
    block : most variables of a block
    """

    name: str
    label: str
    where: Any
    make: Callable[[Kernel], CudaTiles]
    fit: float = FIT
    prediction: float = PREDICTION
    bytes: float | None = None
    block: int = 2048
    _made: dict[Kernel, CudaTiles] = field(default_factory=dict[Kernel, CudaTiles])

    def tiles(self, kernel: Kernel) -> CudaTiles:
        """Return the tiles of a kernel, made once."""
        if kernel not in self._made:
            if len(self._made) > 8:
                self._made.clear()
            self._made[kernel] = self.make(kernel)
        return self._made[kernel]

    def memory(self) -> float:
        """Return the bytes that a fit may use."""
        if self.bytes is not None:
            return self.bytes
        cuda = torch().cuda
        free, _ = cuda.mem_get_info(self.where)
        held = cuda.memory_reserved(self.where) - cuda.memory_allocated(self.where)
        return MEMORY_SHARE * (free + held)

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """Return a function that does the same work, launched in one go if the device can record launches."""
        if self.where.type != "cuda":
            return work
        cuda = torch().cuda
        with _RECORDING, cuda.device(self.where):  # torch allows one recording at a time
            graph, stream = cuda.CUDAGraph(), _side_stream(self.where.index)
            stream.wait_stream(cuda.current_stream())
            # torch.cuda.graph would also wait for the device, and give back the memory that torch keeps
            with cuda.stream(stream):
                graph.capture_begin(capture_error_mode="thread_local")  # other threads may launch
                try:
                    work()
                finally:
                    graph.capture_end()
        return graph.replay

    def arrived(self, rows: Any) -> Any:
        """Return rows as a tensor on the device; the copy does not wait for what the device computes now."""
        given = torch().from_numpy(np.ascontiguousarray(rows)) if isinstance(rows, np.ndarray) else rows
        if self.where.type != "cuda" or given.device == self.where:
            return given.to(self.where)
        cuda = torch().cuda
        with cuda.device(self.where):
            used_on = cuda.current_stream()
            with cuda.stream(_copies(self.where.index)):
                out = given.to(self.where)  # from plain memory: it returns when the rows have arrived
            out.record_stream(used_on)
        return out

    def __deepcopy__(self, memo: Any) -> Device:
        return self  # as it is a place, a copy of an estimator has the same one

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


def resolved(given: Any, where: Any = None) -> Device | None:
    """Return the device that a parameter asks for, or that X is on; None is the processor.

    given : None, 'cpu', 'cuda', 'cuda:N' or a Device
    where : the torch device of X if it is no processor
    """
    if isinstance(given, Device):
        return given
    if given is None:
        if where is None:
            return None
        if where.type != "cuda":
            raise ValueError(f"X is on the device {str(where)!r}, which adatron does not know. Pass X.cpu().")
        return _cuda(where.index or 0)
    name = str(given)
    if name == "cpu":
        return None
    kind, colon, number = name.partition(":")
    if kind != "cuda" or number.isdecimal() != bool(colon):
        raise ValueError(f"The 'device' parameter must be {DEVICE_NAMES}. Got {quoted(given)} instead.")
    index = int(number or 0)
    cuda = torch().cuda
    reason = unusable()
    if reason is not None:
        raise ValueError(f"device={quoted(name)} needs a GPU that torch can use, and {reason}. Leave it out.")
    if index >= cuda.device_count():
        raise ValueError(f"device={quoted(name)}: torch finds {cuda.device_count()} GPU(s), numbered from 0.")
    return _cuda(index)


def unusable() -> str | None:
    """Return the reason why torch can use no GPU, or None; an old driver is what torch warns of."""
    if torch().version.cuda is None:
        return "this torch was built without CUDA"
    with warnings.catch_warnings(record=True) as printed:
        warnings.simplefilter("always")
        if torch().cuda.is_available():
            return None
    return f"torch says: {printed[-1].message}".rstrip(". ") if printed else "torch finds none"


@contextmanager
def enough_memory(device: Device | None) -> Iterator[None]:
    """Name the device, and what helps, where it has too little memory for what is done."""
    if device is None:
        yield
        return
    try:
        yield
    except torch().OutOfMemoryError as error:
        raise MemoryError(
            f"{device.label} has too little free memory. Other programs may use it, or X itself is there. End them, "
            "pass X as a NumPy array, or pass device='cpu'."
        ) from error


@cache
def _side_stream(index: int) -> Any:
    """Return the stream on which launches are recorded; torch's own one is on the GPU that recorded first."""
    return torch().cuda.Stream(index)


@cache
def _copies(index: int) -> Any:
    """Return the stream on which rows travel to a GPU while it computes."""
    return torch().cuda.Stream(index)


@cache
def _cuda(index: int) -> Device:
    engine, where = Nvrtc(index), torch().device("cuda", index)
    label = torch().cuda.get_device_name(index)
    return Device(f"cuda:{index}", label, where, lambda kernel: CudaTiles(kernel, engine))
