"""The base of all kernel machines: the way from data to a model, and decision values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...arrays import for_reading, is_sparse
from ...door import arrays, inputs
from ...door.arrays import device_of
from ...door.inputs import rows_to_predict
from ...model.checks import FOREIGN, first_fault
from ...model.layout import feature_weights
from ...model.model import Model, Proofs
from .attributes import FittedAttributes, Rows, flat, grouped, missing
from .methods import CALLBACK_ATTRIBUTES, quiet
from .parameters import Parameters

if TYPE_CHECKING:
    from ...fitting.fit import TrainingSet
    from ...kernels import Kernel
    from ...model.function import Finish
    from ...model.readout import Counted, Readout
    from ...model.signs import Decided
    from ...problems import Problem


class KernelMachine(Parameters, FittedAttributes):
    """Base of the estimators.

    A machine says by ``problem`` which problem it is. A fit ends with one assignment of ``_model``: what it
    has found, as one value. All attributes read that value, and so does a prediction, once.
    """

    _theirs: ClassVar[str | None] = None  # the class of scikit-learn that decides as it does
    #: Attributes of this object and process; a state has the parts of the model by their names.
    _busy: ClassVar[tuple[str, ...]] = ("_model", "_given_objects")
    fixed_readout: ClassVar[Readout]  # the rule that reads decision functions, if no fit changes it
    _model: Model
    n_features_in_: Any
    feature_names_in_: Any

    @abstractmethod
    def problem(self, augment: float) -> Problem:
        """Return the problem that the parameters ask for; ``augment`` is the factor behind 'auto'."""

    def problems(self, augment: float) -> list[Problem]:
        """Return the problem for each of several quantiles, or the only one."""
        return [self.problem(augment)]

    def _readout_of_state(self, parts: dict[str, Any]) -> Readout:
        """Return the readout of a state, given its parts."""
        return self.fixed_readout

    @property
    def model_(self) -> Model:
        """The model that the fit has found: one value, which no later fit changes."""
        try:
            return vars(self)["_model"]
        except KeyError:
            check_is_fitted(self)
            raise missing(self, "model_") from None

    def part(self, name: str, requested: str) -> Any:
        """Return a part of the model; ``requested``: the attribute that is read."""
        if "_model" not in vars(self):
            raise missing(self, requested)
        return getattr(self._model, name)

    def readout_of(self, model: Model) -> Any:
        """Return the rule that reads the decision functions of a model, as the parameters are now."""
        return model.readout

    @property
    def readout(self) -> Any:
        """The rule that reads the decision functions."""
        return self.fixed_readout

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._given
        tags.input_tags.sparse = not self._given
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies, pickles and files: the parts of the model by the names of the attributes."""
        state: Any = super().__getstate__()
        kept, model = {name: value for name, value in state.items() if name not in self._busy}, state.get("_model")
        if model is None:
            return kept
        if model.width is not None:  # a fit that failed may have left another one
            kept["n_features_in_"] = model.width
        return {**kept, **flat(type(self), model)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._restore(own=False)

    def lasting_state(self) -> dict[str, Any]:
        """Return the state that a model file keeps besides the parameters."""
        left_out = ("_sklearn_version", *CALLBACK_ATTRIBUTES)
        return {name: value for name, value in self.__getstate__().items() if name not in left_out}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Take a state that ``lasting_state`` returned."""
        vars(self).update(state)
        self._restore(own=True)

    def _restore(self, own: bool) -> None:
        """Make the model of the parts that a state has brought.

        own : whether nobody else has the arrays
        """
        state = vars(self)
        for name in self._get_param_names():
            if name not in state:
                self._refuse_state(f"{name} is missing")
        parts = grouped(type(self), state)
        if not parts:
            return
        try:
            if own and "vectors" in parts:
                for_reading(parts["vectors"], own=True)
            self._make(parts)
        except KeyError as error:
            self._refuse_state(f"{error.args[0]} is missing")
        except (ValueError, TypeError, AttributeError, IndexError) as error:
            self._refuse_state(str(error))

    def _make(self, parts: dict[str, Any]) -> None:
        """Make the model of a state, given its parts."""
        proofs, readout = Proofs(**parts.pop("proofs")), self._readout_of_state(parts)
        self._model = Model(**parts, proofs=proofs, readout=readout, width=vars(self).get("n_features_in_"))
        if fault := next(self.faults(), None):
            raise ValueError(fault)

    def faults(self) -> Iterator[str]:
        """Yield what no fit makes, in a fitted machine that comes from elsewhere."""
        yield from filter(None, [first_fault(FOREIGN, self.model_)])

    def _refuse_state(self, fault: str) -> NoReturn:
        vars(self).pop("_model", None)
        raise ValueError(f"This is not a valid state of a fitted {type(self).__name__}: {fault}.") from None

    def __copy__(self) -> Self:
        """Return a copy that shares the model, which nobody changes."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    @property
    def _given(self) -> bool:
        """Whether the parameter says that the user gives kernel values."""
        return inputs.given(self.kernel)

    @property
    def _objects(self) -> Any:
        """The samples that a fit is given if they are not rows of numbers, else None."""
        return vars(self).get("_given_objects")

    @property
    def _mergeable(self) -> bool:
        """Whether equal rows of a checked X are equal samples, before the kernel is fitted."""
        return not (self._given or self._objects is not None)

    def _resolved(self, X: Any, weight: NDArray[np.float64] | None) -> tuple[Kernel, float]:
        """Return the kernel for a checked X, and the number behind gamma; ``weight``: of each row, None is 1."""
        from ...kernels import resolve

        gamma = inputs.gamma(self.gamma, X, self.kernel, weight)
        return resolve(self.kernel, gamma, self.degree, self.coef0), gamma

    def _training_set(self, X: Any, **parts: Any) -> TrainingSet:
        """Return the training set of a checked X; ``parts``: others, see ``TrainingSet``."""
        from ...fitting.fit import TrainingSet

        rows = inputs.as_dense_if_small(X, self.kernel)
        kernel, gamma = self._resolved(rows, parts["repeated"])
        objects, width = vars(self).pop("_given_objects", None), vars(self).get("n_features_in_")
        found = {"kernel": kernel, "gamma": gamma, "as_sparse": not arrays.is_function(self.kernel)}
        return TrainingSet(X=X, rows=rows, objects=objects, width=width, **found, **parts)

    def _measured(self, X: Any, targets: list[Any], sample_weight: Any, readout: Readout) -> list[TrainingSet]:
        """Return the training set for each of the targets, (n,), or for None, of checked rows."""
        from ...fitting.samples import canonical

        weight, mergeable = inputs.weights(X, sample_weight), self._mergeable
        repeated = None if sample_weight is None else weight
        first = self._training_set(X, y=None, samples=None, readout=readout, repeated=repeated)
        out: list[TrainingSet] = []
        for own in targets:
            if own is None:
                y, many, codes = np.zeros(X.shape[0]), 1, np.zeros(X.shape[0], np.int64)
            else:
                y, (values, codes) = own, np.unique(own, return_inverse=True)
                many = len(values)
            samples = canonical(X, codes, many, weight, mergeable=mergeable).together()
            out.append(replace(first, y=y, samples=samples))
        return out

    def _take(self, model: Model, **found: Any) -> Self:
        """Replace the model, and what else the fit has found, in one step."""
        vars(self).update({**model.found, **found, "_model": model})
        return self

    @property
    @quiet
    def coef_(self) -> Rows:
        """Weights of the features, (n_problems, n_features), of a linear kernel."""
        model = self.model_
        if model.kernel.name != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        weights = feature_weights(model.coefficients(), model.vectors)
        # They are computed anew each time: a change of them would be lost, so it is refused.
        (weights.data if is_sparse(weights) else weights).flags.writeable = False
        return weights

    def compact(self) -> Self:
        """Return a new model with the same decisions, to rounding, that is smaller and predicts faster.

        Equal support vectors become one, those whose coefficients are zero or cancel are left out, and with a linear
        kernel a problem needs its weights only. This estimator stays as it is.

        Returns
        -------
        model : fitted estimator of the same class, with ``compact_ = True``
            It predicts and can be saved as any other, and ``fit`` makes it an ordinary one again.

        Raises
        ------
        NotFittedError
            This estimator is not fitted.
        ValueError
            The kernel is a function of samples that are not rows of numbers, or no two terms of the decision function
            are alike (``InputMarginSVC`` with ``algorithm='full'``).

        Notes
        -----
        Parameters, classes, intercepts and certificate are those of this estimator. Other attributes mean:

        - ``support_vectors_``: distinct vectors, of no class; with a linear kernel the weights of each problem, unless
          these are more numbers.
        - ``dual_coef_``, (n_problems, n_vectors): their coefficients in each problem, pairs of classes in the order of
          ``decision_function_shape='ovo'``.
        - ``support_``: for each vector the first training sample equal to it; empty if they are weights.
        - ``n_support_``, (1,): how many vectors there are.

        With ``kernel='precomputed'`` (where it is not known which samples are equal) X has the kernel values with the
        training samples ``support_`` only, in this order: ``K[:, model.support_]`` instead of ``K``.

        Sums are taken in another order: a sample whose decision value is only rounding may change sides.
        """
        from ...conversions.export import shrunk

        model = self.model_
        found = model if model.compact else shrunk(model)
        other = self.with_model(found)
        if model.values and not model.compact and "feature_names_in_" in vars(self):
            other.feature_names_in_ = vars(self)["feature_names_in_"][found.support]
        return other

    def with_model(self, model: Model) -> Self:
        """Return a copy of this machine that has another model."""
        other = object.__new__(type(self))
        vars(other).update({name: one for name, one in dict(vars(self)).items() if name not in self._busy})
        other._model = model
        if model.width != vars(self).get("n_features_in_"):
            vars(other).pop("feature_names_in_", None)
            other.n_features_in_ = model.width
        return other

    def to_sklearn(self) -> Any:
        """Return a fitted estimator of :mod:`sklearn.svm` with the same decisions, to rounding; it needs no adatron.

        Returns
        -------
        model : sklearn.svm.SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC or LinearSVR, as this one
            With the parameters that both have. It computes in float64 and holds no certificate and no probabilities;
            fitted again, it is scikit-learn's own.

        Raises
        ------
        NotFittedError
            This estimator is not fitted.
        ValueError
            scikit-learn has no place for the model: a kernel it does not know (only rbf, linear, poly, sigmoid and
            precomputed), ``multi_class='ovr'`` with more than two classes, a compact model of more than two.
        """
        from ...conversions.export import exported

        if self._theirs is None:
            raise ValueError(f"scikit-learn has no estimator for an {type(self).__name__}.")
        check_is_fitted(self)
        model = copy(self)  # whose model no fit replaces
        return exported(model, self._theirs, model.model_.columns)

    def proof(self, X: Any, y: Any = None, sample_weight: Any = None) -> str:
        """Return a text that proves how far the fit is from the optimum; a stranger can check it without adatron.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The samples of the fit. They stand in the text, sparse ones with their zeros.
        y : array-like of shape (n_samples,) or (n_samples, T), default=None
            Their labels or targets, as in ``fit``.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights, as in ``fit``.

        Raises
        ------
        NotFittedError
            The estimator is not fitted.
        ValueError
            Other samples than those of the fit; a compact model, an incremental or a linear one or an
            ``InputMarginSVC``; another kernel than linear, rbf, precomputed, or poly with coef0 >= 0.
        """
        from ...conversions.proof import proof_of

        check_is_fitted(self)
        return proof_of(copy(self), X, y, sample_weight)

    def problem_values(self, X: Any) -> NDArray[np.float64]:
        """Return the decision values of the problems, (n_samples, n_problems)."""
        return self._decision(self.model_, X)

    def _decision(
        self,
        model: Model,
        X: Any,
        finish: Finish = np.asarray,
        decided: Decided | None = None,
        counted: Counted | None = None,
        diagonal: Any = None,
    ) -> NDArray[Any]:
        """Return decision values by a model, or what is made of them, see ``DecisionFunctions``.

        diagonal : (n_samples,) k(x, x), for a model that needs it beside given kernel values
        """
        function, device = model.function(self.n_jobs, self.precision), device_of(self, X)
        if device is not None:
            rows, near = rows_to_predict(self, X, model, function, device)
            found = function.remote_values(rows, device, near) if rows is not None else None
            if found is not None:
                return finish(found)
        rows = inputs.new_data(self, X, model, function)
        own = inputs.own_values(X, rows, model, diagonal) if function.needs_own else None
        return function.values(rows, finish, decided, counted, own)
