"""The incremental model with the solution of a fitted machine, from which samples can be taken away exactly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..door import inputs
from ..estimators import SVC, SVDD, SVR, NuSVC, OneClassSVM
from ..estimators.incremental import (
    IncrementalNuSVC,
    IncrementalOneClassSVM,
    IncrementalSVC,
    IncrementalSVDD,
    IncrementalSVR,
)
from ..estimators.incremental.machine import Incremental
from ..learning.learner import Learner
from ..learning.leave_out import Optimum
from .subject import Ids, Subject, Unavailable, unnamed

MOST_ON_PATH = 20_000  # Samples: the path holds a row of K for each free support vector.
WORK = 5e8  # Numbers that all deletions of one question may touch: some ten seconds.
DELETION_NUMBERS = 1e5  # Numbers that could be touched in the time that a deletion takes in any case.
FEWEST_DELETIONS = 20  # Deletions in any case.
INCREMENTAL_KINDS: dict[type[Any], Any] = {
    SVC: IncrementalSVC,
    NuSVC: IncrementalNuSVC,
    SVR: IncrementalSVR,
    OneClassSVM: IncrementalOneClassSVM,
    SVDD: IncrementalSVDD,
}  # Machines whose samples leave along an exact path, and those that let them leave.
LEAST_DIFFERENCE = 1e-6  # A smaller difference is rounding and the tolerance of the fit.
OTHER_WEIGHTS = 0.1  # Fraction of the largest value; a larger difference of values says that the fit had other weights.
SHARED = (
    "C", "nu", "epsilon", "bias", "multi_class", "decision_function_shape", "break_ties", "n_jobs",
)  # fmt: skip


@dataclass(frozen=True)
class Twin:
    """An incremental model, and the samples in it.

    model : the incremental model
    numbers : (n,) the number of each of its samples among those that were given
    difference : largest difference of decision values between it and the machine, on these samples
    far : whether this difference is too large for a solution of the same problem
    """

    model: Any
    numbers: Ids
    difference: float
    far: bool = False

    @property
    def learner(self) -> Learner:
        """The samples of the model, and their solution."""
        return self.model.learner

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.numbers)

    @property
    def affordable(self) -> int:
        """The number of samples that one question may delete, of those that can matter."""
        work = 0.0
        for own in Optimum.of(self.learner):
            free = int(np.count_nonzero((own.beta != 0.0) & ~_fixed(own)))
            work += np.count_nonzero(own.deciding()) * (len(own.beta) * (free + 50.0) + DELETION_NUMBERS)
        return max(FEWEST_DELETIONS, int(WORK * len(candidates(self)) / max(1.0, work)))


def candidates(twin: Twin) -> Ids:
    """Return the slots of the samples that can matter: those that decide one of the programs."""
    return np.flatnonzero(_any(twin, Optimum.deciding))


def at_bound(twin: Twin) -> NDArray[np.bool_]:
    """Return whether each sample has a coefficient at its bound C."""
    return _any(twin, lambda own: (own.beta != 0.0) & _fixed(own))


def _any(twin: Twin, holds: Callable[[Optimum], NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return whether something holds for each sample in one of the programs."""
    found = np.zeros(twin.n, bool)
    for own in Optimum.of(twin.learner):
        found[own.track.numbers[holds(own)]] = True
    return found


def _fixed(own: Optimum) -> NDArray[np.bool_]:
    return (own.beta == own.dual.lower) | (own.beta == own.dual.upper)


def twin_of(subject: Subject, max_time: float | None = None) -> Twin:
    """Return the incremental model of the same samples, weights, kernel and parameters, found in so many seconds.

    Raise Unavailable if the machine has no incremental form, or there are too many samples, and TimeoutError if it
    takes longer. Warn if the exact solution is far from the machine, as with other weights than those of the fit.
    """
    machine = subject.machine
    if isinstance(machine, Incremental):
        return Twin(machine, np.arange(machine.store.n), 0.0)
    kind = INCREMENTAL_KINDS.get(type(machine))
    if kind is None:
        raise Unavailable(f"{type(machine).__name__} has no incremental form, which exact deletion needs.")
    if inputs.given(machine.kernel_) or machine.model_.samples is not None:
        raise Unavailable("Exact deletion needs samples that are rows of numbers, not kernel values.")
    if not machine.kernel_.convex and machine.kernel_.compiled:
        raise Unavailable("Exact deletion needs a positive semi-definite kernel.")
    n = subject.rows.shape[0]
    if n > MOST_ON_PATH:
        raise Unavailable(f"Exact deletion is for at most {MOST_ON_PATH:,} samples; there are {n:,}.")
    found = machine.get_params(deep=False)
    own = {name: found[name] for name in SHARED if name in kind().get_params() and name in found}
    if "augment" in found:
        own["augment"] = inputs.augment(machine.augment, subject.rows, None)
    if "multi_class" in own:
        own["multi_class"] = "ovr" if machine.readout.each else "ovo"
    model = kind(kernel=machine.kernel_, max_time=max_time, **own)
    try:
        model.fit(subject.rows, subject.y, sample_weight=subject.weight)
    except (ValueError, ArithmeticError) as error:
        raise Unavailable(f"The exact solution was not found: {error}") from error
    with unnamed():  # rows have no names, and the machine may know some
        values = [one.problem_values(subject.rows) for one in (machine, model)]
    difference = float(np.abs(values[0] - values[1]).max(initial=0.0))
    far = difference > max(LEAST_DIFFERENCE, OTHER_WEIGHTS * float(np.abs(values[0]).max(initial=0.0)))
    if far:
        warnings.warn(
            f"The exact solution, which the answers are about, differs from the model by up to {difference:.2g}. Pass "
            "the weights of the samples if the fit had some, or else fit to a smaller tolerance.",
            UserWarning,
            stacklevel=3,
        )
    return Twin(model, np.asarray(model.ids_, np.int64), difference, far)
