"""The second-order finish on a device: Newton steps once the set of free variables has nearly settled.

Problem   one program of a batch.
Update    as ``solvers.blocks.newton``: the program over the free variables, and violators that may become free, as if
          it had no bounds. Variables that leave the box are put on their bound; a border of the factor holds them there
          while the rest is solved again. An exact line search follows, in the box, so the objective falls.
Cost      one Cholesky factorisation in float64. The costs of block ascent and of a step, in seconds of one device,
          decide when to take a step. They are counted, never measured, so the bits do not depend on a clock.
Source    as ``solvers.blocks.newton``.
"""

from __future__ import annotations

from math import inf, log
from typing import Any

import numpy as np

from ...extras import torch
from ..blocks.newton import MOST_PATIENCE
from .batch import Batch, kinks

# What a device is taken to need, by a trial on one H200.
STEP_SECONDS, LAUNCH_SECONDS = 1.0e-6, 2.0e-4  # For a step in a block, and for a block besides its steps.
VALUES_A_SECOND = 1.2e13  # Multiply-adds for kernel values.
FACTOR_A_SECOND, ENTRIES_A_SECOND = 1.5e13, 3.0e10  # Operations of a factor, and entries of its matrix.
BESIDE_SECONDS = 3.0e-3  # For a Newton step besides its factor.
JOINING = 0.25  # Fraction of the free variables that may join in a step.
ANY_CASE = 50  # Variables that may join, or leave, in any case.
WORTH_STEP = 4.5  # Multiple of a step's cost that block ascent must still cost.
DEVICE_LEAVING = 0.4  # Fraction of the variables that a step may put on a bound: a factor is cheap beside blocks.
HOLDING_ROUNDS = 20  # Most solutions in one step: each holds the variables that the last one drove out of the box.
JITTER, BORDER = 1e-10, 1e-15  # Added to the diagonals of the matrix and of its border, as a fraction of the largest.


class DeviceNewton:
    """The book-keeping that says when to take a Newton step for a program of a batch."""

    def __init__(self, memory: float) -> None:
        self.memory = memory
        self.spent, self.patience, self.paid = 0.0, 1.0, False
        self.course: list[tuple[float, float]] = []

    def book(self, batch: Batch, blocks: int, steps: int, concurrent: int) -> None:
        """Count what blocks have cost; they were shared by ``concurrent`` programs."""
        entry = batch.source.kernel.cost(batch.of.width)
        values = blocks * batch.q * (batch.q + batch.N) * entry / VALUES_A_SECOND
        self.spent += (STEP_SECONDS * steps + blocks * LAUNCH_SECONDS) / concurrent + values

    def due(self, batch: Batch, violation: float, goal: float) -> Any:
        """Return the variables of a step, on the device, if one is due; else None."""
        self.course.append((self.spent, violation))
        if not self.spent >= self.patience * BESIDE_SECONDS:  # its least price
            return None
        inside = _free(batch)
        free = int(inside.sum())
        price = self._price(free)
        if 4 * 8.0 * free * free > self.memory or self.spent < self.patience * price:
            return None
        if not self.paid and self._remaining(violation, goal) < WORTH_STEP * price:
            return None
        joining = torch().zeros_like(inside)
        for grow, shrink in batch.ends():
            mu = 0.5 * (grow.max() - shrink.max()) if batch.kind.equalities else 0.0
            joining |= ((grow - mu > goal) | (shrink + mu > goal))[0]
        ids = torch().nonzero(inside | joining)[:, 0]
        if len(ids) - free > max(ANY_CASE, JOINING * free):
            self.spent *= 0.5
            return None
        return ids

    def _price(self, free: int) -> float:
        return BESIDE_SECONDS + free**3 / 3.0 / FACTOR_A_SECOND + free * free / ENTRIES_A_SECOND

    def _remaining(self, violation: float, goal: float) -> float:
        """Return what block ascent will still cost if it keeps the pace of its last half."""
        first = self.course[0]
        middle = 0.5 * (first[0] + self.course[-1][0])
        spent, before = next((one for one in self.course if one[0] >= middle), first)
        if before <= violation:
            return inf
        return (self.spent - spent) * log(violation / goal) / log(before / violation)

    def judge(self, before: float, after: float, moved: bool) -> None:
        """Learn from a step: it has paid if it halved the violation."""
        self.paid, self.course, self.spent = moved and after < 0.5 * before, [], 0.0
        self.patience = 0.0 if self.paid else min(max(1.0, 2.0 * self.patience), MOST_PATIENCE)


