"""SVMseq: sequential learning of support vectors with the bias inside the kernel.

Problem   programs of ``problems.dual`` without an equality: bias augmented (D_ij = y_i y_j (K_ij + lambda^2)) or none;
          classification and regression.
Update    for i = 1, ..., n:  h_i <- clip(h_i + gamma (1 - E_i), 0, C),  E = D h  (section 4.2). In regression
          beta_i <- clip(soft(beta_i + gamma E_i, gamma epsilon), -C, C), beta = alpha* - alpha, E = y - R beta.
          (The paper moves alpha and alpha* at once (6.1). With both free the curvature is 2 R_ii, and it diverges.)
          gamma < 2 / max D_ii (eq. 44), by default 1.9 / max D_ii: the dual never falls.
Stop      violation <= tol. A threshold may also bound the largest |delta h_i| of an epoch, or its gain of the
          objective (the sum of eq. 40, relative to the objective).
Source    S. Vijayakumar, S. Wu, Sequential support vector classifiers and regression (1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...gram import View
from ...problems import Dual
from ..base import Options, Solver, Watch
from ..results import Solution, Status
from ..tasks import State
from .kernel_adatron import NOT_ZERO, legal_rate
from .sweeps import Sweeps, visits

DEFAULT_RATE = 1.9  # The default rate, as a multiple of 1 / max D_ii.


@dataclass(frozen=True)
class SVMseq(Solver):
    """SVMseq.

    Parameters
    ----------
    rate : float, default=None
        Learning rate gamma, in (0, 2 / max D_ii); None is 1.9 / max D_ii.
    largest_step : float, default=None
        Stop when no coefficient has changed by more than this in an epoch.
    gain : float, default=None
        Stop when an epoch has raised the objective by no more than this fraction of itself.
    order : 'content', 'given' or int, default='content'
        Order of the visits: that of the library, that of the rows of X (the papers), or a random one with this seed.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.solvers import SVMseq
    >>> SVC(solver=SVMseq(), bias="augmented").fit([[0.0], [1.0]], [0, 1]).predict([[0.2]])
    array([0])
    """

    rate: float | None = None
    largest_step: float | None = None
    gain: float | None = None
    order: str | int = "content"
    unit: ClassVar[str] = "epochs"
    traced: ClassVar[tuple[str, ...]] = ("largest_step", "gain")

    def accepts(self, dual: Dual) -> bool:
        return not dual.totals

    def most(self, n: int) -> int:
        return 200_000

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        return _SVMseq(self, view, dual, options, state, watch).solve()


class _SVMseq(Sweeps[SVMseq]):
    def prepare(self) -> None:
        super().prepare()
        largest = max(float(self.diagonal.max()), NOT_ZERO)
        rate = DEFAULT_RATE / largest if self.how.rate is None else self.how.rate
        self.rate = legal_rate(rate, self.diagonal)
        self.order = visits(self.how.order, self.view)

    def ascend(self, tol: float) -> Status:
        gain = step = np.inf
        while True:
            status = self.pause(self.violation(), tol, step, gain)
            if status is None and self._rests(step, gain):
                return Status.RULE
            if status is not None:
                return status
            gain, step = self.epoch(0.0)

    def _rests(self, step: float, gain: float) -> bool:
        """Return whether one of the paper's stopping rules is met."""
        size = abs(self.dual.objective(self.beta, self.g))
        small_step = self.how.largest_step is not None and step <= self.how.largest_step
        return small_step or (self.how.gain is not None and gain <= self.how.gain * size)
