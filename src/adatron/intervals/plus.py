"""Jackknife+ and CV+: intervals and sets by the models that lack a sample, or a part of the samples."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Real
from operator import attrgetter
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..arrays import Ids, Vector
from ..docstrings import documented, predicting
from ..door.columns import refuse_masked
from ..door.inputs import given
from ..estimators.base.methods import Spelling, available_if
from ..quoted import plain_numbers, quoted
from ..selection.search.watch import SearchWatch
from .conformity import SCORES, allowed, fewest, interval, members, scores_of, tie
from .left_out import HELD_NUMBERS, LeftOutModels, left_out_of, machine_in


def only_for(classes: bool) -> Callable[[Any], None]:
    """Return a check that fails unless the machine is a classifier, or a regressor, for ``available_if``."""

    def check(face: Any) -> None:
        if is_classifier(face.estimator) != classes:
            other = "classifier, so call predict_set" if not classes else "regressor, so call predict_interval"
            raise AttributeError(f"{type(face.estimator).__name__} is a {other}")

    return check


class Wrapper(Spelling, MetaEstimatorMixin, BaseEstimator):
    """Base of what gives intervals or sets of classes by a machine.

    Parameters
    ----------
    conformity_score : {'margin', 'adaptive'}, default='margin'
        How strange a class is to a classifier: by how much another one is ahead of it, or the softmax share of the
        classes ahead of it. With 'margin' sets may be empty; with 'adaptive' they have the predicted class at least.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes of a classifier.
    n_features_in_, feature_names_in_ : int, ndarray
        Number of the features, and their names if the training samples had some.
    """

    estimator: Any
    alpha: float
    conformity_score: str
    verbose: int
    estimator_: Any

    classes_ = property(attrgetter("estimator_.classes_"), doc="The classes, in the order of the columns of sets.")
    n_features_in_ = property(attrgetter("estimator_.n_features_in_"), doc="The number of features of a sample.")
    feature_names_in_ = property(
        attrgetter("estimator_.feature_names_in_"), doc="The names of the features, if the training samples had some."
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
        "conformity_score": [StrOptions(SCORES)],
        "verbose": ["verbose"],
    }

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
        return tags

    def check(self) -> None:
        """Check the parameters."""
        with plain_numbers():
            self._validate_params()

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def fit(self, X: Any, y: Any, sample_weight: None = None) -> Self:
        """Fit the machine to all samples, and find the models that lack some of them; ``FullConformal`` needs none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples, of ``FullConformal`` at most 8,192.
        y : array-like of shape (n_samples,)
            Their targets or classes.
        sample_weight : None
            Weights are an error: the guarantee is for samples of equal weight.

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad parameters or data; weights; an estimator that is no machine of this library; several targets or
            quantiles; a class that some of the models would lack; models that need too much memory. Of
            ``FullConformal``: an estimator that depends on which samples are there; too many samples.
        """
        self.check()
        if sample_weight is not None:
            name = type(self).__name__
            raise ValueError(f"{name} does not accept sample_weight: its guarantee is for samples of equal weight.")
        model: Any = clone(self.estimator)
        machine = machine_in(model)
        if given(machine.kernel):
            raise ValueError(f"{type(self).__name__} does not accept kernel='precomputed'; pass rows of features.")
        if is_classifier(model) and "decision_function_shape" in machine.get_params():
            machine.set_params(decision_function_shape="ovr")  # scores need a value for each class
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        refuse_masked(y, "y")
        self._learn(model, X, column_or_1d(y, warn=True))
        return self

    @abstractmethod
    def _learn(self, model: Any, X: Any, y: NDArray[Any]) -> None:
        """Fit the model, and what else the class needs."""

    @predicting
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict targets or classes by the model of all samples, (n_samples,)."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(only_for(classes=True))
    @predicting
    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Return the set of classes that each sample may have.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Whether each class, in the order of ``classes_``, is in the set.
        """
        check_is_fitted(self)
        self.check()
        return self._sets(X)

    @abstractmethod
    def _sets(self, X: Any) -> NDArray[np.bool_]:
        """Return the sets of classes, see ``predict_set``."""


