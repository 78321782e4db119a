"""What became of the programs of a fit, in arrays: hundreds of classes have a hundred thousand of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..certificates import Certificate, half_width, intercept
from ..problems import Dual
from ..problems.dual import Ids, Vector
from .solution import TRACED, Solution
from .status import Status

STATUSES = list(Status)
UNSOLVED = -1
_GOOD = np.array([*(status.good for status in STATUSES), True])  # the last one is that of UNSOLVED


class Traces(Sequence[dict[str, Vector]]):
    """The trace of each program: a dict of arrays, made when it is asked for; an empty one where nothing was solved.

    Parameters
    ----------
    names : what is traced
    rows : (n_rows, n_names) the lines of all traces, one trace after the other
    ends : (n,) where the lines of each end
    """

    def __init__(self, names: Sequence[str], rows: NDArray[np.float64], ends: Ids) -> None:
        self.names, self.rows, self.ends = tuple(names), rows, ends

    @classmethod
    def nothing(cls, n: int) -> Traces:
        """Empty ones."""
        return cls((), np.empty((0, 0)), np.zeros(n, np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> dict[str, Vector]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Vector]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Vector] | list[dict[str, Vector]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        rows = self.rows[self.ends[number - 1] if number else 0 : self.ends[number]]
        return dict(zip(self.names, rows.T.copy(), strict=True)) if len(rows) else {}


class Found:
    """Solutions and certificates of n programs.

    Attributes
    ----------
    beta, first : the dual points, one after the other, and where each begins
    n_iter, status : (n,) updates; the number of the status in ``STATUSES``, or UNSOLVED where nothing was open
    dual, gap, violation, resolution, doubt, least, convex : (n,) see ``Certificate``
    intercept, half_width : (n,) see ``certificates``; the width is 0 in problems without nu
    seconds : (n,)
    g : gradient of the only program; of several none is kept
    """

    def __init__(self, sizes: Ids) -> None:
        n = len(sizes)
        self.first = np.zeros(n + 1, np.int64)
        np.cumsum(sizes, out=self.first[1:])
        self.beta = np.zeros(self.first[-1])
        self.g: Vector | None = None
        self.n_iter, self.status = np.zeros(n, np.int64), np.full(n, UNSOLVED, np.int8)
        self.dual, self.gap, self.violation, self.resolution, self.doubt = np.zeros((5, n))
        self.least = np.ones(n)
        self.intercept, self.half_width, self.seconds = np.zeros((3, n))
        self.convex = np.ones(n, bool)
        self._traces: dict[int, dict[str, Vector]] = {}  # of what was solved alone

    def __len__(self) -> int:
        return len(self.status)

    def put(self, number: int, dual: Dual, solution: Solution) -> None:
        """Keep what was found for one program."""
        beta, g, proof = solution.beta, solution.g, solution.certificate
        self.keep(number, beta, solution.n_iter, solution.status, proof, solution.trace)
        self.intercept[number] = intercept(dual, beta, g)
        width, blur = half_width(dual, beta, g) if any(dual.totals) else 0.0, solution.blur
        self.half_width[number] = width if abs(width) > (proof.resolution if blur is None else blur) else 0.0
        if len(self) == 1:
            self.g = g

    def leave(self, some: range, status: Status) -> None:
        """Programs that nobody has begun with: their variables are 0, and nothing is known."""
        own = slice(some.start, some.stop)
        self.status[own] = STATUSES.index(status)
        self.dual[own], self.gap[own], self.violation[own] = -np.inf, np.inf, np.inf

    def keep(
        self,
        number: int,
        beta: Vector,
        n_iter: int,
        status: Status | None,
        proof: Certificate,
        trace: dict[str, Vector],
    ) -> None:
        """Keep the numbers of one program."""
        self.beta[self.first[number] : self.first[number + 1]] = beta
        self.n_iter[number], self.status[number] = n_iter, UNSOLVED if status is None else STATUSES.index(status)
        self.dual[number], self.gap[number], self.doubt[number] = proof.dual, proof.gap, proof.doubt
        self.violation[number], self.resolution[number] = proof.kkt_violation, proof.resolution
        self.least[number], self.convex[number] = proof.least, proof.convex
        self._traces[number] = trace

    def keep_all(self, own: slice, proofs: NDArray[np.float64], biases: Vector) -> None:
        """Keep the certificates of programs, (7, n) numbers in the order of ``Certificate``, and their biases."""
        self.intercept[own] = biases
        self.dual[own], self.gap[own], self.violation[own], self.resolution[own] = proofs[:4]
        self.doubt[own], self.least[own], self.convex[own] = proofs[4:]

    @property
    def primal(self) -> Vector:
        """Primal objectives."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(self.gap), np.inf, self.dual + self.gap)

    @property
    def solved(self) -> NDArray[np.bool_]:
        """Which programs had anything to solve."""
        return self.status != UNSOLVED

    @property
    def good(self) -> NDArray[np.bool_]:
        """Which programs ended as they were asked to, if there was anything to solve."""
        return _GOOD[self.status]

    @property
    def relative_gaps(self) -> Vector:
        """See ``Certificate.relative_gap``."""
        return self.relative_gaps_of(slice(None))

    def relative_gaps_of(self, some: Any) -> Vector:
        """Those of some programs."""
        dual, gap = self.dual[some], self.gap[some]
        with np.errstate(invalid="ignore"):
            doubt, least = self.doubt[some], self.least[some]
            above, below = gap / np.maximum(least, dual + gap - doubt), gap / np.maximum(least, -dual - doubt)
            found = np.where(dual >= doubt, above, np.minimum(below, 2.0))
        found[~np.isfinite(gap)] = np.inf
        found[~self.convex[some]] = np.nan
        return found

    def certificate(self, number: int) -> Certificate:
        """What is proven about one program."""
        parts = self.dual, self.gap, self.violation, self.resolution, self.doubt, self.least
        dual, gap, violation, resolution, doubt, least = (float(part[number]) for part in parts)
        return Certificate(dual, gap, violation, resolution, doubt, least, bool(self.convex[number]))

    def late(self, some: range) -> bool:
        """Whether there was no time to solve any of these so far that anything is known of the solution."""
        own = slice(some.start, some.stop)
        late = (self.status[own] == STATUSES.index(Status.MAX_TIME)) & ~np.isfinite(self.violation[own])
        return bool(late.any())

    def trace(self, number: int) -> dict[str, Vector]:
        """Of one program."""
        found = self._traces.get(number)
        if found is not None:
            return found
        lines = self._lines(slice(number, number + 1)) if self.status[number] != UNSOLVED else np.empty((0, 0))
        return Traces(TRACED, lines, np.array([len(lines)]))[0]

    @property
    def traces(self) -> Traces:
        """All of them."""
        many = {number: trace for number, trace in self._traces.items() if trace}
        names = next((tuple(trace) for trace in many.values()), TRACED)
        counts = self.solved.astype(np.int64)
        counts[list(self._traces)] = 0
        once = np.flatnonzero(counts)
        for number, trace in many.items():
            counts[number] = len(trace[names[0]])
        ends = np.cumsum(counts)
        rows = np.empty((int(counts.sum()), len(names)))
        if len(once):
            rows[ends[once] - 1] = self._lines(once)
        for number, trace in many.items():
            rows[ends[number] - counts[number] : ends[number]] = np.stack(list(trace.values()), axis=1)
        return Traces(names, rows, ends)

    def _lines(self, some: Any) -> NDArray[np.float64]:
        """The one line of what was solved in a bundle."""
        parts = (part[some] for part in (self.seconds, self.n_iter, self.violation))
        return np.stack([*parts, self.relative_gaps_of(some), self.dual[some]], axis=1).astype(np.float64, copy=False)
