"""The gradient of a program and its variables, wherever their rows are.

A solver steers; the gradient does what touches all variables. ``Gradient`` has its rows in this process. Machines that
hold rows of K elsewhere keep their parts of the gradient, and the solver gets the same bits from them: each value
depends on its own row and on the changes in their order, and sums over rows are taken in the order of the variables.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...gram import Points, View
from ...problems import Dual
from ...threads import OutOfTime
from .shard import Shard, Survey


class Gradient:
    """The gradient of a program, with what a solver asks of it; subclasses have their rows elsewhere.

    beta : the solver's, which changes in place
    limited : whether time may run out
    known : whether the gradient is that of the variables; False only if time has run out
    """

    known = True

    def __init__(self, view: View, dual: Dual, beta: Vector, limited: bool = False) -> None:
        self.view, self.dual, self.beta, self.limited = view, dual, beta, limited
        self._g = -dual.t
        self._shard: Shard | None = None

    @property
    def g(self) -> Vector:
        """The values for all variables. After a correction in place, call ``corrected``."""
        return self._g

    @g.setter
    def g(self, g: Vector) -> None:
        if g is not self._g:
            self._g[:] = g

    def serve(self, view: View) -> None:
        """Take the values of K from this view from now on."""
        self.view, self._shard = view, None

    def survey(self, most: int) -> Survey:
        """Return the state of the problem, with at least its ``most`` worst violators in both directions."""
        if self._shard is None:
            self._shard = Shard(self.view, self.dual, self.beta, self._g)
        return self._shard.survey(most)

    def at(self, ids: Ids) -> Vector:
        """Return the gradient of some variables."""
        return self._g[ids]

    def points(self, ids: Ids) -> Points:
        """Return the points behind some variables."""
        return self.view.points(ids)

    def look(self, ids: Ids) -> tuple[Points, Vector]:
        """Return the points behind some variables, and their gradient."""
        return self.points(ids), self._g[ids]

    def set_beta(self, ids: Ids, beta: Vector) -> None:
        """Set some variables."""
        self.beta[ids] = beta

    def apply(self, ids: Ids, points: Points, change: Vector, constant: float, beta: Vector | None = None) -> None:
        """Add K[:, ids] @ change + constant to the gradient; if time runs out, the gradient stays what it was.

        beta : the variables after the change, to be set; None if they have been set
        """
        before = self._g.copy() if self.limited else None
        try:
            self.view.accumulate(self._g[:, None], points, change[:, None])
            if constant:
                self._g += constant
        except OutOfTime:
            if before is not None:
                self._g[:] = before
            raise
        if beta is not None:
            self.beta[ids] = beta

    def corrected(self, which: NDArray[np.bool_]) -> None:
        """Take the corrections that were made in place to the gradient of these variables: nothing to do here."""

    def give_back(self) -> None:
        """Give memory elsewhere back; nothing more is asked."""
