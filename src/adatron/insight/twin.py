"""The incremental model with the solution of a fitted machine, from which samples can be taken away exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.checks import inputs
from ..estimators.incremental import (
    IncrementalNuSVC,
    IncrementalOneClassSVM,
    IncrementalSVC,
    IncrementalSVR,
)
from ..estimators.incremental.learning import Learning
from .subject import Ids, Subject

MOST = 20_000  # Samples: the path holds a row of K for each free support vector.
WORK = 5e8  # Numbers that all deletions of one question may touch: some ten seconds.
FEWEST = 20  # Deletions in any case.
KINDS: dict[str, Any] = {
    "SVC": IncrementalSVC,
    "NuSVC": IncrementalNuSVC,
    "SVR": IncrementalSVR,
    "OneClassSVM": IncrementalOneClassSVM,
}
SHARED = (
    "C", "nu", "epsilon", "bias", "multi_class", "decision_function_shape", "break_ties", "n_jobs",
)  # fmt: skip


@dataclass(frozen=True)
class Twin:
    """An incremental model, and the samples in it.

    Parameters
    ----------
    model : the incremental model
    numbers : (n,) the number of each of its samples among those that were given
    difference : largest difference of decision values between it and the machine, on these samples
    """

    model: Any
    numbers: Ids
    difference: float

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.numbers)

    @property
    def affordable(self) -> int:
        """The number of deletions that one question may cost."""
        free = sum(int(np.count_nonzero((t.beta != 0.0) & ~_fixed(self.model, t))) for t in self.model.tracks)
        return max(FEWEST, int(WORK / (self.n * (free + 50.0))))


def at_bound(twin: Twin) -> NDArray[np.bool_]:
    """Return whether each sample has a coefficient at its bound C."""
    found = np.zeros(twin.n, bool)
    for track in twin.model.tracks:
        found[track.numbers[(track.beta != 0.0) & _fixed(twin.model, track)]] = True
    return found


def _fixed(model: Learning, track: Any) -> NDArray[np.bool_]:
    dual = track.dual(model.program)
    return (track.beta == dual.lower) | (track.beta == dual.upper)


class Unavailable(ValueError):
    """The exact answer does not exist for this model; the text says why."""


def twin_of(subject: Subject) -> Twin:
    """Return the incremental model of the same samples, weights, kernel and parameters.

    Raises
    ------
    Unavailable
        The machine has no incremental form, or there are too many samples.
    """
    machine = subject.machine
    if isinstance(machine, Learning):
        return Twin(machine, np.arange(machine.store.n), 0.0)
    kind = KINDS.get(type(machine).__name__)
    if kind is None:
        raise Unavailable(f"{type(machine).__name__} has no incremental form, which exact deletion needs.")
    if inputs.given(machine.kernel_) or machine.given_objects is not None:
        raise Unavailable("Exact deletion needs samples that are rows of numbers, not kernel values.")
    if not machine.kernel_.convex and machine.kernel_.compiled:
        raise Unavailable("Exact deletion needs a positive semi-definite kernel.")
    n = subject.rows.shape[0]
    if n > MOST:
        raise Unavailable(f"Exact deletion is for at most {MOST:,} samples; there are {n:,}.")
    found = machine.get_params(deep=False)
    own = {name: found[name] for name in SHARED if name in kind().get_params() and name in found}
    if "augment" in found:
        own["augment"] = inputs.augment(machine.augment, subject.rows, None)
    if "multi_class" in own:
        own["multi_class"] = getattr(machine, "_fitted_multi_class")  # noqa: B009 (private to the machine)
    model = kind(kernel=machine.kernel_, **own)
    arguments = () if subject.task == "novelty" else (subject.y,)
    model.fit(subject.rows, *arguments, sample_weight=subject.weight)
    return Twin(model, np.asarray(model.ids_, np.int64), _difference(machine, model, subject))


def _difference(machine: Any, model: Any, subject: Subject) -> float:
    """Return the largest difference of the decision values of all problems, or of predictions."""
    values = [one._decision(subject.rows) for one in (machine, model)]
    return float(np.abs(values[0] - values[1]).max(initial=0.0))
