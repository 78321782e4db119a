"""Classes from the values of binary problems: one rule for predictions, samples left out, and searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _ovr_decision_function  # pyright: ignore[reportPrivateUsage]

from ...fitting import layout


@dataclass(frozen=True)
class Votes:
    """The rule of a classifier.

    classes : (n_classes,) labels
    in_pairs : whether there is a problem for each pair of more than two classes
    shape : parameter ``decision_function_shape``
    break_ties : whether decision values break ties of votes
    """

    classes: NDArray[Any]
    in_pairs: bool
    shape: str
    break_ties: bool

    def shaped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the decision function of some rows from the values of the problems, (rows, n_problems)."""
        if len(self.classes) == 2:
            return values[:, 0]
        if self.shape == "ovr" and self.in_pairs:
            return _ovr_decision_function(values < 0, -values, len(self.classes))
        return values

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of the class for each row of values."""
        if len(self.classes) == 2:
            return (values[:, 0] >= 0).astype(np.int64)
        if self.in_pairs and not self.break_ties:
            return layout.votes(values, len(self.classes))
        return np.argmax(self.shaped(values), axis=1)

    def check(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.break_ties and self.shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
