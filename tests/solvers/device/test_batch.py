"""What a block asks of a device: it can be recorded, so nothing of it may be read on the processor."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from adatron.kernels import RBF
from adatron.problems import csvc, nusvr, svr

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

from adatron.devices import Device  # noqa: E402
from adatron.devices.cuda_tiles import CudaTiles  # noqa: E402
from adatron.devices.rows import DeviceRows  # noqa: E402
from adatron.solvers.device.batch import Batch  # noqa: E402

NOWHERE = torch.device("meta")  # Its arrays have no numbers: to read one, or to copy one from there, is an error.
X, y = make_classification(200, 6, n_informative=4, random_state=0)
R, t = make_regression(200, 6, random_state=0)
ONES = np.ones(200)
PROGRAMS = {
    "explicit": csvc(2.0 * y - 1.0, ONES),
    "augmented": csvc(2.0 * y - 1.0, ONES, "augmented", 2.0),
    "none": csvc(2.0 * y - 1.0, ONES, "none"),
    "kinks": svr(t, ONES, 1.0),
    "two sums": nusvr(t, ONES, 0.4),
    "signs": nusvr(t, ONES, 0.4, "augmented"),
}


class Launches:
    """An engine that launches nothing."""

    def compiled(self, source, functions):
        return self

    def launch(self, name, grid, threads, argument, shared=0):
        pass


class Near(TorchDispatchMode):
    """Fail if an operation takes or makes an array that is not on the device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for one in tree_leaves((args, kwargs, out)):
            assert not isinstance(one, torch.Tensor) or one.device == NOWHERE, func
        return out


@pytest.mark.parametrize("q", [64, 1024], ids=["blocks", "one block"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["single", "double"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_block_reads_nothing_on_the_processor(name, dtype, q):
    dual = PROGRAMS[name]
    place = Device("twin", "twin", NOWHERE, lambda kernel: CudaTiles(kernel, Launches()), bytes=1e9)
    rows = DeviceRows.of(place, RBF(0.3), R, np.arange(200), np.zeros(6), None)
    lines, zeros = np.arange(len(dual)) % 200, np.zeros(len(dual))
    batch = Batch(rows, dtype, [dual] * 2, [lines] * 2, [zeros] * 2, [-dual.t] * 2, q)
    batch.begin(np.ones(2), np.full(2, 1000))
    batch.step(first=True)
    with Near():
        batch.step()
