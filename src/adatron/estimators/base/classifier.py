"""The base of SVC and NuSVC: classes, pairs of classes, votes."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, _fit_context  # pyright: ignore[reportPrivateUsage]
from sklearn.utils._param_validation import Hidden, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function  # pyright: ignore[reportPrivateUsage]
from sklearn.utils.validation import check_is_fitted

from ...fitting import layout
from ...problems import Dual
from ...problems.dual import Ids, Vector
from ..checks import inputs
from .convergence import warn_unless_calibrated, warn_unless_converged
from .machine import Finish, KernelMachine
from .parameters import BIAS
from .probability import Probabilistic

if TYPE_CHECKING:
    from ...fitting.fits import Fits
    from ...fitting.samples import Samples
    from ...gram import PairSums
    from ...predicting.decision import Counted
    from ...predicting.signs import Decided


class Classifier(ClassifierMixin, Probabilistic):
    """Base of the classifiers: a program for each pair of classes, or for each class against the rest."""

    class_weight: dict[Any, float] | str | None
    decision_function_shape: str
    break_ties: bool
    bias: str
    augment: float | str
    multi_class: str
    _fitted_multi_class: str
    _separable: ClassVar[bool] = False  # the program of samples together is that of each beside the others
    _one_sided: ClassVar[str]  # the error if only one class has a weight

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        **BIAS,
        "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "multi_class": [StrOptions({"ovo", "ovr"})],
    }

    @abstractmethod
    def _program(self, y: Vector, weight: Vector, first: Ids, augment: float) -> Dual:
        """The programs of pairs of classes, y = 1 and -1, as one; ``first``: where the samples of each begin."""

    def _check_weights(self, classes: NDArray[Any], weights: Vector, unit: float) -> None:
        """Refuse weights of the classes, which were divided by the unit, for which there is no solution."""

    @property
    def _bound(self) -> float:
        """Largest coefficient of a sample of weight 1 in the program."""
        return 1.0

    def _in_units(self, samples: Samples) -> tuple[Samples, float]:
        """The samples with weights as the program takes them, and what these were divided by."""
        return samples, 1.0

    def _warn(self, fitted: Fits) -> None:
        """Say what is wrong with a solution although it is optimal."""

    def _scales(self, fitted: Fits) -> NDArray[np.float64]:
        """Return the divisor of each problem's solution."""
        return np.ones(len(fitted))

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the problem and certify the solution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their kernel matrix for ``kernel='precomputed'``.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights, times those of the classes; one of weight 2 counts as two, one of weight 0 is left out.

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad parameters or data: NaN or infinity, fewer than two classes, unequal lengths, no positive weight;
            one distinct sample of each class and ``probability=True``.
        """
        from ...fitting.binary import Binary, Kind
        from ...fitting.folds import divide
        from ...fitting.samples import canonical

        clock = self._started()
        X, y = inputs.training_data(self, X, y)
        classes, codes = inputs.classes(y)
        weight = inputs.weights(X, sample_weight)
        repeated = None if sample_weight is None else weight
        class_weight = inputs.weights_of_classes(self.class_weight, classes, codes, repeated)
        weight = weight * class_weight[codes]
        distinct = canonical(X, codes, len(classes), weight, mergeable=self._mergeable)
        if np.count_nonzero(distinct.sizes) < 2:
            raise ValueError(self._one_sided)
        distinct, unit = self._in_units(distinct)
        self._check_weights(classes, distinct.weights_of_classes(), unit)
        augment = inputs.augment(self.augment, X, repeated)

        program, finite = partial(self._program, augment=augment), bool(np.isfinite(self._bound))
        kind = Kind(len(classes), self.multi_class, program, finite, self._separable and finite)
        whole = Binary(kind, distinct, [[c] for c in range(len(classes))])
        divided = divide(distinct, self._rng()) if self.with_probability else None
        fitted = self._solve(X, distinct, whole, clock, repeated)
        self.classes_, self.class_weight_, self._fitted_multi_class = classes, class_weight, self.multi_class
        self._store_coefficients(X, codes, self._spread(distinct, fitted, self._bound), fitted)
        self._store_certificates(fitted, len(classes) == 2, unit)
        self._warn(fitted)
        warn_unless_converged(fitted, X, self.max_iter, values=self._values)
        self._slope = None
        if divided is not None:
            folds = self._fit_probabilities(X, divided, whole, fitted, clock)
            warn_unless_converged(folds, X, self.max_iter, "problems of the folds", self._values)
            warn_unless_calibrated(clock, self._slope)
        return self

    def _store_coefficients(
        self, X: Any, codes: NDArray[np.int64], coefficients: layout.Coefficients, fitted: Fits
    ) -> None:
        """Keep the model."""
        scale = self._scales(fitted)
        with np.errstate(divide="ignore", invalid="ignore"):  # checked below
            coefficients = coefficients._replace(values=coefficients.values / scale[coefficients.problems])
            intercepts = fitted.found.intercept / scale
        support, self._n_support, dual = coefficients.arranged(codes, len(self.classes_), self._one_against_one())
        self._store_support(X, support, dual, intercepts)

    def _one_against_one(self) -> bool:
        """By the parameter when the model was fitted, whatever it is now."""
        return len(self.classes_) > 2 and self._fitted_multi_class == "ovo"

    def _layout(self) -> tuple[Any, ...]:
        return self._one_against_one(), self._n_support.tolist(), self._many_pairs

    @property
    def _many_pairs(self) -> bool:
        """Whether a table of the coefficients of all pairs of classes would be too large."""
        pairs = self._one_against_one() and not self.compact_
        return pairs and len(self.intercept_) * len(self.support_) > layout.TABLE

    def _coefficients(self) -> NDArray[np.float64]:
        if self._one_against_one() and not self.compact_:
            classes = np.repeat(np.arange(len(self.classes_)), self._n_support)
            return layout.from_dual_coef(self.dual_coef_, classes, len(self.classes_))
        return super()._coefficients()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: positive for ``classes_[1]``. More: votes refined by decision values ('ovr', as scikit-learn),
            the values of the pairs ('ovo'), or those of each class with ``multi_class='ovr'``. They are computed in
            float64, float32 rows too, unless ``precision='single'``.
        """
        check_is_fitted(self)
        many = self._one_against_one() and self.decision_function_shape == "ovr"
        return self._decision(X, self._shaped, counted=(True, layout.refined) if many else None)

    def _shaped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The decision function of some rows from the values of the problems, (rows, n_problems)."""
        if len(self.classes_) == 2:
            return values[:, 0]
        if self.decision_function_shape == "ovr" and self._one_against_one():
            return _ovr_decision_function(values < 0, -values, len(self.classes_))
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels of samples, (n_samples,): those of the float64 decision values, also where float32 proves them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        self._check_ties()
        refined = self._one_against_one() and self.break_ties  # a sum of all pairs' values may decide
        counted: Counted = False, lambda votes, _: self.classes_[np.argmax(votes, axis=1)]
        if self.break_ties:
            counted = True, lambda votes, sums: self.classes_[np.argmax(layout.refined(votes, sums), axis=1)]
        return self._decision(X, lambda v: self.classes_[self._codes(v)], None if refined else self._decided, counted)

    def _decision(
        self, X: Any, finish: Finish = np.asarray, decided: Decided | None = None, counted: Counted | None = None
    ) -> NDArray[Any]:
        """As of every machine; ``counted``: what is made of the votes of many classes, see ``pair_values``."""
        check_is_fitted(self)
        if not self._many_pairs:
            return super()._decision(X, finish, decided)
        from ...predicting.decision import pair_values

        X = inputs.new_data(self, X, self.support_vectors_, self._columns())
        made = (
            self._pair_sums(X, self.support_vectors_) if self._values else self._prepared(partial(self._pair_sums, X))
        )
        return pair_values(X, made, self.intercept_, self._asked, self.n_jobs, finish, counted)

    def _pair_sums(self, X: Any, vectors: Any) -> PairSums:
        from ...gram import PairSums, Source

        dual: Any = self.dual_coef_
        dual = np.require(dual.toarray() if sparse.issparse(dual) else dual, np.float64, ["C", "W"])
        columns = self._columns()
        points = Source.of(X if self._values else vectors, np.arange(len(columns)), self._served(), columns)
        return PairSums(points, dual, self._n_support.astype(np.int64))

    def _decided(self, values: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The rows whose class is the same whatever the values are within their errors."""
        sure = np.abs(values) > errors
        if len(self.classes_) == 2:
            return sure[:, 0]
        if not self._one_against_one():
            return layout.beyond(values, errors)
        found = np.asarray(sure.all(axis=1))
        found[~found] = layout.unbeaten(values[~found], sure[~found], len(self.classes_))
        return found

    def _check_ties(self) -> None:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")

    def _codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Number of the class for each row of decision values."""
        if len(self.classes_) == 2:
            return (values[:, 0] >= 0).astype(np.int64)
        if self._one_against_one() and not self.break_ties:
            return layout.votes(values, len(self.classes_))
        return np.argmax(self._shaped(values), axis=1)
