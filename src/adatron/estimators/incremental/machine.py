"""The common base of the incremental machines: parameters, forgetting, files, and attributes made on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import replace
from numbers import Integral, Real
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ...arrays import Ids, Vector
from ...compiled.cache.uninterrupted import uninterrupted
from ...docstrings import documented
from ...fitting.storage import opened, tidy
from ...model.heads import Head
from ...model.model import Model, Proofs, Worst
from ...quoted import quoted
from ..base.attributes import Attribute, flat
from ..base.machine import KernelMachine, Resolved
from ..checks import inputs, objects
from ..checks.arrays import refuse_remote
from ..checks.checked import checked
from .learner import Foundation, Learner, Limits
from .report import report
from .store import Store

# Parameters that the solution rests on.
FIXED = ("C", "nu", "epsilon", "kernel", "degree", "gamma", "coef0", "bias", "augment", "multi_class", "class_weight")
KNOWN_PARTS = ("kernel", "gamma", "head", "proofs")  # parts of a model that are known before it is gathered
STATE = ("_store", "_tracks", "n_refit_", "_fixed")  # what a learner gives to the state of its machine
HERE = ("_saved", "_turn", "_learner")  # attributes of which a copy has its own, or none


class CompactError(ValueError, AttributeError):
    """The model has no samples; also an AttributeError, as ``hasattr`` and ``dir`` ask for properties of samples."""

    def __init__(self) -> None:
        super().__init__("A compact model has no samples to learn on from. Use the model from which it was made.")


@documented
class Incremental(KernelMachine):
    """Base of the incremental machines, used together with the batch class.

    A machine holds a learner, which gives a model when it is asked. A fit begins a new learner, and a step changes it.

    Parameters
    ----------
    kernel : str, adatron.kernels.Kernel or callable, default='rbf'
        'rbf', 'linear', 'poly', 'laplacian', a kernel object, or a function of two arrays of rows that returns their
        kernel matrix. It must be positive semi-definite, and a kernel of samples.
    gamma : {'scale', 'auto'} or float, default='scale'
        1 / (n_features * X.var()), 1 / n_features, of the samples of the first call; or the value itself.
    class_weight : dict, default=None
        Weights of the classes.
    augment : float, default=1.0
        Augmenting factor of ``bias='augmented'``.
    window : int, default=None
        Keep only this many samples, the last ones; None keeps all.
    n_jobs : int, default=None
        Threads of ``fit`` and of predictions; None and -1 are all that the process may use.
    max_time : float, default=None
        Seconds after which a call that fits, follows a path or leaves samples out gives up with a TimeoutError. The
        model is then as it was.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Numbers of the support vectors in the order of ``ids_``. It is made on request, as are the vectors and their
        coefficients.
    ids_ : ndarray of shape (n_samples,)
        Ids of the samples in the model.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float, or ndarray of shape (n_problems,)
        By the gradient that the path follows, after every call; of a program with nu before division by the margin.
        ``deletion_report`` has the bounds.
    n_iter_ : int or ndarray
        Events on the path of the last call: variables became free or met a bound.
    n_refactor_, n_refit_ : int
        Counts since ``fit``: gradients computed anew because of drift, and solutions found anew because rounding left
        no way.
    certificate_ : object with ``gap``, ``violation``, ``converged`` and ``problems``
        The largest gap and violation of all binary problems, by the gradient that the path follows.
    files_ : list of str
        The files that this model was saved to or loaded from.
    stream_ : dict or None
        What ``adatron stream`` has learned from which input; None if it has not learned this model.
    """

    window: int | None
    _learner: Learner
    certificate_: Attribute[Worst] = Attribute(
        "worst",
        shown=lambda worst: replace(worst, estimated=True),
    )
    _busy = (*KernelMachine._busy, *HERE)
    precision = "double"
    stream_: dict[str, Any] | None = None  # record of ``adatron stream``: what it has learned from which input

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "class_weight": [dict, None],
        "augment": [Interval(Real, 0.0, None, closed="neither")],
    }

    # -- the learner

    @property
    def turn(self) -> AbstractContextManager[Any]:
        """The turn of a fit or a step: threads that learn do it one after the other."""
        return vars(self).setdefault("_turn", RLock())

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
        form = type(self)(**params).formulation(float(params.get("augment", 1.0)))
        return Foundation({name: params[name] for name in FIXED if name in params}, form)

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

    def _begin(
        self, X: Any, y: Vector, weight: Vector, ids: Any, repeated: Vector | None, head: Head, **found: Any
    ) -> Self:
        """Solve the problem of checked samples from nothing.

        repeated : the user's weights; None is 1
        head : that of the model
        found : what else the fit has found
        """
        if self._given:
            raise ValueError(f"{type(self).__name__} does not accept kernel='precomputed'; pass rows of features.")
        resolved = self._resolved(X, repeated)
        if resolved.kernel.compiled and not resolved.kernel.convex:
            raise ValueError(
                f"An incremental model needs a positive semi-definite kernel. Got {quoted(resolved.kernel)}."
            )
        learner = Learner(resolved, head, self.foundation(), self._limits, self.turn)
        learner.begin(X, y, weight, ids)
        with uninterrupted():
            vars(self).update(found, stream_=None, _learner=learner)
            vars(self).pop("_model", None)  # of a compact model
        return self

    def _checked(self, X: Any, first: bool, **targets: Any) -> Any:
        """Return X in float64 as the store keeps it, and y if it is given, checked as scikit-learn does."""
        refuse_remote(self, X)
        found = checked(self, X, (np.float64,), reset=first, order="C", **targets)
        X, y = found if targets else (found, None)
        if not objects.is_function(self.kernel):
            inputs.refuse_huge(X)
        if not first and sparse.issparse(X) != sparse.issparse(self._learner.store.X):
            X = X.toarray() if sparse.issparse(X) else sparse.csr_matrix(X)
        return tidy(X) if sparse.issparse(X) else opened(X), y

    # -- the model

    @property
    def model_(self) -> Model:
        """The model of the solution, gathered when it is asked for."""
        learner: Learner | None = vars(self).get("_learner")
        return super().model_ if learner is None else learner.model()

    def part(self, name: str, asked: str) -> Any:
        learner: Learner | None = vars(self).get("_learner")
        if learner is None:
            return super().part(name, asked)
        return False if name == "compact" else getattr(learner if name in KNOWN_PARTS else self.model_, name)

    def __sklearn_is_fitted__(self) -> bool:
        return "_learner" in vars(self) or super().__sklearn_is_fitted__()

    @property
    def n_refactor_(self) -> int:
        """Gradients that were computed anew because of drift, since ``fit``."""
        return int(sum(track.counts[1] for track in self.learner.tracks))

    @property
    def n_refit_(self) -> int:
        """Solutions that were found anew because rounding left no way, since ``fit``."""
        return self.learner.n_refit

    @property
    def ids_(self) -> Ids:
        """Ids of the samples in the model, (n_samples,), in the order in which ``support_`` numbers them."""
        return self.store.ids.copy()

    def compact(self) -> Self:
        """Return a smaller and faster model with the same decisions, see :meth:`SVC.compact`.

        It has no samples. It predicts, but all methods that need samples, such as ``partial_fit`` and ``forget``, raise
        ValueError.
        """
        return super().compact()

    # -- forgetting

    def forget(self, ids: Any) -> Self:
        """Unlearn some samples: the solution becomes that of the others, and no byte of these rows stays in the object.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of the samples, see ``partial_fit``.

        Returns
        -------
        self : the estimator
            Files stay as they are: :func:`adatron.save` writes the estimator anew. Until then ``deletion_report`` names
            the files that still hold the samples.

        Notes
        -----
        A scaler before the estimator keeps means and extremes of all samples. :func:`adatron.forget` then refuses, and
        ``deletion_report`` names what stays.

        Raises
        ------
        ValueError
            An id that no sample has, or one named twice; all samples; a nu that becomes infeasible without the samples.
            The estimator is then as it was.
        """
        with self.turn:
            learner = self.for_step()
            slots = learner.store.slots(ids)
            if len(slots) == learner.store.n:
                raise ValueError("ids must leave at least one sample in the model. Got all of them.")
            if len(slots):
                learner.forget(slots)
                self._forget_lines()
        return self

    def _forget_lines(self) -> None:
        """Blank digests of lines, which would prove a guess of a row."""
        if self.stream_ is not None:
            inputs = self.stream_["inputs"]
            blank = {name: {**one, "since": one["line"], "digest": ""} for name, one in inputs.items()}
            self.stream_ = {**self.stream_, "inputs": blank}

    @property
    def _generation(self) -> int:
        """How often samples were forgotten; a file that was written at a smaller number is behind."""
        return self._learner.store.generation if "_learner" in vars(self) else 0

    @property
    def files_(self) -> list[str]:
        """The files that this model was saved to or loaded from."""
        return sorted(vars(self).get("_saved", {}))

    def remember_file(self, path: str, model: Any) -> None:
        """Remember a file that holds this model, or a pipeline that ends with it; `save` and `load` call this."""
        vars(self).setdefault("_saved", {})[path] = (model, self._generation)

    def deletion_report(self, refit: bool = False) -> dict[str, Any]:
        """Return the proof that the model is the solution of the samples that it still has.

        Parameters
        ----------
        refit : bool, default=False
            Also solve the problem of these samples from nothing, and compare.

        Returns
        -------
        report : dict
            Of values that ``json.dumps`` takes: 'samples', 'arrived', 'kkt_violation', 'duality_gap' (upper bounds for
            all programs, from a gradient computed anew in float64), 'files' (as ``files_``), 'refits', 'adatron' (the
            version). With ``refit`` also 'largest_difference', the largest difference of decision values of the
            samples, before any division by a margin. Three lists of sentences. 'holds' names the files that
            were written before samples were forgotten. 'derived' names numbers that were computed from these samples
            and stayed (a scaler before the model, ``gamma='scale'``, a class without samples). 'unknown' names what no
            program can know.
        """
        learner = self.learner
        with learner.in_time():
            return report(learner, refit, vars(self).get("_saved", {}))

    # -- copies and states

    def __copy__(self) -> Self:
        """Return a copy with samples and a solution of its own, which do not affect this one."""
        other = object.__new__(type(self))
        with self.turn:
            vars(other).update({name: one for name, one in vars(self).items() if name not in HERE})
            if "_learner" in vars(self):
                other._learner = self._learner.copy(other.turn)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies, pickles and files: of a model with samples, not its support vectors."""
        with self.turn:  # no step may come between the parts, or change them before they are written
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
        resolved = Resolved(parts["kernel"], parts["gamma"], parts["kernel"])
        learner = Learner(resolved, self._head_of(parts), self.foundation(**own["_fixed"]), self._limits, self.turn)
        learner.restore(own, Proofs(**parts["proofs"]), state.get("n_features_in_"))
        self._learner = learner

    def faults(self) -> Iterator[str]:
        learner: Learner | None = vars(self).get("_learner")
        width = vars(self).get("n_features_in_")
        yield from super().faults() if learner is None else learner.faults(learner.proofs, width)
