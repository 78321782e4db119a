"""The gradient of a slab's samples in one program, between one task and the next.

The state is a cache. Its version counts the changes so far. A task says which version it needs. If the slab has no
state, or one of another version, the task answers None, and the coordinator tells the slab an earlier gradient and the
changes since then, in their order. So a lost gradient comes back with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..gram import Points, View
from ..problems import Dual
from ..solvers.blocks.shard import STRIPE, Shard, Violators, worst
from .partition import Ids, Vector
from .sent import KeptPoints, compact
from .slab import GramSpec, Run, Slab, points_of


@dataclass(frozen=True)
class SlabProgram:
    """A slab's part of a program.

    spec, runs : of the kernel matrix over the slab's rows, with a segment for each run
    groups : the segments of the program's variables
    numbers : the first variable of each group, as numbered in the whole program
    dual : the program of the slab's variables
    total : the number of variables of the whole program
    """

    spec: GramSpec
    runs: Sequence[Run]
    groups: list[int]
    numbers: list[int]
    dual: Packed
    total: int


class Packed(NamedTuple):
    """A program with short arrays: where an array mostly repeats its last value, each run is stored once."""

    dual: Dual
    arrays: dict[str, tuple[Ids, NDArray[Any]] | NDArray[Any] | None]

    @classmethod
    def of(cls, dual: Dual) -> Packed:
        names = ("t", "lower", "upper", "row", "sign")
        nothing = np.zeros(0)
        return cls(replace(dual, t=nothing, lower=nothing, upper=nothing, row=None, sign=None),
                   {name: _pack(getattr(dual, name)) for name in names})  # fmt: skip

    def unpacked(self) -> Dual:
        return replace(
            self.dual,
            **{
                name: np.repeat(one[1], np.diff(one[0])) if isinstance(one, tuple) else one
                for name, one in self.arrays.items()
            },
        )


def _pack(values: NDArray[Any] | None) -> tuple[Ids, NDArray[Any]] | NDArray[Any] | None:
    if values is None or not len(values):
        return values
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    if 4 * len(starts) > len(values):
        return values
    return np.append(starts, len(values)), values[starts]


class Edit(NamedTuple):
    """A change of the gradient, as slabs apply it: the points behind it, and their weights.

    places : where each point is on the slab; new points come after the first ``before`` ones
    v : the weight of each point
    constant : the number that is added to the gradient of every variable
    stored : numbers of the points, and whether they will be asked for again; None if no kernel values are stored
    """

    places: NDArray[Any]
    before: int
    v: Vector
    constant: float
    stored: tuple[NDArray[Any], NDArray[np.uint8] | None] | None


class SlabViolators(NamedTuple):
    """The worst violators of a slab in one direction: their places among the slab's variables, and their gains."""

    places: NDArray[Any]
    values: Vector


class SurveyReport(NamedTuple):
    """The result of a survey of a slab's variables.

    ends : for each equality, the worst violators that could grow and shrink
    most : how many violators were asked for; a shorter list has all
    terms : the terms of beta'(g - t) of variables that are not 0, except in stripes that the slab has as a whole
    sums : the sum of these terms in each stripe that the slab has as a whole
    worker : the address of the worker
    """

    ends: list[tuple[SlabViolators, SlabViolators]]
    most: int
    terms: Vector
    sums: dict[int, float]
    worker: str


