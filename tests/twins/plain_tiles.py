"""Tiles in plain torch operations, for tests.

The order of the sums in torch's products is not known, so float32 values have no proven error here. Proofs count them
as those of the CUDA source.
"""

from __future__ import annotations

from typing import Any

from adatron.devices.cuda_tiles import DeviceBlock, DeviceOperand
from adatron.devices.program import NAME_OF
from adatron.extras import torch
from adatron.kernels import Kernel
from adatron.kernels.base import ADD, MULTIPLY, SCALE
from twins.block_steps import solved

POINTS_AT_ONCE = 512  # Points of a sum at a time.
# The kernels that devices evaluate, of tensors of products s = x·z, squared norms x and z, and the numbers a, b, c.
FORMULAS = {
    "rbf": lambda s, x, z, a, b, c: (-a * (x + z - 2.0 * s).clamp(min=0.0)).exp(),
    "linear": lambda s, x, z, a, b, c: s,
    "poly": lambda s, x, z, a, b, c: (a * s + c) ** int(b),
    "sigmoid": lambda s, x, z, a, b, c: (a * s + b).tanh(),
}


def evaluated(kernel: Kernel, s: Any, x: Any, z: Any) -> Any:
    """Return k of tensors of products (..., m, n) and squared norms (..., m, 1) and (..., 1, n)."""
    stack: list[Any] = []
    for op, (a, b, c) in kernel.terms():
        if op in (ADD, MULTIPLY):
            right, left = stack.pop(), stack.pop()
            stack.append(left + right if op == ADD else left * right)
        elif op == SCALE:
            stack.append(a * stack.pop())
        else:
            stack.append(FORMULAS[NAME_OF[op]](s, x, z, a, b, c))
    return stack[0]


class PlainTiles:
    """Kernel values from torch's matrix products, and blocks that are solved step by step in NumPy."""

    sizes = (64, 256, 512, 1024, 2048)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def compile(self) -> None:
        pass

    def operand(self, X: Any) -> DeviceOperand:
        return DeviceOperand(X, (X * X).sum(1))

    def _of(self, A: DeviceOperand, rows: Any, B: DeviceOperand, points: Any) -> Any:
        X, x = (A.X, A.norms) if rows is None else (A.X[rows.long()], A.norms[rows.long()])
        Z, z = (B.X, B.norms) if points is None else (B.X[points.long()], B.norms[points.long()])
        return evaluated(self.kernel, X @ Z.T, x[:, None], z[None])

    def values(
        self,
        A: DeviceOperand,
        rows: Any,
        B: DeviceOperand,
        points: Any,
        out: Any,
        added: float = 0.0,
        active: Any = None,
    ) -> None:
        for b in range(len(out)):
            if active is None or active[b]:
                own = (None if some is None else some[b] for some in (rows, points))
                out[b] = self._of(A, next(own), B, next(own)) + added

    def sums(
        self,
        out: Any,
        low: Any,
        A: DeviceOperand,
        rows: Any,
        nrows: Any,
        B: DeviceOperand,
        points: Any,
        weights: Any,
        npoints: Any,
    ) -> None:
        for b in range(len(out)):
            m, n = int(nrows[b]), int(npoints[b])
            own = torch().arange(m) if rows is None else rows[b, :m]
            for start in range(0, n, POINTS_AT_ONCE):
                some = slice(start, min(n, start + POINTS_AT_ONCE))
                out[b, :m] += self._of(A, own, B, points[b, some]).double() @ weights[b, some]

    def weigh(self, out: Any, K: Any, W: Any) -> None:
        out += K.double() @ W

    def ascend(self, block: DeviceBlock) -> None:
        for b in range(len(block.K)):
            if not block.active[b]:
                block.counts[b] = block.steps[b] = 0
                block.changes[b] = 0.0
                continue
            places = block.places[b]
            here = (block.beta, block.g, block.lower, block.upper)
            old, g, lower, upper = (values[b, places].numpy() for values in here)
            sign = None if block.sign is None else block.sign[b, places].numpy()
            group = None if block.group is None else block.group[b, places].numpy()
            how = float(block.tolerance[b]), int(block.most[b]), block.epsilon, block.groups
            new, used = solved(block.K[b].numpy(), old, g, lower, upper, block.valid[b].numpy() != 0, sign, group, *how)
            moved = torch().from_numpy((new != old).nonzero()[0])
            count, change = len(moved), torch().from_numpy(new - old)
            block.changes[b] = 0.0
            block.points[b, :count], block.changes[b, :count] = block.rows[b, places[moved]], change[moved]
            block.beta[b, places[moved]] = torch().from_numpy(new)[moved]
            block.counts[b], block.steps[b] = count, used
