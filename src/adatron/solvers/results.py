"""How fits end, and what they find: the result of one program, and of all of them in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector
from ..certificates import Certificate, half_width, intercept, unproven
from ..certificates.gap import SMALLEST
from ..problems import Dual

# Entries of the flags that solvers share with compiled loops: to end, and that negative curvature was met.
STOP, NEGATIVE_CURVATURE = 0, 1
NO_KERNEL = "the kernel is not positive semi-definite on these data"
OTHER_KERNEL = "use another kernel or other kernel parameters"


class Status(Enum):
    """How a fit ended; the text says what usually causes it and what to try."""

    CONVERGED = "converged"
    WITHIN_TOL = "the violation is within tol, but rounding or a limit kept the duality gap above gap_tol"
    RULE = "the solver's own stopping rule was met"
    MAX_ITER = "the limit of updates (max_iter) was reached; raise max_iter, or lower C"
    MAX_TIME = "the time limit (max_time) was reached; raise it, lower C, or use a larger tol"
    STOPPED = "the callback asked to stop"
    STUCK = "no step makes progress in double precision; lower C, or use a larger tol or gap_tol"
    DIVERGED = (
        "the dual grows without bound: with C=inf, no decision function of this kernel fits all samples; use a finite "
        "C, or scale the features"
    )
    OVERFLOW = (
        "kernel values or coefficients are too large for double precision, so nothing is proven; scale the features, "
        "or lower C or the parameters of the kernel"
    )
    NOT_CONVEX = f"{NO_KERNEL}: the point found is stationary, but the duality gap bounds nothing; {OTHER_KERNEL}"

    @property
    def good(self) -> bool:
        """Whether the fit ended as it was asked to."""
        return self in (Status.CONVERGED, Status.WITHIN_TOL, Status.RULE)


# Columns of a trace.
TRACED: tuple[str, ...] = ("seconds", "n_iter", "kkt_violation", "duality_gap", "dual_objective")


class Trace(dict[str, NDArray[np.float64]]):
    """The trace of one program: an array for each quantity, and a repr of one line.

    The solver tracks the values of a line, and they have its rounding errors; the last line has what is proven.
    """

    def __repr__(self) -> str:
        lines = len(next(iter(self.values()), ()))
        return f"<trace of {lines:,} {'line' if lines == 1 else 'lines'}: {', '.join(self) or 'nothing to solve'}>"


@dataclass(frozen=True)
class Solution:
    """The result of one ``Task``: a dual point with its certificate. ``trace`` has one array for each quantity.

    ``mu_error``: the accuracy of the multipliers, if it is not the resolution of the certificate.
    """

    beta: Vector
    g: Vector
    n_iter: int
    status: Status
    certificate: Certificate
    trace: dict[str, NDArray[np.float64]]
    mu_error: float | None = None

    def times(self, c: float) -> Solution:
        """Return the solution of the program whose coefficients are c times as large."""
        if c == 1.0:
            return self
        trace = {**self.trace, "dual_objective": c * c * self.trace["dual_objective"]}
        return replace(self, beta=c * self.beta, g=c * self.g, certificate=self.certificate.times(c), trace=trace)


def late(dual: Dual, beta: Vector, g: Vector | None, n_iter: int = 0) -> Solution:
    """Return the start of a problem as its solution, if there was no time for anything else."""
    g = -dual.t if g is None else g
    return Solution(beta, g, n_iter, Status.MAX_TIME, unproven(dual, beta, g), trace_of([]))


def ended(trace: dict[str, Vector], n_iter: int, proof: Certificate) -> dict[str, Vector]:
    """Return a trace whose last line, that of the solution, has what is proven instead of what the solver tracked."""
    if not trace or not len(trace["n_iter"]):
        return trace
    proven: dict[str, float] = {
        "n_iter": float(n_iter), "kkt_violation": proof.kkt_violation,
        "duality_gap": proof.relative_gap, "dual_objective": proof.lower,
    }  # fmt: skip
    there = trace["n_iter"][-1] == n_iter
    found = {name: one.copy() if there else np.append(one, one[-1]) for name, one in trace.items()}
    for name, value in proven.items():
        found[name][-1] = value
    return found


def trace_of(rows: list[tuple[float, ...]], more: tuple[str, ...] = ()) -> dict[str, NDArray[np.float64]]:
    """Return the trace from its recorded lines; ``more`` names the further quantities of a line."""
    names = (*TRACED, *more)
    return dict(zip(names, np.array(rows, np.float64).reshape(-1, len(names)).T.copy(), strict=True))


STATUSES = list(Status)  # By their numbers.
UNSOLVED = -1  # Stands for a status where nothing was open.
_GOOD = np.array([*(status.good for status in STATUSES), True])  # the last entry stands for UNSOLVED
_FORGIVEN = np.array([*(one in (Status.MAX_ITER, Status.MAX_TIME, Status.STUCK) for one in STATUSES), False])


class Traces(Sequence[dict[str, Vector]]):
    """The ``Trace`` of each program, made on request; empty for a program with nothing to solve.

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
        """Return empty traces."""
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
        return Trace(zip(self.names, rows.T.copy(), strict=True)) if len(rows) else Trace()

    def __repr__(self) -> str:
        return f"<{len(self):,} traces with {len(self.rows):,} lines in all: {', '.join(self.names)}>"

    def scaled(self, scale: float) -> Traces:
        """Return the traces of programs whose objectives are so many times as large."""
        rows = self.rows.copy()
        rows[:, [name == "dual_objective" for name in self.names]] *= scale
        return Traces(self.names, rows, self.ends)


