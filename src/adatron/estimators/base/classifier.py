"""The base of the classifiers: from labels to the model of all their problems, and from values to labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Hidden, StrOptions

from ...docstrings import documented, predicting, training
from ...door import inputs
from ...door.inputs import ONE_EACH, refuse_constant
from ...model.readout import Classes
from .attributes import Attribute
from .machine import KernelMachine
from .methods import available_if, fitting, quiet
from .parameters import BIAS

if TYPE_CHECKING:
    from ...fitting.fit import TrainingSet
    from ...model.model import Model
    from ...problems import Bias


def _offered(machine: Classifier) -> None:
    """Fail if the machine has no probabilities, for ``available_if``."""
    if not machine.with_probability:
        able = "probability" in machine.get_params(deep=False)
        other = "scikit-learn's CalibratedClassifierCV adds probabilities"
        raise AttributeError("pass probability=True before the fit" if able else other)


def slope(margins: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the slope of the sigmoid of all pairs of classes, >= 0, each from its own samples.

    Parameters
    ----------
    margins : (n, n_classes - 1) out-of-fold values of the pairs of each sample's class, positive for this class
    weight : (n,) weight of each sample
    """
    from sklearn.calibration import _SigmoidCalibration  # pyright: ignore[reportPrivateUsage]

    from ...threads.gate import one_blas_thread

    f, often = margins.ravel(), np.repeat(weight, margins.shape[1])
    first = np.ones(len(f))
    with one_blas_thread():  # bits of BLAS depend on its threads
        sigmoid = _SigmoidCalibration().fit(np.r_[f, -f], np.r_[first, 1.0 - first], np.r_[often, often])
    return max(0.0, -float(sigmoid.a_))