@dataclass
class SlabState:
    """beta and g of a slab's variables.

    version : of g; -1 if half of a change is in it
    ids : the variables' numbers in the whole program
    points : points of earlier changes
    before : the gradient before the last change, if time may run out
    """

    program: SlabProgram
    version: int
    beta: Vector
    g: Vector
    shard: Shard
    ids: Ids
    points: KeptPoints
    before: Vector | None = None

    @classmethod
    def of(cls, slab: Slab, program: SlabProgram, version: int, beta: Vector, g: Vector | None) -> SlabState:
        gram = slab.gram(program.spec, program.runs)
        view, dual = View.of(gram, program.groups), program.dual.unpacked()
        g = -dual.t if g is None else g.copy()
        ids = np.concatenate([first + np.arange(n) for first, n in
                              zip(program.numbers, np.diff(view.offsets), strict=True)])  # fmt: skip
        return cls(program, version, beta, g, Shard(view, dual, beta, g), ids, KeptPoints())

    def has(self, edit: Edit) -> bool:
        """Return whether the points of a change are here, except for the new ones."""
        return self.points.count >= edit.before

    def apply(self, edit: Edit, parts: Sequence[Any], keep: bool) -> None:
        """Carry a change over to the gradient; ``keep``: if time runs out, the gradient stays as it was."""
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
                self.version = -1
            raise
        self.before = before

    def _points(self, edit: Edit) -> Points:
        source, rows = self.shard.view.gram.source, self.points.take(edit.places)
        if edit.stored is None:
            return points_of(source, rows)
        ids, again = edit.stored
        points = points_of(source, rows, ids.astype(np.int64))
        return points if again is None else replace(points, again=np.unpackbits(again, count=len(ids)).astype(bool))

    def report(self, most: int) -> SurveyReport:
        """Return the worst violators, up to ``most`` of each direction, and the terms of the objective."""
        found = self.shard.survey(most)
        ends = [(_worst(one.grow, most), _worst(one.shrink, most)) for one in found.ends]
        return SurveyReport(ends, most, *self._terms(), _here())

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
    """Return the sum of values, added one after the other."""
    return float(np.cumsum(values)[-1]) + 0.0 if len(values) else 0.0


def _here() -> str:
    """Return the address of this worker; "" outside of a worker."""
    from distributed import get_worker

    try:
        return get_worker().address
    except ValueError:
        return ""


def _worst(some: Violators, most: int) -> SlabViolators:
    found = worst(some, most)
    return SlabViolators(compact(found.ids), found.values)


def step(
    slab: Slab, key: str, version: int, beta: tuple[NDArray[Any], Vector], edit: Edit | None, left: float, most: int,
    *parts: Any,
) -> SurveyReport | None:  # fmt: skip
    """Go from a version to the next one, and report; without an edit, set variables and report.

    The second of two equal calls changes nothing.

    most : how many violators of a direction are reported
    """
    with slab.work(left):
        state = _state(slab, key, version, version + (edit is not None))
        if state is None or (edit is not None and state.version == version and not state.has(edit)):
            return None
        if state.version == version:
            if edit is not None:
                state.apply(edit, parts, left < np.inf)
                state.version = version + 1
            state.beta[beta[0]] = beta[1]
        return state.report(most)


def _state(slab: Slab, key: str, *versions: int) -> SlabState | None:
    """Return the state of a program, if the slab has it in one of these versions."""
    state = slab.states.get(key)
    return state if state is not None and state.version in versions else None


def survey(slab: Slab, key: str, version: int, most: int) -> SurveyReport | None:
    """Report up to ``most`` violators of each direction."""
    with slab.work():
        state = _state(slab, key, version)
        return None if state is None else state.report(most)


def restore(
    slab: Slab, key: str, version: int, program: SlabProgram, beta: tuple[Ids, Vector], g: Vector | None,
    edits: list[Edit], left: float, most: int, *parts: Any,
) -> SurveyReport:  # fmt: skip
    """Make a state anew, and report.

    g : an earlier gradient; None is that at 0
    edits : the changes since then
    parts : the points of all these changes
    """
    with slab.work(left):
        values = np.zeros(sum(len(program.runs[group]) for group in program.groups))
        values[beta[0]] = beta[1]
        state = SlabState.of(slab, program, version, values, g)
        if parts:
            state.points.add(0, parts)
        for edit in edits:
            state.apply(edit, (), keep=False)
        state.points = KeptPoints()
        slab.states[key] = state
        return state.report(most)


def look(slab: Slab, key: str, version: int, which: Ids | None) -> Vector | None:
    """Return the gradient of some variables, or of all: the present one, or that before the last change."""
    with slab.lock:
        state = _state(slab, key, version, version + 1)
        g = None if state is None else state.g if state.version == version else state.before
        return g if g is None else g.copy() if which is None else g[which]


def put(slab: Slab, key: str, version: int, which: Ids, values: Vector) -> None:
    """Correct the gradient of some variables. A slab without such a state is told it anew by a later task."""
    with slab.lock:
        state = _state(slab, key, version)
        if state is not None:
            state.g[which] = values
            state.version, state.before = version + 1, None


def forget(slab: Slab, key: str, spec: str) -> None:
    """Give the memory of a state back, see ``Slab.forget``."""
    with slab.lock:
        slab.forget(key, spec)
