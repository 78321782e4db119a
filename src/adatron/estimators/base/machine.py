"""The base of all kernel machines: the way from data to certificates, and decision values."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ...fitting.layout import feature_weights
from ...fitting.storage import for_reading
from ...model.prepared import Kept
from ..checks import inputs, objects
from ..checks.arrays import device_of
from ..checks.inputs import rows_to_predict
from ..checks.state import complete, refuse_torn
from .callbacks import OURS
from .parameters import Parameters
from .quiet import Quiet, quiet

if TYPE_CHECKING:
    from ...fitting.fits import Fits
    from ...fitting.formulation import Formulation
    from ...fitting.problems import Problems
    from ...fitting.samples import Samples
    from ...model.function import Finish, Function
    from ...model.heads import Counted, Head
    from ...model.signs import Decided
    from ...threads import Clock


class KernelMachine(Quiet, Parameters):
    """Base of the estimators.

    A machine says by ``_formulation`` which programs it asks for, and by ``_function`` what its attributes mean. All
    else is written once, here and in the bases between: no machine changes what a base does.
    """

    dual_objective_: Any
    duality_gap_: Any
    compact_: bool = False
    _n_support: NDArray[np.int32]
    _theirs: ClassVar[str | None] = None  # the class of scikit-learn that decides as it does
    route_: Any  # ``solvers.route.Route``; None of models that were not fitted as a whole
    _kept: Kept
    objects_: Any  # training samples of a kernel function that are no rows of numbers, if it has any: see objects.py

    @abstractmethod
    def _formulation(self, augment: float) -> Formulation:
        """Return the programs that the parameters ask for; ``augment`` is the factor behind 'auto'."""

    @abstractmethod
    def _function(self) -> Function:
        """Return the decision functions of the fitted machine."""

    @property
    @abstractmethod
    def head(self) -> Head:
        """The rule that reads the decision functions of the fitted machine."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._given
        tags.input_tags.sparse = not self._given
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickles, which have nothing of what predictions keep."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_kept"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._kept = Kept()
        complete(self)
        refuse_torn(self)
        if "support_vectors_" in state:
            for_reading(state["support_vectors_"])

    def lasting_state(self) -> dict[str, Any]:
        """Return what a model file keeps besides the parameters."""
        return {name: value for name, value in vars(self).items() if name not in ("_kept", *OURS)}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Take what ``lasting_state`` gave."""
        vars(self).update(state)
        self._kept = Kept()
        complete(self)
        refuse_torn(self)
        if "support_vectors_" in vars(self):
            for_reading(self.support_vectors_, own=True)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_status_")

    @property
    def _given(self) -> bool:
        """Whether the parameter says that the user gives kernel values."""
        return inputs.given(self.kernel)

    @property
    def given_objects(self) -> Any:
        """Return ``objects_``, or None. An attribute that is None would be shown as one that a fit has set."""
        return vars(self).get("objects_")

    @property
    def _values(self) -> bool:
        """Whether a checked X of the fitted model holds kernel values: a user's, or a function's of other samples."""
        return inputs.given(self.kernel_) or self.given_objects is not None

    @property
    def _mergeable(self) -> bool:
        """Whether equal rows of a checked X are equal samples, before the kernel is fitted."""
        return not (self._given or self.given_objects is not None)

    def _served(self) -> Any:
        """Return the kernel of a checked X."""
        from ...kernels import Precomputed

        return Precomputed() if self.given_objects is not None else self.kernel_

    def _solve(
        self,
        X: Any,
        samples: Samples,
        problems: Problems,
        form: Formulation,
        clock: Clock,
        weight: NDArray[np.float64] | None,
        given: Any = None,
    ) -> Fits:
        """Solve all problems over the distinct samples; keeps the kernel.

        weight : of each row of X; None is 1
        given : X as it came, perhaps on a device
        """
        from ...fitting import engine

        X = inputs.as_dense_if_small(X, self.kernel)
        self._resolve_kernel(X, weight)
        return engine.fit(X, samples, problems, self.settings(self._served(), clock, form.sized, given))

    def _resolve_kernel(self, X: Any, weight: NDArray[np.float64] | None) -> None:
        """Keep the kernel, and the number behind gamma='scale' or 'auto'."""
        from ...kernels import resolve

        self._gamma = inputs.gamma(self.gamma, X, self.kernel, weight)
        self.kernel_ = resolve(self.kernel, self._gamma, self.degree, self.coef0)

    def _store_support(self, X: Any, support: NDArray[np.int64], dual: Any, intercepts: NDArray[np.float64]) -> None:
        """Keep the model: ``support`` numbers the samples behind the columns of ``dual``."""
        from ...gram import take_rows

        self.compact_ = False
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = for_reading(X[:0, :0] if self._values else take_rows(X, support, self.n_jobs))
        as_sparse = sparse.issparse(X) and not objects.is_function(self.kernel)  # as scikit-learn
        self.dual_coef_ = sparse.csr_matrix(dual) if as_sparse else dual
        self.intercept_ = intercepts
        if not (np.isfinite(dual).all() and np.isfinite(self.intercept_).all()):
            raise ValueError(inputs.NOT_FINITE)
        self.shape_fit_ = X.shape

    def _store_certificates(self, fitted: Fits, alone: bool, unit: float = 1.0) -> None:
        """Keep the proofs.

        alone : there is one problem only, whose numbers are plain floats
        unit : what weights that are all that bounds the coefficients were divided by
        """
        self._kept, self.route_ = Kept(), fitted.route
        found = fitted.found
        self.n_iter_: Any = found.n_iter.astype(np.int32)
        self.fit_status_ = int(not found.good.all())
        if alone:
            proof, scale, self.trace_ = found.certificate(0), unit * unit, found.trace(0)
            self.duality_gap_: Any = proof.relative_gap if found.solved[0] else 0.0
            self.kkt_violation_: Any = proof.kkt_violation
            self.dual_objective_: Any = scale * proof.lower
            self.primal_objective_: Any = scale * proof.primal
            return
        self.duality_gap_, self.trace_ = np.where(found.solved, found.relative_gaps, 0.0), found.traces
        self.kkt_violation_, self.dual_objective_ = found.violation.copy(), unit * unit * found.lower
        self.primal_objective_ = unit * unit * found.primal

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors of each class; of a compact model: of all together."""
        check_is_fitted(self)
        return self._n_support

    @property
    @quiet
    def coef_(self) -> Any:
        """Weights of the features, (n_problems, n_features), of a linear kernel."""
        if self.kernel_.name != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        weights = feature_weights(self._coefficients(), self.support_vectors_)
        # They are computed anew each time: a change of them would be lost, so it is refused.
        (weights.data if sparse.issparse(weights) else weights).flags.writeable = False
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
            The kernel is a function of samples that are no rows of numbers, or no two terms of the decision function
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
        check_is_fitted(self)
        if reason := self._function().fixed:
            raise ValueError(reason)
        model = copy(self)
        if not self.compact_:
            model._shrink()
        return model

    def _shrink(self) -> None:
        """Become compact."""
        from ..forms.compact import shrunk

        if self.given_objects is not None:
            raise ValueError(
                "compact() needs samples that are rows of numbers; this model's kernel function takes others."
            )
        numbers = self.support_ if inputs.given(self.kernel_) else None
        found = shrunk(self.kernel_, numbers, self.support_vectors_, self._coefficients())
        self.compact_, self.support_ = True, self.support_[found.first]
        if numbers is None:
            self.support_vectors_ = for_reading(found.vectors)
        else:  # from now on X has the columns of the support vectors only
            self.n_features_in_ = len(self.support_)
            if "feature_names_in_" in vars(self):
                self.feature_names_in_ = vars(self)["feature_names_in_"][self.support_]
        as_sparse = sparse.issparse(self.support_vectors_)
        self.dual_coef_ = sparse.csr_matrix(found.coefficients) if as_sparse else found.coefficients
        self._n_support = np.array([found.coefficients.shape[1]], np.int32)

    def to_sklearn(self) -> Any:
        """Return a fitted estimator of :mod:`sklearn.svm` with the same decisions, to rounding; it needs no adatron.

        Returns
        -------
        model : sklearn.svm.SVC, NuSVC, SVR, NuSVR or OneClassSVM, as this one
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
        from ..forms.export import exported

        if self._theirs is None:
            raise ValueError(f"scikit-learn has no estimator for an {type(self).__name__}.")
        check_is_fitted(self)
        return exported(self, self._theirs, self._columns())

    def _coefficients(self) -> NDArray[np.float64]:
        """Return coefficients of the support vectors, (n_problems, n_support_vectors)."""
        return self._function().coefficients()

    def _columns(self) -> NDArray[np.int64]:
        """Return the column of each support vector, for X with kernel values."""
        return np.arange(self._n_support.sum()) if self.compact_ else self.support_.astype(np.int64)

    def _parts(self) -> dict[str, Any]:
        """Return what every function is made of."""
        return {
            "kernel": self._served(),
            "vectors": self.support_vectors_,
            "dual": self.dual_coef_,
            "intercepts": self.intercept_,
            "columns": self._columns(),
            "n_jobs": self.n_jobs,
        }

    def _sum(self, pairs: bool = False) -> Function:
        """Return the sum over the support vectors; ``pairs``: whether there is a problem for each pair of classes."""
        from ...model.function import Sum

        counts = self._n_support if pairs and not self.compact_ else None
        kept = vars(self).get("_kept") if "support_vectors_" in vars(self) else None  # others are made anew each time
        return Sum(**self._parts(), counts=counts, precision=self.precision, kept=kept)

    def _decision(
        self, X: Any, finish: Finish = np.asarray, decided: Decided | None = None, counted: Counted | None = None
    ) -> NDArray[Any]:
        """Decision values of the problems, (n_samples, n_problems), or what is made of them, see ``Function``."""
        check_is_fitted(self)
        function, device = self._function(), device_of(self, X)
        if device is not None:
            rows, near = rows_to_predict(self, X, function, device)
            found = function.remote_values(rows, device, near) if rows is not None else None
            if found is not None:
                return finish(found)
        return function.values(inputs.new_data(self, X, function), finish, decided, counted)
