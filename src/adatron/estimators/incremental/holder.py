"""An estimator that holds a learner: its model, copies and states, and attributes made on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from copy import deepcopy
from functools import partial
from threading import RLock
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from ...kernels import Kernel
from ...learning.learner import Foundation, Learner, Limits
from ...learning.store import Store
from ...model.model import Model, Proofs
from ...model.readout import Readout
from ...quoted import quoted
from ..base.attributes import flat
from ..base.convergence import warn_unless_converged
from ..base.machine import KernelMachine

# Parameters that the solution rests on.
FIXED = ("C", "nu", "epsilon", "kernel", "degree", "gamma", "coef0", "bias", "augment", "multi_class", "class_weight")
KNOWN_PARTS = ("kernel", "gamma", "readout", "proofs")  # parts of a model that are known before it is gathered
STATE = ("_store", "_tracks", "n_refit_", "_fixed")  # what a learner gives to the state of its estimator
HERE = ("_saved", "_lock", "_learner")  # attributes of which a copy has its own, or none


class CompactError(ValueError, AttributeError):
    """The model has no samples; also an AttributeError, as ``hasattr`` and ``dir`` ask for properties of samples."""

    def __init__(self) -> None:
        super().__init__("A compact model has no samples to learn on from. Use the model from which it was made.")


class Holder(KernelMachine):
    """Base of the incremental estimators, which hold a learner. It gives a model when it is asked."""

    window: int | None
    _learner: Learner
    _busy = (*KernelMachine._busy, *HERE)

    # -- the learner

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The lock of a fit or a step: threads that learn do it one after the other."""
        return vars(self).setdefault("_lock", RLock())

    @property
    def learner(self) -> Learner:
        """The samples and their solution, for work within the present limits."""
        check_is_fitted(self)
        self._refuse_compact()
        self._learner.limits = self._limits
        return self._learner

    @property
    def _limits(self) -> Limits:
        return Limits(self.n_jobs, self.window, self.max_time)

    def for_step(self) -> Learner:
        """Return the learner, unless a parameter that the solution rests on was changed by ``set_params``."""
        learner = self.learner
        self._validate_params()
        for name, before in learner.foundation.fixed.items():
            now = getattr(self, name)
            if now != before:
                raise ValueError(
                    f"The {name!r} parameter was changed from {quoted(before)} to {quoted(now)} after fit. "
                    f"Call fit again{', or set_C' if name == 'C' else ''}."
                )
        return learner

    def foundation(self, **changed: Any) -> Foundation:
        """Return the parameters that a solution rests on, some of them changed, and their programs."""
        params = {**self.get_params(deep=False), **changed}
        problem = type(self)(**params).problem(float(params.get("augment", 1.0)))
        return Foundation({name: params[name] for name in FIXED if name in params}, problem)

    def _learner_of(self, kernel: Kernel, gamma: float, readout: Readout, foundation: Foundation) -> Learner:
        """Return a new learner, which has no samples yet."""
        warn = partial(warn_unless_converged, X=None, max_iter=-1)
        return Learner(kernel, gamma, readout, foundation, self._limits, self.lock, warn)

    @property
    def store(self) -> Store:
        """The samples."""
        return self.learner.store

    @property
    def _is_new(self) -> bool:
        """Whether there are no samples yet, so that a step is a fit."""
        self._refuse_compact()
        return "_learner" not in vars(self)

    def _refuse_compact(self) -> None:
        if "_model" in vars(self) and "_learner" not in vars(self):
            raise CompactError

    # -- the model

    @property
    def model_(self) -> Model:
        """The model of the solution, gathered when it is asked for."""
        learner: Learner | None = vars(self).get("_learner")
        return super().model_ if learner is None else learner.model()

    def part(self, name: str, requested: str) -> Any:
        learner: Learner | None = vars(self).get("_learner")
        if learner is None:
            return super().part(name, requested)
        return False if name == "compact" else getattr(learner if name in KNOWN_PARTS else self.model_, name)

    def __sklearn_is_fitted__(self) -> bool:
        return "_learner" in vars(self) or super().__sklearn_is_fitted__()

    # -- copies and states

    def __copy__(self) -> Self:
        """Return a copy with samples and a solution of its own, which do not affect this one."""
        other = object.__new__(type(self))
        with self.lock:
            vars(other).update({name: one for name, one in vars(self).items() if name not in HERE})
            if "_learner" in vars(self):
                other._learner = self._learner.copy(other.lock)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies, pickles and files: of a model with samples, not its support vectors."""
        with self.lock:  # no step may come between the parts, or change them before they are written
            kept, learner = super().__getstate__(), vars(self).get("_learner")
            return kept if learner is None else {**kept, **deepcopy(learner.state()), **flat(type(self), learner)}

    def _restore(self, own: bool) -> None:
        super()._restore(own)
        if "_tracks" in vars(self):
            self._refuse_state("all that is known of the solution is missing")

    def _make(self, parts: dict[str, Any]) -> None:
        """Make the learner of a state, given its parts; a compact model has none."""
        state = vars(self)
        own = {name: state.pop(name) for name in STATE if name in state}
        if "_tracks" not in own:
            super()._make(parts)
            return
        if own["_fixed"].keys() != {*FIXED} & {*self._get_param_names()}:
            raise ValueError("_fixed holds other parameters than those that the solution rests on")
        kernel, gamma, readout = parts["kernel"], parts["gamma"], self._readout_of_state(parts)
        learner = self._learner_of(kernel, gamma, readout, self.foundation(**own["_fixed"]))
        learner.restore(own, Proofs(**parts["proofs"]), state.get("n_features_in_"))
        self._learner = learner

    def faults(self) -> Iterator[str]:
        learner: Learner | None = vars(self).get("_learner")
        width = vars(self).get("n_features_in_")
        yield from super().faults() if learner is None else learner.faults(learner.proofs, width)