@documented
class Classifier(ClassifierMixin, KernelMachine):
    """Base of the classifiers: a problem for each pair of classes, or for each class against the rest.

    Parameters
    ----------
    probability : bool or 'deprecated', default='deprecated'
        Whether to fit class probabilities, too, for ``predict_proba``: a sigmoid through 1/2 where the prediction
        changes, from decision values of samples that were left out. The probabilities agree with ``predict``.
        'deprecated' is False, as in scikit-learn, whose documented way also works and will stay:
        ``CalibratedClassifierCV(SVC(), ensemble=False)``.
    class_weight : dict or 'balanced', default=None
        Weights of the classes. 'balanced' counts a sample of weight 2 as two.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Shape of the decision function of more than two classes.
    break_ties : bool, default=False
        Break ties of votes by the decision values.
    random_state : int, RandomState instance or None, default=None
        Shuffles the samples before they are left out for ``probability=True``; None is a fixed seed.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        One classifier for each pair of classes, as in scikit-learn, or for each class against the rest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; with T labels, those of each.
    class_weight_ : ndarray of shape (n_classes,)
        The factors of C of the classes.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        Coefficients times labels of the support vectors, laid out as scikit-learn's. With ``multi_class='ovr'`` and
        more than two classes it has one row, and ``intercept_`` and ``n_iter_`` have one entry, for each class; with T
        labels, for each label.
    n_support_ : ndarray of shape (n_classes,)
        How many support vectors each class has.
    """

    bias: Bias = "explicit"
    augment: float | str = 1.0
    probability: bool | str = "deprecated"
    random_state: Any = None
    class_weight: dict[Any, float] | str | None = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    multi_class: str = "ovo"
    classes_: Attribute[NDArray[Any]] = Attribute("readout", "labels")
    class_weight_: NDArray[np.float64]
    _in_pairs: Attribute[bool] = Attribute("readout", "in_pairs")
    _slope: Attribute[float | None] = Attribute("readout", "slope")
    _columns: Attribute[int | None] = Attribute("readout", "columns")
    #: Whether a fit takes several labels of 0 and 1.
    takes_labels: ClassVar[bool] = False
    #: The error if only one class has a weight.
    _one_sided: ClassVar[str] = "Invalid input - all samples with positive weights belong to the same class."

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        **BIAS,
        "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
        "random_state": ["random_state"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "multi_class": [StrOptions({"ovo", "ovr"})],
    }

    @property
    def with_probability(self) -> bool:
        """Whether ``probability`` is True."""
        return self.probability != "deprecated" and bool(self.probability)

    @fitting
    @training
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the problem and certify the solution.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Class labels. `SVC` also takes (n_samples, T): T labels of 0 and 1 for each sample, each with a problem of
            its own, over one kernel matrix.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights, times those of the classes; one of weight 2 counts as two, one of weight 0 is left out.

        Raises
        ------
        ValueError
            Bad parameters or data: NaN or infinity, fewer than two classes, unequal lengths, no positive weight;
            one distinct sample of each class and ``probability=True``. With several labels also: one that is not 0
            or 1, or is the same for all samples; ``probability=True`` or ``class_weight``.
        """
        from ...fitting.calibration import Calibration
        from ...fitting.fit import fit
        from ...threads import Clock

        clock, data = Clock.starting(self.max_time), self._labelled(X, y, sample_weight)
        problem = self.problem(inputs.augment(self.augment, data.X, data.repeated))
        settings = self.settings(data.serving, clock, problem.sized, X)
        calibration = None
        if self.with_probability:  # samples are shuffled before they are left out; None is a fixed seed
            rng = check_random_state(0 if self.random_state is None else self.random_state)
            calibration = Calibration(rng, slope)
        return self._take(fit([data], [problem], settings, calibration))

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Return the checked training set."""
        from ...fitting.samples import canonical

        X, y = inputs.training_data(self, X, y, several=self.takes_labels)
        weight = inputs.weights(X, sample_weight)
        repeated = None if sample_weight is None else weight
        if y.ndim == 2:
            return self._of_several(X, y, weight, repeated)
        classes, codes = inputs.classes(y)
        class_weight = inputs.weights_of_classes(self.class_weight, classes, codes, repeated)
        weight = weight * class_weight[codes]
        samples = canonical(X, codes, len(classes), weight, mergeable=self._mergeable)
        if np.count_nonzero(samples.sizes) < 2:
            raise ValueError(self._one_sided)
        readout, found = self._readout_for(classes), {"class_weight_": class_weight}
        return self._training_set(X, y=codes, samples=samples, readout=readout, repeated=repeated, found=found)

    @property
    def _takes_several(self) -> bool:
        """Whether a fit with these parameters takes several labels."""
        return self.takes_labels and not self.with_probability and self.class_weight is None

    def _of_several(
        self, X: Any, y: NDArray[Any], weight: NDArray[np.float64], repeated: NDArray[np.float64] | None
    ) -> TrainingSet:
        """Return the training set with several labels: each combination of them is a class of the samples."""
        from ...fitting.samples import canonical

        if not self._takes_several:
            raise ValueError(f"probability and class_weight are for one label of a sample. {ONE_EACH}")
        combinations, codes = np.unique(y, axis=0, return_inverse=True)
        codes, sides = codes.ravel(), np.where(combinations.T == 1, 1.0, -1.0)
        samples = canonical(X, codes, len(combinations), weight, mergeable=self._mergeable)
        refuse_constant(sides[:, samples.sizes > 0])
        readout, found = Classes(np.array([0, 1], y.dtype), False, columns=len(sides)), {"class_weight_": np.ones(2)}
        parts = {"samples": samples, "readout": readout, "repeated": repeated, "found": found, "sides": sides}
        return self._training_set(X, y=0 * codes, **parts)

    def _readout_for(self, labels: NDArray[Any]) -> Classes:
        """Return the readout of a fit with such classes."""
        return Classes(labels, len(labels) > 2 and self.multi_class == "ovo")

    def _readout_of_state(self, parts: dict[str, Any]) -> Classes:
        return Classes(**parts.pop("readout"))

    def readout_of(self, model: Model) -> Classes:
        return self._with_parameters(model.readout)

    @property
    def readout(self) -> Classes:
        return self._with_parameters(self.part("readout", "readout"))

    def _with_parameters(self, readout: Any) -> Classes:
        requested = self.decision_function_shape, self.break_ties
        same = (readout.shape, readout.break_ties) == requested
        return readout if same else replace(readout, shape=requested[0], break_ties=requested[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = self._takes_several
        return tags

    @predicting
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return signed decision values.

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes), (n_samples, n_pairs) or (n_samples, T)
            Two classes: positive for ``classes_[1]``. T labels: positive for 1. More classes: votes refined by decision
            values ('ovr', as scikit-learn), the values of the pairs ('ovo'), or those of each class with
            ``multi_class='ovr'``. They are computed in float64, float32 rows too, unless ``precision='single'``.
        """
        model = self.model_
        readout = self.readout_of(model)
        return self._decision(model, X, readout.shaped, counted=readout.counted(labels=False))

    @predicting
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels, (n_samples,) or (n_samples, T).

        They are those of the float64 decision values, also if float32 proves them.
        """
        model = self.model_
        readout = self.readout_of(model)
        readout.check()
        refined = readout.in_pairs and readout.break_ties  # a sum of all pairs' values may decide
        decided = None if refined else readout.decided
        return self._decision(model, X, readout.predictions, decided, readout.counted(labels=True))

    @available_if(_offered)
    @quiet
    @predicting
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of the classes; the predicted class has the largest one.

        Available if ``probability=True``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The columns are in the order of ``classes_``, each row sums to 1.

        Raises
        ------
        AttributeError
            ``probability`` is not True, so the estimator has no such method.
        NotFittedError
            The estimator is not fitted, or ``probability`` was set to True after the fit.
        """
        model = self.model_
        readout = self.readout_of(model)
        if readout.slope is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False: fit again")
        readout.check()
        return self._decision(model, X, readout.probabilities)

    @available_if(_offered)
    @quiet
    @predicting
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return logarithms of the probabilities of the classes.

        Available if ``probability=True``.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            The logarithms of what ``predict_proba`` returns.

        Raises
        ------
        AttributeError
            ``probability`` is not True, so the estimator has no such method.
        NotFittedError
            The estimator is not fitted, or ``probability`` was set to True after the fit.
        """
        return np.log(self.predict_proba(X))
