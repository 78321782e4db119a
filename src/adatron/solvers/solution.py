"""A solver's result: a dual point, its certificate, and the trace of the way there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..certificates import Certificate, unproven
from ..problems import Dual
from .status import Status

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

    ``blur``: the accuracy of the multipliers, if it is not the resolution of the certificate.
    """

    beta: Vector
    g: Vector
    n_iter: int
    status: Status
    certificate: Certificate
    trace: dict[str, NDArray[np.float64]]
    blur: float | None = None

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
