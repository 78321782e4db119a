"""A picture of a fit: how the distance from the optimum fell, and what was proven in the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import Vector
from ..estimators.base.machine import KernelMachine
from ..estimators.forms.way import way_to
from ..quoted import quoted
from .axes import COLORS, Display

MOST_TRACES = 50  # Traces that are drawn, those of the longest fits.
FLOOR = 1e-16  # Values below this are drawn here.


@dataclass
class GapDisplay(Display):
    """The trace of a fit: the distance from the proven optimum and the KKT violation, over time.

    The distance is the proven upper bound of the optimum (the primal objective at the end) minus the dual objective, as
    a fraction of the larger objective. It falls, and ends at the certified gap.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    traces : sequence of dict
        For each binary problem 'seconds', 'kkt_violation' and 'dual_objective', as ``trace_`` has them; may be empty.
    gap, violation, primal, dual : ndarray of shape (n_problems,)
        The certificates.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import GapDisplay
    >>> from sklearn.datasets import make_moons
    >>> model = SVC(C=10).fit(*make_moons(200, noise=0.2, random_state=0))
    >>> display = GapDisplay.from_estimator(model)
    >>> bool(display.gap[0] == model.duality_gap_)
    True
    """

    traces: Sequence[dict[str, Vector]]
    gap: Vector
    violation: Vector
    primal: Vector
    dual: Vector

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Any = None) -> Self:
        """Draw the trace of a fitted machine.

        Parameters
        ----------
        estimator : any machine of this library
            Fitted; also as the last step of a pipeline.
        X, y : ignored
            Every display takes samples and their targets; a trace needs none.
        ax : matplotlib axes, default=None
            By default those of a new figure.
        """
        machine = way_to(estimator).machine
        if not isinstance(machine, KernelMachine):
            raise TypeError(
                f"GapDisplay needs a machine of adatron, alone or at the end. Got {quoted(machine)} instead."
            )
        check_is_fitted(machine)
        trace: Any = getattr(machine, "trace_", {})
        names = ("duality_gap_", "kkt_violation_", "primal_objective_", "dual_objective_")
        proofs = (np.atleast_1d(np.asarray(getattr(machine, name), np.float64)) for name in names)
        return cls([trace] if isinstance(trace, dict) else trace, *proofs).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw both quantities over seconds, and the certificates as lines across."""
        ax = self._on(ax)
        from matplotlib.ticker import EngFormatter

        seconds = [float(trace["seconds"][-1]) if trace else -1.0 for trace in self.traces]
        longest = [k for k in np.argsort(seconds)[::-1][:MOST_TRACES].tolist() if seconds[k] >= 0.0]
        for rank, k in enumerate(longest):
            self._draw(ax, k, alpha=1.0 if rank == 0 else 0.35, named=rank == 0)
        for value, color, name in ((self.gap, COLORS[0], "duality gap"), (self.violation, COLORS[2], "KKT violation")):
            worst = float(np.nanmax(value, initial=-np.inf))
            if np.isfinite(worst):
                text = f"proven {name} ≤ {worst:.1e}"
                ax.axhline(max(worst, FLOOR), color=color, linestyle=":", linewidth=1.5, label=text)
        ax.set(yscale="log", xlabel="time", ylabel="distance from the optimum")
        ax.xaxis.set_major_formatter(EngFormatter("s"))
        ax.xaxis.get_major_locator().set_params(nbins=6)
        ax.set_xlim(left=0)
        ax.legend(fontsize="small")
        return self

    def _draw(self, ax: Any, k: int, alpha: float, named: bool) -> None:
        trace = self.traces[k]
        size = max(abs(self.primal[k]), abs(self.dual[k]), np.finfo(float).tiny)
        away = (self.primal[k] - trace["dual_objective"]) / size
        style = {"alpha": alpha, "markersize": 4, "linewidth": 1.5}
        one = len(away) == 1
        for values, line, color, name in (
            (away, "o" if one else "o-", COLORS[0], "distance of the dual objective"),
            (trace["kkt_violation"], "x" if one else "x-", COLORS[2], "KKT violation"),
        ):
            there = np.isfinite(values)
            label = name if named else None
            ax.plot(trace["seconds"][there], np.maximum(values[there], FLOOR), line, color=color, label=label, **style)
