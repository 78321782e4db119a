"""The base of the classifiers: classes, pairs of classes, votes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from ...model.heads import Classes
from ..checks import inputs
from .attributes import Attribute
from .machine import KernelMachine, Resolved

if TYPE_CHECKING:
    from ...fitting import layout
    from ...model.model import Model, Proofs


class Labelled(NamedTuple):
    """The checked training set of a classifier.

    X : (n, d)
    codes : (n,) the number of each sample's class
    classes, class_weight : (n_classes,)
    samples : the distinct ones; None where nobody needs them
    repeated : (n,) the user's weights; None is 1
    """

    X: Any
    codes: NDArray[np.int64]
    classes: NDArray[Any]
    class_weight: NDArray[np.float64]
    samples: Any
    repeated: NDArray[np.float64] | None


class Classifier(ClassifierMixin, KernelMachine):
    """Base of the classifiers: a problem for each pair of classes, or for each class against the rest."""

    class_weight: dict[Any, float] | str | None
    decision_function_shape: str
    break_ties: bool
    multi_class: str
    classes_ = Attribute("head", "labels")
    class_weight_: NDArray[np.float64]
    _in_pairs = Attribute("head", "in_pairs")
    #: The error if only one class has a weight.
    _one_sided: ClassVar[str] = "Invalid input - all samples with positive weights belong to the same class."

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "multi_class": [StrOptions({"ovo", "ovr"})],
    }

    @abstractmethod
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

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> Labelled:
        """Return the checked training set."""
        from ...fitting.samples import canonical

        X, y = inputs.training_data(self, X, y)
        classes, codes = inputs.classes(y)
        weight = inputs.weights(X, sample_weight)
        repeated = None if sample_weight is None else weight
        class_weight = inputs.weights_of_classes(self.class_weight, classes, codes, repeated)
        weight = weight * class_weight[codes]
        samples = canonical(X, codes, len(classes), weight, mergeable=self._mergeable)
        if np.count_nonzero(samples.sizes) < 2:
            raise ValueError(self._one_sided)
        return Labelled(X, codes, classes, class_weight, samples, repeated)

    def _of_coefficients(
        self,
        data: Labelled,
        coefficients: layout.Coefficients,
        intercepts: NDArray[np.float64],
        resolved: Resolved,
        head: Classes,
        proofs: Proofs,
        divisors: NDArray[np.float64] | None = None,
    ) -> Model:
        """Return the model of the solutions, divided by ``divisors``."""
        if divisors is not None:
            with np.errstate(divide="ignore", invalid="ignore"):  # checked when the model is made
                coefficients = coefficients._replace(values=coefficients.values / divisors[coefficients.problems])
                intercepts = intercepts / divisors
        support, counts, dual = coefficients.arranged(data.codes, len(head.labels), head.in_pairs)
        parts = {"counts": counts, "intercepts": intercepts, "head": head, "proofs": proofs}
        return self._made(data.X, resolved, support, dual, **parts)

    def _head_for(self, labels: NDArray[Any]) -> Classes:
        """Return the head of a fit with such classes."""
        return Classes(labels, len(labels) > 2 and self.multi_class == "ovo")

    def _head_of(self, parts: dict[str, Any]) -> Classes:
        return Classes(**parts.pop("head"))

    def head_of(self, model: Model) -> Classes:
        return self._as_asked(model.head)

    @property
    def head(self) -> Classes:
        return self._as_asked(self.part("head", "head"))

    def _as_asked(self, head: Any) -> Classes:
        return replace(head, shape=self.decision_function_shape, break_ties=self.break_ties)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return signed decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: positive for ``classes_[1]``. More: votes refined by decision values ('ovr', as scikit-learn),
            the values of the pairs ('ovo'), or those of each class with ``multi_class='ovr'``. They are computed in
            float64, float32 rows too, unless ``precision='single'``.
        """
        model = self.model_
        head = self.head_of(model)
        return self._decision(model, X, head.shaped, counted=head.counted(labels=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels, (n_samples,): those of the float64 decision values, also if float32 proves them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.
        """
        model = self.model_
        head = self.head_of(model)
        head.check()
        refined = head.in_pairs and head.break_ties  # a sum of all pairs' values may decide
        return self._decision(model, X, head.predictions, None if refined else head.decided, head.counted(labels=True))