class Plus(Wrapper):
    """Base of ``JackknifePlus`` and ``CVPlus``.

    Parameters
    ----------
    estimator : SVR, NuSVR, QuantileSVR, SVC, NuSVC or another machine of adatron
        A regressor gives intervals, and a classifier gives sets. It may be the last step of a pipeline.
    alpha : float, default=0.1
        In (0, 1): the probability of a miss that is aimed at. It is read at each prediction. Above 1/2 there is no
        guarantee.
    verbose : int, default=0
        Whether a bar or lines show the progress.

    Attributes
    ----------
    estimator_ : estimator
        The model of all samples, which predicts. That of a classifier has ``decision_function_shape='ovr'``.
    scores_ : ndarray of shape (n_samples,)
        The absolute error, or the score of the own class, by the model without the sample, or without its part.
    left_out_violation_ : float
        The largest violation of the optimality conditions by one of these models: of 'fits' a proven bound, of the
        'path' an estimate by the gradient that it keeps.
    """

    scores_: Vector
    _left_out: LeftOutModels

    def _learn(self, model: Any, X: Any, y: NDArray[Any]) -> None:
        parts, fitted = self.parts(X, y), cast("Any", clone(model))
        if is_classifier(model):
            check_classification_targets(y)
            _refuse_rare(y, parts)
        fitted.fit(X, y)
        machine_in(fitted).readout.refuse_several()
        with SearchWatch(None, self.verbose > 0, type(self).__name__) as watch:

            def done(models: int, total: int) -> None:
                if not watch.total:
                    watch.begin(total)
                watch.advance(models)

            left_out = left_out_of(model, fitted, X, y, parts, done)
        scores = self._scores(left_out.own(X), fitted, y)
        self.estimator_, self._left_out, self.scores_ = fitted, left_out, scores

    @abstractmethod
    def parts(self, X: Any, y: NDArray[Any]) -> list[Ids]:
        """Return the parts of the samples of which each is left out once."""

    @property
    def left_out_(self) -> str:
        """How the models that lack samples were found: 'path' or 'fits'."""
        check_is_fitted(self)
        return self._left_out.how

    @property
    def left_out_violation_(self) -> float:
        """The largest violation of the optimality conditions by one of them: of fits a bound, of a path an estimate."""
        check_is_fitted(self)
        return self._left_out.violation

    def _scores(self, own: Vector, fitted: Any, y: NDArray[Any]) -> Vector:
        """Return what the model without each sample says of its target."""
        if not is_classifier(fitted):
            return np.abs(y - own)
        k = len(fitted.classes_)
        some = np.array_split(own, 1 + len(own) * k**2 // HELD_NUMBERS)
        scores = np.concatenate([scores_of(self.conformity_score, part, k) for part in some])
        return scores[np.arange(len(y)), np.searchsorted(fitted.classes_, y)]

    @available_if(only_for(classes=False))
    @predicting
    def predict_interval(self, X: Any) -> Vector:
        """Return an interval for the target of each sample.

        Returns
        -------
        ends : ndarray of shape (n_samples, 2)
            The lower and the upper ends. They are infinite if there are fewer than 1 / alpha - 1 training samples. For
            alpha > 1/2 there may be no number between them; both are then the middle.

        Warns
        -----
        UserWarning
            They are infinite.
        """
        check_is_fitted(self)
        self.check()
        number, scores = self._left_out.number, self.scores_
        if not allowed(self.alpha, len(scores)):
            text = f"alpha={quoted(self.alpha)} needs {fewest(self.alpha):,} training samples or more, and there are"
            warnings.warn(f"{text} {len(scores):,}: the intervals are infinite.", UserWarning, stacklevel=2)
        return np.concatenate([interval(some[:, number], scores, self.alpha) for some in self._left_out.blocks(X)])

    def _sets(self, X: Any) -> NDArray[np.bool_]:
        number, k, out = self._left_out.number, len(self.classes_), list[NDArray[np.bool_]]()
        for values in self._left_out.blocks(X, k**2):
            scores = scores_of(self.conformity_score, values, k)
            out.append(members(scores[:, number], self.scores_, self.alpha, tie(self._left_out.error, k)))
        return np.concatenate(out)


def _refuse_rare(y: NDArray[Any], parts: list[Ids]) -> None:
    """Fail if a class is only in one of the parts."""
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    for part in parts:
        whole = np.flatnonzero(np.bincount(codes[part], minlength=len(labels)) == counts)
        if len(whole):
            label = quoted(labels[whole[0]])
            raise ValueError(f"Each model needs samples of all classes, and class {label} has too few of them.")


@documented
class JackknifePlus(Plus):
    r"""Jackknife+: intervals or sets of classes that hold the truth, by the exact models without each sample.

    A new sample's target is within its interval, or its class in its set, with a probability of at least 1 - 2 alpha,
    whatever the distribution. Usually the probability is about 1 - alpha. The samples must be exchangeable, as
    independent ones are.

    Attributes
    ----------
    left_out_ : {'path', 'fits'}
        How the models without each sample were found. 'path': each support vector leaves the solution along its exact
        path, and other samples cost nothing. 'fits': a fit for each sample, where there is no such path.

    Notes
    -----
    The models are those of a fit without the sample. There is a path for `SVC`, `NuSVC` and `SVR` with rows of numbers
    (at most 20,000), a convex kernel and a finite C. Nothing else may depend on the samples that are there:
    ``gamma='scale'``, ``class_weight='balanced'``, ``augment='auto'`` and the scaler of a pipeline do. So pass gamma as
    a number. A prediction uses all models, which share the kernel values.

    References
    ----------
    Barber, Candès, Ramdas and Tibshirani, Predictive inference with the jackknife+, Annals of Statistics 49 (2021)
    486-507.

    Romano, Sesia and Candès, Classification with valid and adaptive coverage, NeurIPS 33 (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from adatron import SVR
    >>> from adatron.intervals import JackknifePlus
    >>> X = np.linspace(0, 6, 120)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.2, 120)
    >>> model = JackknifePlus(SVR(C=10, gamma=1.0), alpha=0.1).fit(X, y)
    >>> model.left_out_, model.predict_interval(X[:3]).shape
    ('path', (3, 2))
    """

    def __init__(
        self, estimator: Any, *, alpha: float = 0.1, conformity_score: str = "margin", verbose: int = 0
    ) -> None:
        self.estimator, self.alpha = estimator, alpha
        self.conformity_score, self.verbose = conformity_score, verbose

    def parts(self, X: Any, y: NDArray[Any]) -> list[Ids]:
        """Return each sample alone."""
        return list(np.arange(len(y))[:, None])


@documented
class CVPlus(Plus):
    """CV+: intervals or sets of classes that hold the truth, by the models without each part of the samples.

    As :class:`JackknifePlus`, with one fit for each of K parts. The probability is at least
    1 - 2 alpha - min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K + 1)); usually it is about 1 - alpha.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable, default=10
        The parts, as in scikit-learn's cross-validation. Each sample must be left out once.

    Attributes
    ----------
    left_out_ : {'fits', 'path'}
        Each of these models is a proven fit, except for parts of one sample.

    References
    ----------
    Barber, Candès, Ramdas and Tibshirani, Predictive inference with the jackknife+, Annals of Statistics 49 (2021)
    486-507.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.intervals import CVPlus
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CVPlus(SVC(), alpha=0.05, cv=5).fit(X, y)
    >>> model.predict_set(X[:2]).tolist()
    [[True, False, False], [True, False, False]]
    """

    cv: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**Wrapper._parameter_constraints, "cv": ["cv_object"]}

    def __init__(
        self, estimator: Any, *, cv: Any = 10, alpha: float = 0.1, conformity_score: str = "margin", verbose: int = 0
    ) -> None:
        self.estimator, self.cv, self.alpha = estimator, cv, alpha
        self.conformity_score, self.verbose = conformity_score, verbose

    def parts(self, X: Any, y: NDArray[Any]) -> list[Ids]:
        """Return the test part of each fold."""
        folds: Any = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        found = [part for _, part in folds.split(X, y)]
        if not np.array_equal(np.sort(np.concatenate(found)), np.arange(len(y))):
            raise ValueError(f"The 'cv' parameter must leave each sample out once. Got {quoted(self.cv)}.")
        return found
