"""Changes of C: the solution follows."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from ...learning.c_path import CPath, paths_in_C
from ...quoted import quoted
from .machine import Incremental

Learned = TypeVar("Learned", bound=Incremental)


def set_C(self: Learned, C: float) -> Learned:
    """Change C: the solution becomes that of the same samples with another C.

    Parameters
    ----------
    C : float
        > 0. From a finite C to ``inf``, or back, the solution is found anew.

    Returns
    -------
    self : the estimator

    Raises
    ------
    ValueError
        C is not a number > 0.
    ArithmeticError
        Rounding leaves no way to the solution; the estimator is then as it was.
    """
    _check(C)
    with self.turn:
        learner = self.for_step()
        with learner.step() as undo:
            undo.append(partial(self.set_params, C=learner.foundation.fixed["C"]))
            learner.follow(self.foundation(C=C))
            self.set_params(C=C)
    return self


def C_path(self: Incremental, C: float) -> list[CPath]:
    """Return all breakpoints of the exact path from the present C to another one; the model stays as it is.

    Parameters
    ----------
    C : float
        > 0 and finite.

    Returns
    -------
    paths : list of CPath
        One for each binary problem.

    Raises
    ------
    ValueError
        C is not a finite number > 0.
    ArithmeticError
        Rounding leaves no way.
    """
    _check(C)
    with self.turn:
        learner = self.for_step()
        begin: float = learner.foundation.fixed["C"]
        if not np.isfinite([C, begin]).all():
            raise ValueError(f"A path in C needs finite ends. Got {quoted(begin)} and {quoted(C)}.")
        return paths_in_C(learner, self.foundation(C=C).form.made, begin, C)


def _check(C: Any) -> None:
    if not isinstance(C, Real) or not float(C) > 0.0:
        raise ValueError(f"The 'C' parameter must be a float in the range (0.0, inf]. Got {quoted(C)} instead.")
