"""A picture of exact influence: what changes if a sample is deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..insight import Influence, influence
from .axes import Display, bars

SAMPLES_DRAWN = 12  # Samples that are drawn.


@dataclass(repr=False)
class InfluenceDisplay(Display):
    """The samples whose deletion changes the decision function most, by exact deletion.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    influence : Influence
        What :func:`adatron.insight.influence` returned.
    labels : list of str
        A name for each of ``influence.numbers``.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import InfluenceDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> display = InfluenceDisplay.from_estimator(SVC(C=10).fit(X, y), X, y)
    >>> display.influence.complete
    True
    """

    influence: Influence
    labels: list[str]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        sample_weight: Any = None,
        max_deletions: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Compute and draw; see :func:`adatron.insight.influence` for the parameters."""
        found = influence(estimator, X, y, X_test, y_test, sample_weight=sample_weight, max_deletions=max_deletions)
        return cls.of(found, y).plot(ax=ax)

    @classmethod
    def of(cls, found: Influence, y: Any = None) -> Self:
        """Return the display of a result; y names the samples."""
        numbers = found.numbers.tolist()
        if y is None:
            return cls(found, [f"row {one}" for one in numbers])
        named = np.asarray(y).ravel()[found.numbers].tolist()
        return cls(found, [f"row {one}: {_short(label)}" for one, label in zip(numbers, named, strict=True)])

    def plot(self, *, ax: Any = None, shown: int = SAMPLES_DRAWN) -> Self:
        """Draw a bar for each of the first samples; the words behind it say how many predictions change."""
        ax, found = self._on(ax), self.influence
        change, bound = found.change[:shown], found.bound[:shown]
        bars(ax, self.labels[:shown], change, bound)
        for line, (length, flips) in enumerate(zip(change, found.flips, strict=False)):
            if flips:
                words = "1 prediction changes" if flips == 1 else f"{flips} predictions change"
                beside: Any = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": "small"}
                ax.annotate(words, (length, line), **beside)
        what = "prediction" if found.task == "regression" else "decision value"
        ax.set(xlabel=f"mean change of the {what}\non {found.n_probes:,} {found.probes} samples")
        ax.margins(x=0.4 if any(found.flips[:shown]) else 0.05)
        ax.set_xlim(left=0)
        return self


def _short(label: Any) -> str:
    return f"{label:.4g}" if isinstance(label, float) else str(label)
