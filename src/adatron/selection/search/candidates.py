"""Which estimators and which of their settings can share kernel matrices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from ...kernels import Kernel
from ..ranges.auto import OUR_MACHINES
from .theirs import clone

SHARING_SOLVERS = ("auto", "block")  # Those that fit on shared matrices.
IDLE_STEPS = ("passthrough", None)  # steps of a pipeline that change nothing


@dataclass(frozen=True)
class Candidate:
    """A setting that can share.

    number : the place of the setting among all settings
    model : the machine, with its parameters
    prefix : the steps before the machine in a pipeline; None if they change nothing
    steps : a key that is equal for equal ``prefix``
    """

    number: int
    model: Any
    prefix: Any
    steps: Hashable

    @property
    def samples(self) -> Hashable:
        """Return a key that is equal for candidates with the same checked samples, see ``SharedRows``.

        Samples with classes, with numbers and without targets are checked, sorted and merged differently.
        """
        return self.steps, is_classifier(self.model), is_regressor(self.model), repr(self.model.device)


def machine_of(estimator: Any) -> Any:
    """Return the machine in an estimator, or None: classes derived from ours do not count, as they may do anything."""
    if type(estimator) is Pipeline:
        estimator = estimator.steps[-1][1] if estimator.steps else None
    return estimator if type(estimator) in OUR_MACHINES else None


def candidate_of(base: Any, number: int, parameters: dict[str, Any]) -> Candidate | None:
    """Return a setting of an estimator; None if the setting cannot share or is wrong."""
    try:
        estimator = clone(base).set_params(**clone(parameters, safe=False))
    except Exception:  # of the user's own classes; scikit-learn's own way meets the error again
        return None
    model = machine_of(estimator)
    if model is None:
        return None
    try:
        model._validate_params()
    except ValueError:  # likewise
        return None
    if not _shares(model):
        return None
    if type(estimator) is Pipeline and (estimator.verbose or getattr(estimator, "transform_input", None)):
        return None
    if type(estimator) is not Pipeline or all(step in IDLE_STEPS for _, step in estimator.steps[:-1]):
        return Candidate(number, model, None, None)
    if estimator.steps[-1][0] != base.steps[-1][0]:  # other steps have other parameters under the same names
        return None
    prefix = Pipeline(estimator.steps[:-1], memory=estimator.memory)
    return Candidate(number, model, prefix, _of_prefix(base, parameters))


def _of_prefix(base: Any, parameters: dict[str, Any]) -> Hashable:
    """Return the parameters that belong to the steps before the machine."""
    last = base.steps[-1][0]
    own = (name for name in parameters if name != last and not name.startswith(f"{last}__"))
    return tuple((name, _known(parameters[name])) for name in sorted(own))


def _known(value: Any) -> Hashable:
    """Return a key that is equal for equal plain values; for other values, a key of the object itself."""
    plain = isinstance(value, (str, int, float, bool, np.number, type(None)))
    return (type(value).__name__, value) if plain else id(value)


def _shares(model: Any) -> bool:
    """Return whether the setting asks for nothing but the solution of the machine's programs, one for each problem."""
    plain = model.callback is None and model.max_time is None and not model.verbose
    probability = getattr(model, "probability", False)
    several = getattr(model, "columns", None) is not None
    if not plain or several or model.solver not in SHARING_SOLVERS or probability not in (False, "deprecated"):
        return False
    kernel = model.kernel
    if isinstance(kernel, str):
        return kernel != "precomputed"
    return isinstance(kernel, Kernel) and kernel.compiled