def step(batch: Batch, ids: Any) -> int:
    """Take a step over some variables of the only program; return how many moved."""
    old, lower, upper, slope, A = _pieces(batch, ids)
    K = _matrix(batch, ids)
    change = _minimiser(K, old, lower, upper, slope, A)
    if change is None:
        return 0
    descent, curvature = float(-(slope @ change)), float(change @ (K @ change))
    if not (descent > 0.0 and curvature > 0.0):
        return 0
    new = torch().clamp(old + min(1.0, descent / curvature) * change, lower, upper)
    moved = torch().nonzero(new != old)[:, 0]
    batch.beta[0, ids[moved]] = new[moved]
    count = batch.source.numbers([len(moved)])
    batch.carry(batch.rows[0, ids[moved]][None].contiguous(), (new - old)[moved][None].contiguous(), count)
    return len(moved)


def _free(batch: Batch) -> Any:
    """Return the variables of the only program that are on no bound, nor on a kink."""
    beta = batch.beta[0]
    inside = (beta > batch.lower[0]) & (beta < batch.upper[0])
    return inside & (beta != 0.0) if batch.kind.epsilon else inside


def _pieces(batch: Batch, ids: Any) -> tuple[Any, ...]:
    """Return values, bounds and slopes of variables, each on its side of a kink, and the rows of A over them."""
    old, g, lower, upper = (some[0, ids] for some in (batch.beta, batch.g, batch.lower, batch.upper))
    sign = torch().ones_like(old) if batch.sign is None else batch.sign[0, ids].double()
    group = None if batch.group is None else batch.group[0, ids]
    A = [sign if group is None else sign * (group == r) for r in range(batch.kind.equalities)]
    if batch.kind.epsilon:
        h = g
        if A:  # one equality: the multiplier that is in the middle
            up, down = batch.ends()[0]
            h = g + 0.5 * (up.max() - down.max())
        plus = torch().where(old != 0.0, old, -h) > 0.0
        zero = torch().zeros_like(old)
        lower, upper = torch().where(plus, zero, lower), torch().where(plus, upper, zero)
        g = g + kinks(plus, batch.kind.epsilon)
    return old, lower, upper, g, torch().stack(A, 1) if A else old.new_zeros((len(old), 0))


def _matrix(batch: Batch, ids: Any) -> Any:
    """Return K + lambda^2 over variables, in float64."""
    K = batch.g.new_empty((1, len(ids), len(ids)))
    batch.source.block(np.float64, batch.rows[0, ids][None].contiguous(), K, batch.kind.lambda2)
    return K[0]


def _minimiser(K: Any, old: Any, lower: Any, upper: Any, slope: Any, A: Any) -> Any:
    """Return the change to the minimum in the box, as far as few variables meet a bound; None if it is not found.

    With x = -K^-1 slope and Y = K^-1 M, M being A and a column for every variable that is held, the change is x - Y v
    where v solves M'Y v = M'x - (what each column of M asks for).
    """
    raised = K.clone()
    raised.diagonal().add_(JITTER * float(K.diagonal().abs().max()))
    L, failed = torch().linalg.cholesky_ex(raised)
    del raised
    if int(failed):
        return None
    f, M = len(old), A
    solution = torch().cholesky_solve(torch().cat([-slope[:, None], A], 1), L)
    x, Y = solution[:, 0], solution[:, 1:]
    requested, held = A.new_zeros(A.shape[1]), torch().zeros(f, dtype=torch().bool, device=old.device)
    for _ in range(HOLDING_ROUNDS):
        change = x
        if M.shape[1]:
            border = M.T @ Y
            border.diagonal().add_(BORDER * float(border.diagonal().max()))
            small, failed = torch().linalg.cholesky_ex(border)
            if int(failed):
                return None
            change = x - Y @ torch().cholesky_solve((M.T @ x - requested)[:, None], small)[:, 0]
            change = torch().where(held, held_at(old, change, lower, upper), change)
        new = old + change
        out = ((new < lower) | (new > upper)) & ~held
        if not bool(torch().isfinite(change).all()):
            return None
        if not bool(out.any()):
            return change
        held |= out
        if int(held.sum()) > max(ANY_CASE, DEVICE_LEAVING * f):
            return None
        ids = torch().nonzero(out)[:, 0]
        columns = old.new_zeros((f, len(ids)))
        columns[ids, torch().arange(len(ids), device=old.device)] = 1.0
        M, Y = torch().cat([M, columns], 1), torch().cat([Y, torch().cholesky_solve(columns, L)], 1)
        requested = torch().cat([requested, (torch().clamp(new, lower, upper) - old)[ids]])
    return None


def held_at(old: Any, change: Any, lower: Any, upper: Any) -> Any:
    """Return the change that puts each variable on the bound nearest to where it goes."""
    new = old + change
    return torch().where((new - lower).abs() <= (upper - new).abs(), lower, upper) - old
