"""The base of SVC and NuSVC, the classifiers whose model is the solution of their formulation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Hidden, StrOptions
from sklearn.utils.metaestimators import available_if

from ..checks import inputs
from .attributes import Attribute
from .callbacks import fitting
from .classifier import Classifier, Labelled
from .convergence import warn, warn_unless_calibrated, warn_unless_converged
from .machine import Resolved, proofs_of
from .parameters import BIAS
from .probability import Calibration
from .quiet import quiet

if TYPE_CHECKING:
    from ...fitting.engine import Settings
    from ...fitting.formulation import Formulation
    from ...model.model import Model
    from ...problems import Bias


def _offered(model: FormulatedClassifier) -> bool:
    """Return whether the model has probabilities, for ``available_if``."""
    if not model.with_probability:
        raise AttributeError("probability estimates are only available with probability=True")
    return True


class FormulatedClassifier(Classifier):
    """Base of the classifiers whose model is the solution of their formulation; with probabilities."""

    probability: bool | str
    random_state: Any
    bias: Bias
    augment: float | str
    _slope = Attribute("head", "slope")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Classifier._parameter_constraints,
        **BIAS,
        "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
        "random_state": ["random_state"],
    }

    @property
    def with_probability(self) -> bool:
        """Whether ``probability`` is True."""
        return self.probability != "deprecated" and bool(self.probability)

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        from ...threads import Clock

        clock = Clock.starting(self.max_time)
        data = self._labelled(X, y, sample_weight)
        form = self.formulation(inputs.augment(self.augment, data.X, data.repeated))
        resolved = self._resolved(data.X, data.repeated)
        model = self._solved(data, form, resolved, self.settings(resolved.serving, clock, form.sized, X))
        self.class_weight_, self._model = data.class_weight, model
        return self

    def _solved(self, data: Labelled, form: Formulation, resolved: Resolved, settings: Settings) -> Model:
        """Solve the problems of a checked training set and return the model."""
        from ...fitting.binary import Binary, Kind
        from ...fitting.folds import divide

        distinct, unit = form.units_of(data.samples)
        if form.check is not None:
            form.check(data.classes, distinct.weights_of_classes(), unit)
        k = len(data.classes)
        divided = divide(distinct, self._rng()) if self.with_probability else None
        whole = Binary(Kind(k, self.multi_class, form), distinct, [[c] for c in range(k)])
        fitted = self._solve(data.X, distinct, whole, settings)
        found, values = fitted.found, inputs.given(resolved.serving)
        divisors = None if form.divisors is None else form.divisors(found.half_width)
        coefficients = distinct.spread(fitted.first[1:], fitted.ids, fitted.beta, form.bound)
        head, proofs = self._head_for(data.classes), proofs_of(fitted, k == 2, unit)
        intercepts = found.intercept.copy()
        model = self._of_coefficients(data, coefficients, intercepts, resolved, head, proofs, divisors)
        if form.doubt is not None and (
            text := form.doubt(found.half_width[found.solved & np.isfinite(found.violation)])
        ):
            warn(text)
        warn_unless_converged(fitted, data.X, self.max_iter, values=values)
        if divided is not None:
            X = inputs.as_dense_if_small(data.X, self.kernel)
            folds, slope = Calibration(X, divided, settings, form.divisors, head).run(fitted, whole)
            model = replace(model, head=replace(head, slope=slope))
            warn_unless_converged(folds, data.X, self.max_iter, "problems of the folds", values)
            warn_unless_calibrated(settings.clock, slope)
        return model

    def _rng(self) -> np.random.RandomState:
        """Return the generator that shuffles the samples before they are left out; None is a fixed seed."""
        return check_random_state(0 if self.random_state is None else self.random_state)

    @available_if(_offered)
    @quiet
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of the classes; the predicted class has the largest one.

        Available if ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The columns are in the order of ``classes_``, each row sums to 1.

        Raises
        ------
        NotFittedError
            If the model was fitted without ``probability=True``.
        """
        model = self.model_
        head = self.head_of(model)
        if head.slope is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        head.check()
        return self._decision(model, X, head.probabilities)

    @available_if(_offered)
    @quiet
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return logarithms of the probabilities of the classes.

        Available if ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))
