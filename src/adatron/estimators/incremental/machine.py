"""The common base of the incremental estimators: parameters, learning and forgetting."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval

from ...arrays import Ids, Vector, canonical_csr, writable
from ...compiled.cache.uninterrupted import uninterrupted
from ...docstrings import documented
from ...door import arrays, inputs
from ...door.arrays import checked, refuse_remote
from ...learning.c_path import CPath, paths_in_C
from ...learning.report import report
from ...model.model import OverallCertificate
from ...model.readout import Readout
from ...quoted import quoted
from ..base.attributes import Attribute
from ..base.machine import KernelMachine
from ..base.methods import fitting, named
from .forgetting import keeping
from .holder import Holder


@documented
class Incremental(Holder):
    """Base of the incremental estimators, used together with the batch class.

    An estimator holds a learner, which gives a model on request. A fit begins a new learner, and a step changes it.

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
        Ids of the samples in the model, in the order in which ``support_`` numbers them.
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
    route_ : None
        There is no route: the solution follows its path.
    files_ : list of str
        The files that this model was saved to or loaded from.
    stream_ : dict or None
        What ``adatron stream`` has learned from which input; None if it has not learned this model.
    """

    certificate_: Attribute[OverallCertificate] = Attribute("overall", shown=lambda one: replace(one, estimated=True))
    precision = "double"
    stream_: dict[str, Any] | None = None  # record of ``adatron stream``: what it has learned from which input

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "class_weight": [dict, None],
        "augment": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give a class the constraints of its batch class, too, unless it has its own."""
        super().__init_subclass__(**kwargs)
        if "_parameter_constraints" not in vars(cls):
            others = super()._parameter_constraints
            cls._parameter_constraints = {**others, **Incremental._parameter_constraints}

    # -- learning

    @named
    def fit(self, X: Any, y: Any, sample_weight: Any = None, ids: Any = None) -> Self:
        """Solve the problem from nothing; the model forgets all samples that it had.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; with ``window`` only the last ones are kept.
        y : array-like of shape (n_samples,)
            Class labels or targets. Novelty detection needs none: for an SVDD, -1 marks negatives, and a one-class SVM
            ignores y, which is there for pipelines and searches.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, in classifiers multiplied by those of the classes. A sample of weight 2 counts as
            two, one of weight 0 is left out.
        ids : array-like of int of shape (n_samples,), default=None
            An id for each sample, for ``forget``; by default its arrival number 0, 1, 2, ...

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad parameters or data: NaN or infinity, unequal lengths, no positive weight, an id that comes twice; for
            classifiers fewer than two classes.
        ArithmeticError
            Rounding leaves no way to the solution.
        """
        with self.lock:
            return self._fit(X, y, sample_weight, ids)

    def partial_fit(self, X: Any, y: Any, ids: Any = None, sample_weight: Any = None) -> Self:
        """Learn more samples: the solution becomes that of all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New samples.
        y : array-like of shape (n_samples,)
            Class labels, targets or marks, as in ``fit``.
        ids : array-like of int of shape (n_samples,), default=None
            An id for each sample, for ``forget``; by default its arrival number, or the number after the largest id so
            far, if that is larger.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, as in ``fit``.

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad data, another number of features, an id that is taken, a parameter that was changed since ``fit``; for
            classifiers a label that is not among the classes. The estimator is then as it was.
        ArithmeticError
            Rounding leaves no way to the solution; the estimator is then as it was.
        """
        return self._learn(X, y, ids, sample_weight)

    def _learn(self, X: Any, y: Any, ids: Any, sample_weight: Any, classes: Any = None) -> Self:
        with self.lock:
            if self._is_new:
                return self._fit(X, y, sample_weight, ids, classes)
            X, y = self._checked(X, y, first=False)
            y, weight, _, _ = self._meaning(X, y, inputs.weights(X, sample_weight), classes, first=False)
            self.for_step().learn(X, y, weight, ids)
        return self

    @fitting
    def _fit(self, X: Any, y: Any, sample_weight: Any, ids: Any, classes: Any = None) -> Self:
        X, y = self._checked(X, y, first=True)
        own = inputs.weights(X, sample_weight)
        y, weight, readout, found = self._meaning(X, y, own, classes, first=True)
        if self._given:
            raise ValueError(f"{type(self).__name__} does not accept kernel='precomputed'; pass rows of features.")
        rows = inputs.as_dense_if_small(X, self.kernel)
        kernel, gamma = self._resolved(rows, None if sample_weight is None else own)
        if kernel.compiled and not kernel.convex:
            raise ValueError(f"An incremental model needs a positive semi-definite kernel. Got {quoted(kernel)}.")
        learner = self._learner_of(kernel, gamma, readout, self.foundation())
        learner.begin(X, y, weight, ids)
        with uninterrupted():
            vars(self).update(found, stream_=None, _learner=learner)
            vars(self).pop("_model", None)  # of a compact model
        return self

    @abstractmethod
    def _meaning(
        self, X: Any, y: Any, weight: Vector, classes: Any, first: bool
    ) -> tuple[Vector, Vector, Readout, dict[str, Any]]:
        """Return targets, weights times those of the classes, the model's readout, and attributes of a fit.

        weight : the user's weights
        classes : all that will ever come, as the user gave them
        first : whether this is a fit; later the classes are those of the fit
        """

    def _checked(self, X: Any, y: Any, first: bool) -> Any:
        """Return X in float64 as the store keeps it, and y, checked as scikit-learn does; marks stay as they are."""
        refuse_remote(self, X)
        targets = {"y": y, "y_numeric": is_regressor(self)} if get_tags(self).target_tags.required else {}
        found = checked(self, X, (np.float64,), reset=first, order="C", **targets)
        X, y = found if targets else (found, y)
        if not arrays.is_function(self.kernel):
            inputs.refuse_huge(X)
        if not first and sparse.issparse(X) != sparse.issparse(self._learner.store.X):
            X = X.toarray() if sparse.issparse(X) else sparse.csr_matrix(X)
        return canonical_csr(X) if sparse.issparse(X) else writable(X), y

    @property
    def n_refactor_(self) -> int:
        return int(sum(track.counts[1] for track in self.learner.tracks))

    @property
    def n_refit_(self) -> int:
        return self.learner.n_refit

    @property
    def ids_(self) -> Ids:
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
        with self.lock:
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
    def files_(self) -> list[str]:
        return sorted(vars(self).get("_saved", {}))

    def remember_file(self, path: str, model: Any) -> None:
        """Remember a file that holds this model, or a pipeline that ends with it; `save` and `load` call this."""
        generation = self.store.generation if "_learner" in vars(self) else 0
        vars(self).setdefault("_saved", {})[path] = (model, generation)

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
        learner, saved = self.learner, vars(self).get("_saved", {})
        kept = [text for model, _ in saved.values() for text in keeping(model)]
        with learner.in_time():
            return report(learner, refit, {path: generation for path, (_, generation) in saved.items()}, kept)


class FollowsC(Incremental):
    """Base of those whose solution follows a change of C."""

    def set_C(self, C: float) -> Self:
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
        with self.lock:
            learner = self.for_step()
            with learner.step() as undo:
                undo.append(partial(self.set_params, C=learner.foundation.fixed["C"]))
                learner.follow(self.foundation(C=C))
                self.set_params(C=C)
        return self

    def C_path(self, C: float) -> list[CPath]:
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
        with self.lock:
            learner = self.for_step()
            begin: float = learner.foundation.fixed["C"]
            if not np.isfinite([C, begin]).all():
                raise ValueError(f"A path in C needs finite ends. Got {quoted(begin)} and {quoted(C)}.")
            return paths_in_C(learner, self.foundation(C=C).problem, begin, C)


def _check(C: Any) -> None:
    if not isinstance(C, Real) or not float(C) > 0.0:
        raise ValueError(f"The 'C' parameter must be a float in the range (0.0, inf]. Got {quoted(C)} instead.")
