"""Devices for tests: plain torch on the processor, and the CUDA source compiled for it."""

from typing import Any

import pytest

from twins.cuda_host import HostCuda, available

torch = pytest.importorskip("torch", reason="needs the extra gpu")

from adatron.devices import Device  # noqa: E402
from adatron.devices.cuda_tiles import CudaTiles  # noqa: E402
from twins.plain_tiles import PlainTiles  # noqa: E402

needs_compiler = pytest.mark.skipif(not available(), reason="needs g++")


def device(make: Any, block: int = 2048, **how: Any) -> Device:
    """Return a device on the processor that is used for fits and predictions of any size."""
    given = {"fit": 0.0, "prediction": 0.0, "bytes": 2.0e9, **how}
    return Device("twin", "twin", torch.device("cpu"), make, block=block, **given)


def plain(block: int = 2048, **how: Any) -> Device:
    """Return the device of plain torch operations."""
    return device(PlainTiles, block, **how)


def host(block: int = 64, seed: int = 1, **how: Any) -> Device:
    """Return the device that runs the CUDA source with its threads in an order drawn by the seed."""
    engine = HostCuda(seed)
    return device(lambda kernel: CudaTiles(kernel, engine), block, **how)
