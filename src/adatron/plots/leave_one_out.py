"""A picture of exact leave-one-out errors for several C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..insight.leave_one_out import AlongC, along_C
from ..insight.subject import Subject, unnamed
from ..insight.twin import twin_of
from .axes import COLORS, Display

LOO_ERROR, LOO_RMSE = "leave-one-out error", "leave-one-out RMSE"


@dataclass(repr=False)
class LeaveOneOutDisplay(Display):
    """The exact leave-one-out error over C.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    along : AlongC
        The errors, with the values of C.
    what : str
        The name of the error.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import LeaveOneOutDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> display = LeaveOneOutDisplay.from_estimator(SVC(C=10).fit(X, y), X, y, factors=[0.1, 1, 10])
    >>> display.along.error.shape
    (3,)
    """

    along: AlongC
    what: str = LOO_ERROR

    @classmethod
    @unnamed()
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, factors: Any = None, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        estimator : SVC or SVR, or their incremental forms
            Fitted; also as the last step of a pipeline.
        X, y : array-like
            The samples that the model was fitted to.
        factors : array-like, default=None
            What the model's C is multiplied by; by default nine numbers from 0.01 to 100.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the fit.
        ax : matplotlib axes, default=None
            By default those of a new figure.
        """
        subject = Subject.of(estimator, X, y, sample_weight)
        found = along_C(subject, twin_of(subject), factors)
        return cls(found, LOO_RMSE if subject.task == "regression" else LOO_ERROR).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the errors, and the model's own C."""
        ax, found = self._on(ax), self.along
        ax.semilogx(found.C, found.error, "o-", color=COLORS[0], label=f"exact, {found.n_asked:,} samples")
        if found.uncertainty.any():
            low, high = found.error - found.uncertainty, found.error + found.uncertainty
            ax.fill_between(found.C, np.maximum(low, 0.0), high, color=COLORS[0], alpha=0.2, linewidth=0)
        ax.axvline(found.C[found.own], color=COLORS[1], label="the model's C")
        ax.set(xlabel="C", ylabel=self.what, ylim=(0, None))
        ax.legend(fontsize="small")
        return self
