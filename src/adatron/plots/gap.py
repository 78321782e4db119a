"""A picture of a fit: how the distance from the optimum fell, and what was proven in the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import Vector
from ..estimators.base.machine import KernelMachine
from ..model.model import IF_SEMIDEFINITE
from ..pipelines import way_to
from ..quoted import quoted, upward
from .axes import COLORS, Display, display

MOST_TRACES = 50  # Traces that are drawn, those of the longest fits.
FEWEST_LINES = 3  # Lines of a trace below which there is no curve.
DRAWN_FLOOR = 1e-16  # Values below this are drawn here.


@display
class GapDisplay(Display):
    """The trace of a fit: the distance from the proven optimum and the KKT violation, over time.

    The distance is the proven upper bound of the optimum (the primal objective at the end) minus the dual objective, as
    a fraction of the larger objective. On the way the solver only estimates it, perhaps in float32. The dual objective
    rises, so the distance was never below the gap at the end, which is proven; a lower estimate is drawn there. A fit
    in one go has no curve, and the display says in a sentence what is proven.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    traces : sequence of dict
        For each binary problem 'seconds', 'kkt_violation' and 'dual_objective', as ``trace_`` has them; may be empty.
    gap, violation, primal, dual : ndarray of shape (n_problems,)
        The certificates.
    status : str, default='proven'
        What the certificates are: 'proven', or under which condition, or 'estimated' (incremental models).

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
    status: str = "proven"

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
        return cls.of(estimator).plot(ax=ax)

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return the display of a fitted machine."""
        machine = way_to(estimator).machine
        if not isinstance(machine, KernelMachine):
            raise TypeError(
                f"GapDisplay needs a machine of adatron, alone or at the end. Got {quoted(machine)} instead."
            )
        check_is_fitted(machine)
        trace: Any = getattr(machine, "trace_", {})
        names = ("duality_gap_", "kkt_violation_", "primal_objective_", "dual_objective_")
        proofs = (np.atleast_1d(np.asarray(getattr(machine, name), np.float64)) for name in names)
        worst, (gap, violation, primal, dual) = machine.certificate_, proofs
        status = "estimated" if worst.estimated else "proven" if worst.semidefinite else f"proven {IF_SEMIDEFINITE}"
        return cls([trace] if isinstance(trace, dict) else trace, gap, violation, primal, dual, status)

    @property
    def curved(self) -> bool:
        """Whether a trace is long enough for a curve."""
        return any(len(trace.get("seconds", ())) >= FEWEST_LINES for trace in self.traces)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw both quantities over seconds, and the certificates as lines across; or say what is proven."""
        ax = self._on(ax)
        if not self.curved:
            ax.text(0.5, 0.5, self._sentence(), ha="center", va="center", transform=ax.transAxes)
            if _alone(ax):
                ax.set_axis_off()
            return self
        from matplotlib.ticker import EngFormatter

        seconds = [float(trace["seconds"][-1]) if trace else -1.0 for trace in self.traces]
        longest = [k for k in np.argsort(seconds)[::-1][:MOST_TRACES].tolist() if seconds[k] >= 0.0]
        for rank, k in enumerate(longest):
            self._draw(ax, k, alpha=1.0 if rank == 0 else 0.35, named=rank == 0)
        for (name, worst), color in zip(self._proven(), (COLORS[0], COLORS[2]), strict=True):
            if np.isfinite(worst):
                text = f"{self.status}: {name} {self._size} {upward(worst)}"
                ax.axhline(max(worst, DRAWN_FLOOR), color=color, linestyle=":", linewidth=1.5, label=text)
        ax.set(yscale="log", xlabel="time", ylabel="distance, KKT violation")
        ax.xaxis.set_major_formatter(EngFormatter("s"))
        ax.xaxis.get_major_locator().set_params(nbins=6)
        ax.set_xlim(left=0)
        ax.legend(fontsize="small")
        return self

    def _proven(self) -> list[tuple[str, float]]:
        """Return the largest gap and the largest violation."""
        both = (("duality gap", self.gap), ("KKT violation", self.violation))
        return [(name, float(np.nanmax(value, initial=-np.inf))) for name, value in both]

    def _sentence(self) -> str:
        known = [f"{name} {self._size} {upward(worst)}" for name, worst in self._proven() if np.isfinite(worst)]
        return f"Solved in one go.\n{self.status.capitalize()}: {', '.join(known) or 'nothing'}."

    @property
    def _size(self) -> str:
        return "≈" if self.status == "estimated" else "≤"

    def _draw(self, ax: Any, k: int, alpha: float, named: bool) -> None:
        trace = self.traces[k]
        size = max(self.dual[k], -self.primal[k])
        away = np.full(len(trace["dual_objective"]), self.gap[k])
        if size > 0.0:
            away = np.maximum((self.primal[k] - trace["dual_objective"]) / size, away)
        away[-1] = self.gap[k]
        style = {"alpha": alpha, "markersize": 4, "linewidth": 1.5}
        for values, line, color, name in (
            (away, "o-", COLORS[0], "distance, estimated"),
            (trace["kkt_violation"], "x-", COLORS[2], "KKT violation, estimated"),
        ):
            seconds, height = (one[np.isfinite(values)] for one in (trace["seconds"], np.maximum(values, DRAWN_FLOOR)))
            ax.plot(seconds, height, line, color=color, label=name if named else None, **style)
            if len(height) and np.isfinite(values[-1]):
                ax.plot(seconds[-1:], height[-1:], "D", color=color, alpha=alpha, markersize=6)


def _alone(ax: Any) -> bool:
    """Return whether no other axes show the ticks of these ones."""
    groups = (ax.get_shared_x_axes(), ax.get_shared_y_axes())
    return all(len(group.get_siblings(ax)) == 1 for group in groups)
