"""The gradient of a slab's samples in one program, between one task and the next.

The state is a cache. Its version counts the changes that it has had. A task says which version it needs. If the slab
has none, or another one, the task answers so, and the coordinator tells it again: an earlier gradient, and the changes
since, in their order. So a gradient that was lost comes back with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..gram import View
from ..gram.points import Points
from ..problems import Dual
from ..solvers.blocks.shard import STRIPE, Shard, Violators, worst
from .partition import Ids, Vector
from .sent import Kept, compact
from .slab import Lens, Run, Slab, points_of


@dataclass(frozen=True)
class Program:
    """The part of a program that a slab has.

    lens, runs : the kernel matrix over the slab's rows, a segment for each run
    groups : the segments of the program's variables
    numbers : the number, in the whole program, of the first variable of each group
    dual : the program of the slab's variables, with ``Packed`` arrays
    total : how many variables the whole program has
    """

    lens: Lens
    runs: Sequence[Run]
    groups: list[int]
    numbers: list[int]
    dual: Packed
    total: int


class Packed(NamedTuple):
    """A program whose arrays mostly repeat the value before, as those of classes without weights do."""

    dual: Dual
    arrays: dict[str, tuple[Ids, NDArray[Any]] | NDArray[Any] | None]

    @classmethod
    def of(cls, dual: Dual) -> Packed:
        names = ("t", "lower", "upper", "row", "sign")
        nothing = np.zeros(0)
        return cls(replace(dual, t=nothing, lower=nothing, upper=nothing, row=None, sign=None),
                   {name: _pack(getattr(dual, name)) for name in names})  # fmt: skip

    def unpacked(self) -> Dual:
        return replace(self.dual, **{name: _unpack(values) for name, values in self.arrays.items()})


def _pack(values: NDArray[Any] | None) -> tuple[Ids, NDArray[Any]] | NDArray[Any] | None:
    if values is None or not len(values):
        return values
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    if 4 * len(starts) > len(values):
        return values
    return np.append(starts, len(values)), values[starts]


def _unpack(values: Any) -> NDArray[Any] | None:
    return np.repeat(values[1], np.diff(values[0])) if isinstance(values, tuple) else values


class Edit(NamedTuple):
    """A change of the variables: the points and weights that change the gradient.

    places : where each point is on the slab; new points are behind the first ``before`` ones
    v : the weight of each point
    constant : what is added to every gradient
    stored : numbers of the points, and whether they will be asked for again; None if no kernel values are stored
    """

    places: NDArray[Any]
    before: int
    v: Vector
    constant: float
    stored: tuple[NDArray[Any], NDArray[np.uint8] | None] | None


class Worst(NamedTuple):
    """The worst violators of a slab in one direction, by their places among its variables."""

    places: NDArray[Any]
    values: Vector


class Report(NamedTuple):
    """The result of a survey of the variables of a slab.

    ends : for each equality, the worst violators that could grow and shrink
    most : how many were asked for; there are no others if a list is shorter
    terms : of each variable that is not 0 its term of beta'(g - t), unless the slab has its whole stripe
    sums : of each whole stripe of variables (see ``Shard``) the sum of these terms
    """

    ends: list[tuple[Worst, Worst]]
    most: int
    terms: Vector
    sums: dict[int, float]
    worker: str


class Lost(NamedTuple):
    """The state is not there, or is of another version."""

    worker: str


@dataclass
class State:
    """beta and g of a slab's variables."""

    program: Program
    version: int
    beta: Vector
    g: Vector
    shard: Shard
    ids: Ids
    points: Kept
    before: Vector | None = None

    @classmethod
    def of(cls, slab: Slab, program: Program, version: int, beta: Vector, g: Vector | None) -> State:
        gram = slab.gram(program.lens, program.runs)
        view, dual = View.of(gram, program.groups), program.dual.unpacked()
        g = -dual.t if g is None else g.copy()
        ids = np.concatenate([first + np.arange(n) for first, n in
                              zip(program.numbers, np.diff(view.offsets), strict=True)])  # fmt: skip
        return cls(program, version, beta, g, Shard(view, 0, dual, beta, g), ids, Kept())

    def has(self, edit: Edit) -> bool:
        """Return whether the points of a change are here, except for the new ones."""
        return self.points.count >= edit.before

    def apply(self, edit: Edit, parts: Sequence[Any], keep: bool) -> None:
        """Carry a change over to the gradient; if time runs out, the gradient stays what it was."""
        view, before = self.shard.view, self.g.copy() if keep else None
        if parts:
            self.points.add(edit.before, parts)
        try:
            if len(edit.places):
                view.accumulate(self.g[:, None], self._points(edit), edit.v[:, None])
            if edit.constant:
                self.g += edit.constant
        except BaseException:
            if before is not None:
                self.g[:] = before
            else:
                self.version = -1  # half of a change is in it
            raise
        self.before = before

    def _points(self, edit: Edit) -> Points:
        source, rows = self.shard.view.gram.source, self.points.take(edit.places)
        if edit.stored is None:
            return points_of(source, rows)
        ids, again = edit.stored
        points = points_of(source, rows, ids.astype(np.int64))
        return points if again is None else replace(points, again=np.unpackbits(again, count=len(ids)).astype(bool))

    def report(self, worker: str, most: int) -> Report:
        found = self.shard.survey(most)
        ends = [(_worst(one.grow, most), _worst(one.shrink, most)) for one in found.ends]
        return Report(ends, most, *self._terms(), worker)

    def _terms(self) -> tuple[Vector, dict[int, float]]:
        sums, terms, t = {}, [np.zeros(0)], self.shard.dual.t
        stripes, starts = np.unique(self.ids // STRIPE, return_index=True)
        for stripe, a, b in zip(stripes.tolist(), starts, [*starts[1:], len(self.ids)], strict=False):
            own = self.beta[a:b] * (self.g[a:b] - t[a:b])
            if b - a == min(STRIPE, self.program.total - stripe * STRIPE):
                sums[stripe] = in_order(own)
            else:
                terms.append(own[self.beta[a:b] != 0.0])
        return np.concatenate(terms), sums


def in_order(values: Vector) -> float:
    """Return the sum of values, one after the other."""
    return float(np.cumsum(values)[-1]) + 0.0 if len(values) else 0.0


def _here() -> str:
    from distributed import get_worker

    try:
        return get_worker().address
    except ValueError:
        return ""


def _worst(some: Violators, most: int) -> Worst:
    found = worst(some, most)
    return Worst(compact(found.ids), found.values)


def step(
    slab: Slab, key: str, version: int, beta: tuple[NDArray[Any], Vector], edit: Edit | None, left: float, most: int,
    *parts: Any,
) -> Report | Lost:  # fmt: skip
    """Go from a version to the next one, and report; without an edit only report. Twice is the same as once.

    most : how many violators of a direction are reported
    """
    with slab.work(left):
        state = slab.states.get(key)
        if state is None or state.version not in (version, version + (edit is not None)):
            return Lost(_here())
        if edit is not None and state.version == version:
            if not state.has(edit):
                return Lost(_here())
            state.apply(edit, parts, left < np.inf)
            state.beta[beta[0]] = beta[1]
            state.version = version + 1
        elif edit is None:
            state.beta[beta[0]] = beta[1]
        return state.report(_here(), most)


def survey(slab: Slab, key: str, version: int, most: int) -> Report | Lost:
    """Report more violators."""
    with slab.work():
        state = slab.states.get(key)
        return Lost(_here()) if state is None or state.version != version else state.report(_here(), most)


def restore(
    slab: Slab, key: str, version: int, program: Program, beta: tuple[Ids, Vector], g: Vector | None,
    edits: list[Edit], left: float, most: int, *parts: Any,
) -> Report:  # fmt: skip
    """Make a state anew: a gradient, or that at 0, the changes since, and where the variables are now.

    parts : the points of all changes
    """
    with slab.work(left):
        values = np.zeros(sum(len(program.runs[group]) for group in program.groups))
        values[beta[0]] = beta[1]
        state = State.of(slab, program, version, values, g)
        if parts:
            state.points.add(0, parts)
        for edit in edits:
            state.apply(edit, (), keep=False)
        state.points = Kept()
        slab.states[key] = state
        return state.report(_here(), most)


def look(slab: Slab, key: str, version: int, which: Ids | None) -> Vector | Lost:
    """Return the gradient of some variables, or of all; that before the last change if that version is meant."""
    with slab.lock:
        state = slab.states.get(key)
        if state is None or state.version not in (version, version + 1):
            return Lost(_here())
        g = state.g if state.version == version else state.before
        if g is None:
            return Lost(_here())
        return g.copy() if which is None else g[which]


def put(slab: Slab, key: str, version: int, which: Ids, values: Vector) -> bool:
    """Correct the gradient of some variables; whoever has no such state is told of all by and by."""
    with slab.lock:
        state = slab.states.get(key)
        if state is None or state.version not in (version, version + 1):
            return False
        if state.version == version:
            state.g[which] = values
            state.version, state.before = version + 1, None
        return True


def forget(slab: Slab, key: str, lens: str) -> None:
    """Give the memory of a state back, see ``Slab.forget``."""
    with slab.lock:
        slab.forget(key, lens)
