"""Programs on a device, padded to one length, and block ascent on all of them at once.

Problem   programs of ``problems.dual`` of one kind (equalities, signs, lambda^2, epsilon) with finite bounds.
Update    a block of each program keeps half of its q variables; the worst violators, from both ends and of each
          equality alike, take the other places. The matrices of all blocks are made. One thread block solves each, as
          ``solvers.dense`` does by pairs or single variables, to the part 0.3 min(1, r^2) of the violation; r is
          the violation divided by the one before the last block. Then g += K[:, P] (change of beta on P).
Stop      the violation of each program is at most its goal, or none of its blocks has moved anything.
Source    as ``solvers.blocks.block``.

Nothing here looks at a clock or at a number of cores: the same data give the same bits on the same kind of device.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Ids, Vector
from ...devices.cuda_tiles import DeviceBlock
from ...devices.rows import DeviceRows
from ...devices.stores import DeviceLines
from ...extras import torch
from ...problems import Dual
from ..blocks.shard import AROUND, CLOSE_TO, LARGEST_PART
from ..dense import BLOCK_STEPS
from ..loop import CLOSEST, OF_BLOCKS

LOOSEST_BLOCK = 0.3  # Largest fraction of the violation to which a block is solved: steps cost more than the matrix.
EAGER = 3  # Blocks before launches are recorded: all memory is then in use.
IDLE_BLOCKS = 3  # Blocks of a program that move nothing after which it is stuck.


class BatchKind(NamedTuple):
    """The common properties of the programs of a batch."""

    equalities: int
    grouped: bool
    signed: bool
    lambda2: float
    epsilon: float

    @classmethod
    def of(cls, dual: Dual) -> BatchKind:
        return cls(len(dual.totals), dual.row is not None, dual.sign is not None, dual.lambda2, dual.epsilon)


class Seen(NamedTuple):
    """The state of a batch, (B,) each: violations before the last block, idle blocks, steps, objectives."""

    violation: Vector
    idle: Vector
    steps: Vector
    objective: Vector


class Batch:
    """B programs over rows of a device, each at a point with its gradient.

    Parameters
    ----------
    rows : the samples
    dtype : type of the kernel values
    duals : the programs, of one kind
    lines : the line of ``rows`` behind each variable of each program
    betas, gradients : where each program is
    q : variables of a block
    """

    def __init__(
        self,
        rows: DeviceRows,
        dtype: Any,
        duals: Sequence[Dual],
        lines: Sequence[Ids],
        betas: Sequence[Vector],
        gradients: Sequence[Vector],
        q: int,
    ) -> None:
        self.device, self.tiles, self.of, self.kind = rows.device, rows.tiles, rows.store(dtype), BatchKind.of(duals[0])
        self.source, self.dtype, self.q = rows, dtype, q
        self.sizes = [len(dual) for dual in duals]
        B, N = len(duals), max(q, *self.sizes)
        self.B, self.N = B, N
        self.lines = rows.lines(lines, N)
        self.rows = self.lines.padded
        self.t, self.lower, self.upper = (
            self._padded([getattr(dual, name) for dual in duals], np.float64) for name in ("t", "lower", "upper")
        )
        self.beta, self.g = self._padded(betas, np.float64), self._padded(gradients, np.float64)
        self.group = self._padded([dual.row for dual in duals], np.int8) if self.kind.grouped else None
        self.sign = self._padded([dual.sign for dual in duals], np.int8) if self.kind.signed else None
        self._work()

    def _padded(self, parts: Sequence[Any], dtype: Any) -> Any:
        """Return vectors as lines of one array; padding has bounds of 0, so it cannot move."""
        out = np.zeros((self.B, self.N), dtype)
        for line, part in zip(out, parts, strict=True):
            line[: len(part)] = part
        return torch().from_numpy(out).to(self.device.where)

    def _work(self) -> None:
        """Make the arrays that blocks need, once: recorded launches write to the same places."""
        B, q, new = self.B, self.q, self._new
        real = torch().float32 if np.dtype(self.dtype).itemsize == 4 else torch().float64
        self.K = torch().empty((B, q, q), dtype=real, device=self.device.where)
        self.places, self.valid = new((B, q), "int64"), new((B, q), "uint8")
        self.points, self.changes = new((B, q), "int32"), new((B, q), "float64")
        self.counts, self.steps, self.active, self.most = (new((B,), "int32") for _ in range(4))
        self.goal, self.before, self.violation, self.tolerance, self.path = (new((B,), "float64") for _ in range(5))
        self.total, self.idle, self.left = (new((B,), "int64") for _ in range(3))
        self.low = new((B, self.N), "float64")
        self.blocks, self._replay = 0, None

    def _new(self, shape: tuple[int, ...], dtype: str) -> Any:
        return torch().zeros(shape, dtype=getattr(torch(), dtype), device=self.device.where)

    @property
    def is_all(self) -> bool:
        """Whether each program is one block."""
        return self.q >= self.N

    def only(self, number: int) -> Batch:
        """Return one of the programs: what changes it changes the batch, too. It takes no blocks."""
        own, out = slice(number, number + 1), copy(self)
        for name in ("t", "lower", "upper", "beta", "g", "low", "rows", "group", "sign", "path", "idle", "left"):
            every = getattr(self, name)
            setattr(out, name, None if every is None else every[own])
        out.B, out.sizes = 1, self.sizes[own]
        out.lines = DeviceLines(self.lines.ids[own], out.rows, self.lines.counts[own])
        return out

    # -- where the programs are

    def ends(self) -> list[tuple[Any, Any]]:
        """Return what each variable gains as its part of an equality grows, and shrinks, (B, N); -inf if it cannot.

        There is a pair for every equality, or one for all variables without an equality.
        """
        low, e, beta, g = float("-inf"), self.kind.epsilon, self.beta, self.g
        up, down = (-g, g) if not e else (-g - kinks(beta >= 0, e), g + kinks(beta > 0, e))
        up, down = up.masked_fill(beta >= self.upper, low), down.masked_fill(beta <= self.lower, low)
        if self.sign is not None:
            plus = self.sign > 0
            up, down = torch().where(plus, up, down), torch().where(plus, down, up)
        if self.group is None:
            return [(up, down)]
        return [(up.masked_fill(self.group != r, low), down.masked_fill(self.group != r, low))
                for r in range(self.kind.equalities)]  # fmt: skip

    def violations(self, ends: list[tuple[Any, Any]]) -> Any:
        """Return the violation of each program, (B,), see ``kkt_violation``."""
        join = torch().add if self.kind.equalities else torch().maximum
        found = [join(up.amax(1), down.amax(1)) for up, down in ends]
        worst = found[0] if len(found) == 1 else torch().maximum(*found)
        return worst.clamp(min=0.0)

    def objectives(self) -> Any:
        """Return the objective of each program, (B,), by the gradient that is tracked."""
        return 0.5 * (self.beta * (self.g - self.t)).sum(1) + self.kind.epsilon * self.beta.abs().sum(1)

    # -- a block of each program

    def _choose(self, keep: Any) -> tuple[Any, Any]:
        """Return the worst violators that are not kept, and whether they may move at all, (B, q - kept) each.

        keep : variables that are kept, and whether they may move; None to keep none
        """
        ends = self.ends()
        violation = self.violations(ends)
        ratio = torch().where(self.before > 0, violation / self.before, torch().ones_like(violation))
        close = (OF_BLOCKS[0] * ratio * ratio).clamp(max=LOOSEST_BLOCK) * violation * (0.0 if self.is_all else 1.0)
        self.tolerance.copy_(torch().maximum(close, CLOSEST * self.goal))
        self.active.copy_((violation > self.goal).to(torch().int32))
        self.violation.copy_(violation)
        self.before.copy_(violation)
        if self.is_all:
            everything = torch().arange(self.q, device=self.device.where).expand(self.B, -1)
            return everything, torch().ones_like(everything, dtype=torch().uint8)
        if not self.kind.equalities:
            ends = [(torch().maximum(*ends[0]),)]
        lists = [scores for pair in ends for scores in pair]
        low, chosen, room = float("-inf"), [], self.q
        if keep is not None:
            # A list that was too short has been filled up with any variables, which may not move.
            taken = torch().zeros_like(self.rows).scatter_add_(1, keep[0], keep[1].to(torch().int32)) > 0
            lists, room = [scores.masked_fill(taken, low) for scores in lists], room - keep[0].shape[1]
        for number, scores in enumerate(lists):
            values, ids = scores.topk(room // len(lists), dim=1, sorted=False)
            chosen.append((ids, values > low))
            for others in lists[number + 1 :]:
                others.scatter_(1, ids, others.gather(1, ids).masked_fill(values > low, low))
        return torch().cat([ids for ids, _ in chosen], 1), torch().cat([ok for _, ok in chosen], 1).to(torch().uint8)

    def step(self, first: bool = False) -> None:
        """Solve a block of each program whose violation is above its goal, and carry the changes over to g."""
        half = self.q // 2
        if first or self.is_all:
            ids, valid = self._choose(None)
        else:
            keep, kept = self.places[:, half:].contiguous(), self.valid[:, half:]
            ids, valid = self._choose((keep, kept))
            ids, valid = torch().cat([keep, ids], 1), torch().cat([kept, valid], 1)
        self.places.copy_(ids)
        self.valid.copy_(valid)
        self.most.copy_(self.left.clamp(max=BLOCK_STEPS * self.q))
        self.source.block(self.dtype, self.rows.gather(1, self.places), self.K, self.kind.lambda2, self.active)
        self.tiles.ascend(
            DeviceBlock(
                self.K, self.places, self.valid, self.beta, self.g, self.lower, self.upper, self.sign, self.group,
                self.rows, self.tolerance, self.active, self.most, self.points, self.changes, self.counts, self.steps,
                self.kind.epsilon, self.kind.equalities,
            )
        )  # fmt: skip
        self.carry(self.points, self.changes, self.counts)
        self.total += self.steps
        self.left -= self.steps
        self.idle.add_(1).mul_((self.active > 0) & (self.counts == 0))

    def carry(self, points: Any, changes: Any, counts: Any) -> None:
        """Add changes (B, p) of the variables over some lines to g; those beyond ``counts`` are 0."""
        self.of.add(self.g, self.low, self.lines, points, changes, counts)
        self.g += self.low
        self.low.zero_()
        if self.kind.lambda2:
            self.g += self.kind.lambda2 * changes.sum(1, keepdim=True)
        self.path += changes.abs().sum(1)

    def advance(self, times: int) -> None:
        """Solve blocks, one after the other."""
        if self.blocks == 0:
            self.step(first=True)
            self.blocks += 1
            times -= 1
        if self._replay is None and self.blocks >= EAGER and self.of.resident:
            self._replay = self.device.recorded(self.step)
        for _ in range(times):
            (self._replay or self.step)()
        self.blocks += times

    def begin(self, goals: Vector, most: Ids) -> None:
        """Set the goal of each program, infinity for none, and the steps that are left to it."""
        self.goal.copy_(self.source.numbers(goals, np.float64))
        self.left.copy_(self.source.numbers(most, np.int64))
        self.before.zero_()
        self.idle.zero_()

    def seen(self) -> Seen:
        """Return where the programs are, in one message."""
        parts = self.violation, self.idle, self.total, self.objectives()
        return Seen(*torch().stack([part.double() for part in parts]).cpu().numpy())

    def point(self, number: int) -> tuple[Vector, Vector]:
        """Return beta and g of a program."""
        size = self.sizes[number]
        return tuple(some[number, :size].cpu().numpy() for some in (self.beta, self.g))  # pyright: ignore


def kinks(plus: Any, epsilon: float) -> Any:
    """Return the slope of epsilon |beta| on one side; torch takes two plain numbers for float32."""
    return plus.double().mul_(2.0 * epsilon).sub_(epsilon)


def block_size(tiles_sizes: Sequence[int], most: int, wanted: int) -> int:
    """Return the variables of a block: as many as wanted, or the fewest that hold the largest program."""
    fitting = [size for size in sorted(tiles_sizes) if size >= min(most, wanted)]
    return fitting[0] if fitting else max(tiles_sizes)


DEVICE_FIRST_PART = 20  # The first part has one variable in this many.


def near(batch: Batch, tol: float) -> Any:
    """Return the variables of the only program to solve on their own, on the device; None if they are too many."""
    n = batch.sizes[0]
    if not bool(batch.beta.any()):
        return torch().arange(0, n, DEVICE_FIRST_PART, device=batch.device.where)
    inward = None
    for up, down in batch.ends():
        mu = 0.5 * (up.max() - down.max()) if batch.kind.equalities else 0.0
        own = torch().maximum(up - mu, down + mu)[0, :n]
        inward = own if inward is None else torch().maximum(inward, own)
    assert inward is not None  # noqa: S101 (for the type checker)
    beta = batch.beta[0, :n]
    free = (beta > batch.lower[0, :n]) & (beta < batch.upper[0, :n])
    move = (inward > tol) | (free & (beta != 0.0) if batch.kind.epsilon else free)
    moving, most = int(move.sum()), n // LARGEST_PART
    if moving > CLOSE_TO * most:
        return None
    inward[move] = float("inf")
    return inward.topk(min(max(int(AROUND * moving), 2 * batch.q), most), sorted=False).indices.sort().values
