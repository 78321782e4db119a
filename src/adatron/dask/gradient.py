"""The gradient of a program whose rows are on workers; tasks answer what the block solver asks.

The coordinator has beta, the bounds, and an earlier gradient with the changes since then, so it can tell any slab its
part anew. Each slab keeps its part of the gradient. A step brings q points from slab to slab and q numbers from the
coordinator, and worst violators come back. The coordinator takes sums over rows in the order of the variables, from
terms or from sums of whole stripes, as one machine does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..gram import Points, View
from ..problems import Dual
from ..problems.dual import Ids, Vector
from ..solvers.base import Options, Way
from ..solvers.blocks.block import Block
from ..solvers.blocks.gradient import Gradient
from ..solvers.blocks.shard import STRIPE, Ends, Survey, Violators, worst
from ..threads import OutOfTime
from . import state as on_slab
from .cluster import Call
from .far import FarView, left
from .sent import Sent, compact
from .state import Edit, Packed, SlabProgram, SurveyReport

# A slab reports this multiple of the violators that were needed, plus this many.
VIOLATORS_FACTOR, VIOLATORS_SPARE = 1.1, 16


class Change(NamedTuple):
    """A change of the gradient: points, whether each will be asked for again, their weights; and a constant."""

    ids: Ids
    again: NDArray[np.bool_] | None
    v: Vector
    constant: float

    def edit(self, places: NDArray[Any], before: int, stored: bool) -> Edit:
        """Return the change as slabs apply it; ``stored``: whether slabs store kernel values."""
        again = None if self.again is None else np.packbits(self.again)
        return Edit(places, before, self.v, self.constant, (compact(self.ids), again) if stored else None)


class Part:
    """One slab's variables, as the coordinator knows them: their numbers, in their order, and their program.

    most : how many violators of a direction the slab reports: somewhat more than were needed last time
    """

    def __init__(self, program: SlabProgram, ids: Ids, expected: float) -> None:
        self.program, self.ids = program, ids
        self.most = enough(expected + 4.0 * expected**0.5)

    def violators(self, report: SurveyReport, r: int, side: int) -> Violators:
        """Return the violators of a direction with their numbers in the whole program."""
        places, values = report.ends[r][side]
        return Violators(self.ids[places], values)


def enough(expected: float) -> int:
    """Return the number of violators to ask for, given the number that will probably be needed."""
    return int(VIOLATORS_FACTOR * expected) + VIOLATORS_SPARE


def violators(
    parts: dict[int, Part], reports: dict[int, SurveyReport], equalities: int, most: int
) -> tuple[list[NDArray[Any]], set[int]]:
    """Return the worst violators of all slabs, and the slabs whose reports are too short for that.

    Returns
    -------
    lists : numbers and gains; for each equality the variables that could grow, then those that could shrink
    short : slabs that have left out violators which might be among the worst
    """
    lists: list[NDArray[Any]] = []
    short: set[int] = set()
    needed = dict.fromkeys(parts, 0)
    for r, side in ((r, side) for r in range(equalities) for side in (0, 1)):
        some = {j: part.violators(reports[j], r, side) for j, part in parts.items()}
        found = _merged(list(some.values()), most)
        least = found.values.min(initial=np.inf) if len(found.ids) >= most else -np.inf
        for j, own in some.items():
            needed[j] = max(needed[j], int(np.count_nonzero(own.values >= least)))
            requested = reports[j].most
            if requested < most and len(own.ids) >= requested and own.values.min(initial=np.inf) >= least:
                short.add(j)
        lists += found
    for j, count in needed.items():
        parts[j].most = min(most, enough(count))
    return lists, short


def _merged(some: list[Violators], most: int) -> Violators:
    """Return the worst of some violators, in the order of their numbers."""
    ids, values = (np.concatenate([getattr(one, name) for one in some]) for name in ("ids", "values"))
    order = np.argsort(ids)
    return worst(Violators(ids[order], values[order]), most)


GRACE = 2.0  # Seconds to fetch a gradient that is known, when there is no time for more kernel values.
# Bytes of points that may go to the slabs before the whole gradient is fetched, as a multiple of the gradient's bytes:
# when a worker dies, only the changes since then must be made again.
SNAPSHOT = 8.0
POINTS_SHARE = 1 / 32  # Fraction of cache_size that a worker keeps of the points that came to it.


@dataclass(frozen=True)
class FarBlock(Block):
    """The block solver; programs of several blocks keep their rows and gradient on the cluster."""

    def hold(self, view: View, dual: Dual, beta: Vector, options: Options) -> Gradient:
        if options.way >= Way.DECOMPOSE and isinstance(view, FarView):
            return FarGradient(view, dual, beta, min(options.block, len(dual)))
        return super().hold(view, dual, beta, options)


class FarGradient(Gradient):
    """The gradient of a program whose rows are on a cluster, see ``solvers.blocks.gradient.Gradient``.

    most : how many violators of a direction a survey has
    """

    def __init__(self, view: FarView, dual: Dual, beta: Vector, most: int) -> None:
        self.dual, self.beta, self.most = dual, beta, most
        self.cluster = view.gram.source.far.cluster
        self._number = next(self.cluster.programs)
        self.version, self._base = 0, 0  # of the gradient, and of the earlier one
        self._whole: Vector | None = None  # the earlier gradient; None: -t, that at 0
        self._edits: list[Change] = []  # the changes since the earlier gradient
        self._weight = 0.0  # bytes of their points
        self._reports: dict[int, SurveyReport] = {}
        self._dirty: list[Ids] = [np.flatnonzero(beta)]  # variables that slabs have not been told
        self._late, self.known = False, True
        self._begin_with(view)

    def serve(self, view: View) -> None:
        assert isinstance(view, FarView)  # noqa: S101 (for the type checker)
        if view is self.view:
            return
        if self.version:
            self.g = self.g  # brings the whole gradient here, from which the slabs begin again
        self._begin_with(view)

    def _begin_with(self, view: FarView) -> None:
        """Divide the program among the slabs, which have not been told anything of it."""
        self.view, self._reports = view, {}
        self.key = f"{self.cluster.fit}-{self._number}-{view.gram.spec.key}"
        gram = view.gram
        self.kept: dict[int, Part] = {}
        far = gram.source.far
        self._sent, self._cold = Sent(int(gram.starts[-1]), int(POINTS_SHARE * far.room / far.row)), True
        self.slab, self.place = np.empty(len(self.dual), np.int16), np.empty(len(self.dual), np.int64)
        for j, groups, numbers in view.parts():
            runs = gram.runs(j)
            ids = np.concatenate([first + np.arange(len(runs[k])) for k, first in zip(groups, numbers, strict=True)])
            packed = Packed.of(self.dual.take(ids))
            program = SlabProgram(gram.spec, runs, groups, numbers, packed, len(self.dual))
            self.kept[j] = Part(program, ids, self.most * len(ids) / len(self.dual))
            self.slab[ids], self.place[ids] = j, np.arange(len(ids))

    @property
    def _limit(self) -> float:
        """When to raise OutOfTime; after the end of the time a little later, for values that are only fetched."""
        limit = self.view.gram.pool.limit
        return max(limit, monotonic() + GRACE) if self._late else limit

    @property
    def g(self) -> Vector:
        return self._gathered()

    def _gathered(self) -> Vector:
        """Return the whole gradient. If it is not at hand, get it, and let slabs begin again from it."""
        if self._whole is None or self._base != self.version:
            self._whole = self._fetched() if self.version else -self.dual.t
            self._rebase()
        return self._whole

    def _fetched(self) -> Vector:
        """Return the gradient from the slabs. If they do not answer after the end of the time, it is not known."""
        whole = np.empty(len(self.dual))
        try:
            for j, values in self._ask(dict.fromkeys(self.kept, (on_slab.look, (None,))))[0].items():
                whole[self.kept[j].ids] = values
        except OutOfTime:
            if not self._late:
                raise
            self.known = False
            return -self.dual.t
        return whole

    @g.setter
    def g(self, g: Vector) -> None:
        self._whole = g if g is self._whole else g.copy()
        self.version += 1
        self._rebase()
        self._reports, self._cold = {}, True

    def _rebase(self) -> None:
        """Let slabs begin again from the whole gradient that is known now."""
        self._base, self._edits, self._weight = self.version, [], 0.0

    def survey(self, most: int) -> Survey:
        """Return what ``Gradient.survey`` does.

        A slab reports about as many as are needed. If some that it left out might be among the worst, it reports all.
        """
        if set(self._reports) != set(self.kept) or self._dirty:
            self._reports = self._step(None)
        equalities = max(1, len(self.dual.totals))
        lists, short = violators(self.kept, self._reports, equalities, most)
        if short:
            self._reports.update(self._ask(dict.fromkeys(short, (on_slab.survey, (most,))))[0])
            lists, _ = violators(self.kept, self._reports, equalities, most)
        ends = [Ends(Violators(*lists[i : i + 2]), Violators(*lists[i + 2 : i + 4])) for i in range(0, len(lists), 4)]
        return Survey(ends, np.flatnonzero(self.dual.free(self.beta)), self._objective(self._reports))

    def _objective(self, reports: dict[int, SurveyReport]) -> float:
        """Return the objective: the slabs' terms, added as ``Shard`` adds them."""
        n, used = len(self.dual), self.beta != 0.0
        terms, sums = np.zeros(n), np.zeros((max(1, -(-n // STRIPE)), 2))
        done: dict[int, float] = {}
        for j, report in reports.items():
            done.update(report.sums)
            ids = self.kept[j].ids
            open_ones = ~np.isin(ids // STRIPE, list(report.sums)) & used[ids]
            terms[ids[open_ones]] = report.terms
        for stripe in range(len(sums)):
            own = slice(stripe * STRIPE, (stripe + 1) * STRIPE)
            sums[stripe, 0] = done[stripe] if stripe in done else on_slab.in_order(terms[own])
            if self.dual.epsilon:
                sums[stripe, 1] = on_slab.in_order(np.abs(self.beta[own]))
        product, size = sums.sum(axis=0).tolist()
        return 0.5 * product + self.dual.epsilon * size

    def at(self, ids: Ids) -> Vector:
        return self.look(ids)[1]

    def look(self, ids: Ids) -> tuple[Points, Vector]:
        if self._whole is not None and self._base == self.version:
            return self.points(ids), self._whole[ids]
        source = self.view.gram.source
        far, samples = source.far, source.samples[self.view.ids[ids]]
        missing = far.here.missing(samples)
        parts = far.layout.divided(missing)
        own = {int(j): np.flatnonzero(self.slab[ids] == j) for j in np.unique(self.slab[ids])}
        requested = {j: (on_slab.look, (compact(self.place[ids[at]]),)) for j, at in own.items()}
        found, rows = self._ask(requested, far.calls_for(parts))
        g = np.empty(len(ids))
        for j, at in own.items():
            g[at] = found[j]
        X = far.joined(samples, missing, rows, [places for _, _, places in parts])
        return Points(source.here(X), self.view.ids[ids]), g

    def set_beta(self, ids: Ids, beta: Vector) -> None:
        self.beta[ids] = beta
        self._dirty.append(ids)

    def apply(self, ids: Ids, points: Points, change: Vector, constant: float, beta: Vector | None = None) -> None:
        merged, V = points.merged(change[:, None])
        one = Change(merged.ids, merged.again, V[:, 0], constant)
        old = self.beta[ids]
        if beta is not None:
            self.beta[ids] = beta
        self._dirty.append(ids)
        try:
            self._reports = self._step(one)
        except BaseException as error:
            self._sent.forget()
            if isinstance(error, OutOfTime):
                self.beta[ids], self._late = old, True
            raise
        self.version += 1
        self._edits.append(one)
        self._weight += len(merged) * self.view.gram.source.far.row * len(self.kept)
        if self._weight > SNAPSHOT * 8.0 * len(self.dual):
            self._gathered()

    def _edit_of(self, one: Change) -> tuple[Edit, Sequence[Call]]:
        """Return a change as slabs apply it, and the tasks that give the points which slabs lack."""
        new, before = self._sent.new(one.ids), self._sent.count
        others = self._rows_of(new)
        return one.edit(self._sent.places(one.ids), before, self.view.gram.slots > 0), others

    def _rows_of(self, new: Ids) -> Sequence[Call]:
        """Give some points their places, and return the tasks that give their rows."""
        source = self.view.gram.source
        parts = source.far.layout.divided(source.samples[new])
        if parts:
            self._sent.put(np.concatenate([new[at] for _, _, at in parts]))
        return source.far.calls_for(parts)

    def corrected(self, which: NDArray[np.bool_]) -> None:
        assert self._whole is not None  # noqa: S101 (for the type checker)
        self.cluster.ask([
            Call(j, on_slab.put, (self.key, self.version, own, self._whole[kept.ids[own]]))
            for j, kept in self.kept.items() for own in [np.flatnonzero(which[kept.ids])]
        ])  # fmt: skip
        self.version += 1
        self._rebase()
        self._reports = {}

    def give_back(self) -> None:
        spec = self.view.gram.spec.key
        self.cluster.tell([Call(j, on_slab.forget, (self.key, spec)) for j in self.kept])

    def _step(self, one: Change | None) -> dict[int, SurveyReport]:
        """Take all slabs to the next version, or only to the present variables; return their reports.

        Slabs that have lost their state are told it anew.
        """
        edit, others = (None, []) if one is None else self._edit_of(one)
        dirty = np.unique(np.concatenate(self._dirty)) if self._dirty else np.zeros(0, np.int64)
        seconds = left(self._limit)
        calls = {}
        for j, part in self.kept.items():
            own = dirty[self.slab[dirty] == j]
            beta = compact(self.place[own]), self.beta[own]
            arguments = self.key, self.version, beta, edit, seconds, part.most
            calls[j] = Call(j, on_slab.step, arguments, others)
        found: dict[int, Any] = {}
        if not self._cold:
            found.update(zip(calls, self.cluster.ask(list(calls.values()), self._limit), strict=True))
        lost = [j for j in calls if found.get(j) is None]
        if lost:
            found.update(self._restore(lost, self.version + (one is not None), [] if one is None else [one]))
        self._dirty = []
        self.cluster.where.update({j: report.worker for j, report in found.items() if report.worker})
        return found

    def _restore(self, lost: list[int], version: int, extra: list[Change]) -> dict[int, SurveyReport]:
        """Tell slabs the earlier gradient, the changes since, and the variables; then all begin without points."""
        changes, stored = [*self._edits, *extra], self.view.gram.slots > 0
        self._sent.forget()
        points = np.unique(np.concatenate([one.ids for one in changes])) if changes else np.zeros(0, np.int64)
        others = self._rows_of(points)
        edits = [one.edit(self._sent.places(one.ids), len(points), stored) for one in changes]
        self._sent.forget()
        calls = []
        for j in lost:
            part = self.kept[j]
            values, g = self.beta[part.ids], None if self._whole is None else self._whole[part.ids]
            used = np.flatnonzero(values)
            arguments = self.key, version, part.program, (used, values[used]), g, edits, left(self._limit), part.most
            calls.append(Call(j, on_slab.restore, arguments, others))
        found = dict(zip(lost, self.cluster.ask(calls, self._limit), strict=True))
        self._cold = False
        return found

    def _ask(
        self, requested: dict[int, tuple[Any, tuple[Any, ...]]], more: Sequence[Call] = ()
    ) -> tuple[dict[int, Any], list[Any]]:
        """Return the answers of slabs about this version, and the results of more tasks."""
        calls = [Call(j, function, (self.key, self.version, *rest)) for j, (function, rest) in requested.items()]
        found = self.cluster.ask([*calls, *more], self._limit)
        answers = dict(zip(requested, found, strict=False))
        while lost := [j for j, one in answers.items() if one is None]:
            self._restore(lost, self.version, [])
            again = self.cluster.ask([calls[list(requested).index(j)] for j in lost], self._limit)
            answers.update(zip(lost, again, strict=True))
        return answers, found[len(calls) :]