class Found:
    """Every ``Solution`` of n programs, in arrays, with its intercept and half width.

    Attributes
    ----------
    beta, first : the dual points, one after the other, and where each begins
    n_iter, status : (n,) updates; the number of the status in ``STATUSES``, or UNSOLVED where nothing was open
    dual, gap, violation, resolution, doubt, slip, convex : (n,) see ``Certificate``
    intercept, half_width : (n,) see ``certificates``; the width is 0 in problems without nu
    near : (n,) intercepts for the rows as the solver had them, perhaps centred; ``intercept`` may lose digits far away
    seconds : (n,)
    g : gradient if there is one program
    gradients : those of several, one after the other, in float64; None if they are not kept
    anew : (n,) whether a kept gradient is a sum of float64 kernel values at the solution; else a solver tracked it, and
        its errors at variables that are fixed are not known
    of_values : bounds of the error and of the size of a kernel value in float64, if gradients are kept
    traced : traces of programs that were solved alone, by number
    """

    def __init__(self, sizes: Ids) -> None:
        n = len(sizes)
        self.first = np.zeros(n + 1, np.int64)
        np.cumsum(sizes, out=self.first[1:])
        self.beta = np.zeros(self.first[-1])
        self.g: Vector | None = None
        self.gradients: Vector | None = None
        self.n_iter, self.status = np.zeros(n, np.int64), np.full(n, UNSOLVED, np.int8)
        self.dual, self.gap, self.violation, self.resolution, self.doubt, self.slip = np.zeros((6, n))
        self.intercept, self.half_width, self.seconds = np.zeros((3, n))
        self.near = self.intercept
        self.convex, self.anew, self.of_values = np.ones(n, bool), np.zeros(n, bool), (np.inf, np.inf)
        self.traced: dict[int, dict[str, Vector]] = {}

    def __len__(self) -> int:
        return len(self.status)

    def put(self, number: int, dual: Dual, solution: Solution) -> None:
        """Keep what was found for one program."""
        beta, g, proof = solution.beta, solution.g, solution.certificate
        self.keep(number, beta, solution.n_iter, solution.status, proof, solution.trace)
        self.intercept[number] = intercept(dual, beta, g)
        width, mu_error = half_width(dual, beta, g) if any(dual.totals) else 0.0, solution.mu_error
        self.half_width[number] = width if abs(width) > (proof.resolution if mu_error is None else mu_error) else 0.0
        if len(self) == 1:
            self.g = g
        if self.gradients is not None:
            self.gradients[self.first[number] : self.first[number + 1]], self.anew[number] = g, False

    def take(self, numbers: Ids, part: Found) -> None:
        """Keep what was found for some programs apart."""
        for k, number in enumerate(numbers.tolist()):
            self.beta[self.first[number] : self.first[number + 1]] = part.beta[part.first[k] : part.first[k + 1]]
            if (trace := part.traced.get(k)) is not None:
                self.traced[number] = trace
        for name in ("n_iter", "status", "dual", "gap", "violation", "resolution", "doubt", "slip",
                     "intercept", "half_width", "seconds", "convex"):  # fmt: skip
            getattr(self, name)[numbers] = getattr(part, name)

    def leave(self, own: slice | Ids, status: Status) -> None:
        """Record programs that were never begun: their variables are 0, and nothing is known."""
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
        self.slip[number], self.convex[number] = proof.slip, proof.convex
        self.traced[number] = ended(trace, n_iter, proof)

    def keep_all(self, own: slice, proofs: NDArray[np.float64], biases: Vector, widths: Vector, units: Vector) -> None:
        """Keep the certificates of programs, (7, n) numbers in the order of ``Certificate``, biases and half widths.

        ``units``: the numbers by which a violation is to be multiplied, to be compared with a width.
        """
        self.intercept[own], self.half_width[own] = biases, np.where(np.abs(widths) > units * proofs[2], widths, 0.0)
        self.dual[own], self.gap[own], self.violation[own], self.resolution[own] = proofs[:4]
        self.doubt[own], self.slip[own], self.convex[own] = proofs[4:]
        self.anew[own] = self.gradients is not None

    @property
    def primal(self) -> Vector:
        """The upper ends of the optimal objectives."""
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(self.gap), self.dual + self.gap + self.slip, np.inf)

    @property
    def lower(self) -> Vector:
        """The lower ends of the optimal objectives."""
        return self.dual - self.slip

    @property
    def solved(self) -> NDArray[np.bool_]:
        """The programs that had anything to solve."""
        return self.status != UNSOLVED

    def forgive_gaps(self, tol: float) -> None:
        """Let the violation alone decide whether programs that nothing else is known against ended well."""
        near = _FORGIVEN[self.status] & (self.violation <= tol) & self.convex
        self.status[near] = STATUSES.index(Status.WITHIN_TOL)

    @property
    def good(self) -> NDArray[np.bool_]:
        """The programs that ended as they were asked to, or had nothing to solve."""
        return _GOOD[self.status]

    @property
    def relative_gaps(self) -> Vector:
        """The relative gaps, see ``Certificate.relative_gap``."""
        return self.relative_gaps_of(slice(None))

    def relative_gaps_of(self, some: Any) -> Vector:
        """Return the relative gaps of some programs."""
        dual, gap = self.dual[some], self.gap[some]
        doubt, found = np.maximum(self.doubt[some], self.slip[some]), np.full(len(gap), np.inf)
        with np.errstate(invalid="ignore", over="ignore"):
            size = np.maximum(dual - doubt, -dual - gap - doubt)
            np.divide(gap, size, out=found, where=np.isfinite(gap) & (size >= SMALLEST))
        found = np.where(gap <= 0.0, 0.0, np.maximum(found, SMALLEST))
        return np.where(self.convex[some], found, np.nan)

    def certificate(self, number: int) -> Certificate:
        """Return the proof of one program."""
        parts = self.dual, self.gap, self.violation, self.resolution, self.doubt, self.slip
        return Certificate(*(float(part[number]) for part in parts), convex=bool(self.convex[number]))

    def late(self, some: range) -> bool:
        """Return whether time ran out before anything was known of the solution of these programs."""
        own = slice(some.start, some.stop)
        late = (self.status[own] == STATUSES.index(Status.MAX_TIME)) & ~np.isfinite(self.violation[own])
        return bool(late.any())

    def trace(self, number: int) -> dict[str, Vector]:
        """Return the trace of one program."""
        found = self.traced.get(number)
        if found is not None:
            return found
        lines = self._lines(slice(number, number + 1)) if self.status[number] != UNSOLVED else np.empty((0, 0))
        return dict(Traces(TRACED, lines, np.array([len(lines)]))[0])

    @property
    def traces(self) -> Traces:
        """The traces of all programs."""
        many = {number: trace for number, trace in self.traced.items() if trace}
        names = next((tuple(trace) for trace in many.values()), TRACED)
        counts = self.solved.astype(np.int64)
        counts[list(self.traced)] = 0
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
        """Return the one line of programs that were solved in a batch."""
        parts = (part[some] for part in (self.seconds, self.n_iter, self.violation))
        return np.stack([*parts, self.relative_gaps_of(some), self.lower[some]], axis=1).astype(np.float64, copy=False)
