"""A picture of how strongly each feature moves the decision function at the boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..estimators.forms.way import way_to
from ..insight import Sensitivity, sensitivity
from ..insight.names import names_of
from .axes import Display, bars

FEATURES_DRAWN = 15  # Features that are drawn.


@dataclass(repr=False)
class SensitivityDisplay(Display):
    """The mean size of the slope at the boundary, times the spread of the feature, for the strongest features.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    sensitivity : Sensitivity
        What :func:`adatron.insight.sensitivity` returned.
    names : list of str
        Names of the features.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import SensitivityDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = SensitivityDisplay.from_estimator(SVC(C=10).fit(X, y), X)
    >>> display.names[0]
    'sepal length (cm)'
    """

    sensitivity: Sensitivity
    names: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, feature_names: Any = None, ax: Any = None
    ) -> Self:
        """Compute and draw; see :func:`adatron.insight.sensitivity`, which needs no y.

        ``feature_names`` are names of the columns of X, or of the features that the machine sees after the steps of a
        pipeline; by default those that the model knows.
        """
        found = sensitivity(estimator, X)
        given = None if feature_names is None else list(feature_names)
        return cls(found, names_of(way_to(estimator), np.shape(X)[1], found.space, given)).plot(ax=ax)

    def plot(self, *, ax: Any = None, shown: int = FEATURES_DRAWN) -> Self:
        """Draw a bar for each of the strongest features."""
        ax, effect = self._on(ax), self.sensitivity.effect
        order = np.argsort(-effect, kind="stable")[:shown]
        bars(ax, [self.names[j] for j in order], effect[order])
        where = "at the boundary" if self.sensitivity.n_tried else "at the samples"
        ax.set(xlabel=f"mean slope {where}\n× deviation of the feature")
        return self
