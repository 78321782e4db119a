"""The searches of scikit-learn, in which the fits of our estimators share kernel matrices."""

from __future__ import annotations

from inspect import signature
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn import model_selection as theirs
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import Interval, StrOptions  # pyright: ignore[reportPrivateUsage]

from ...docstrings import documented
from ...estimators.base.methods import Spelling, quiet
from ...outcome import best_of, metrics_of
from ...quoted import plain_numbers
from ..ranges.widening import asks, found_ranges, search_ranges
from .candidates import machine_of
from .evaluate import Evaluation
from .proving import NO_SHARING, refuse_unprovable
from .scoring import suit
from .theirs import all_plain, followed, routing_enabled, searched
from .watch import SearchWatch

if TYPE_CHECKING:
    Base = theirs.GridSearchCV
else:
    Base = object

OUR_CONSTRAINTS: dict[str, Any] = {
    "max_time": [Interval(Real, 0, None, closed="neither"), None],
    "prove": ["boolean"],
    "n_jobs": [Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, None, closed="left"), None],
}
NO_METRIC = (
    "score needs one metric. The search has several, and its callable refit has chosen a candidate and no metric. The "
    "metrics are {}: {}."
)


class SharedSearch(Spelling, Base):
    """The common part of the searches: it solves cells together that can share, and leaves the rest to scikit-learn.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends with it, whose parameters are searched.
    scoring : str, callable, list, tuple or dict, default=None
        How predictions of left-out samples are scored; None is the estimator's own ``score``.
    refit : bool, str or callable, default=True
        Whether to fit the best candidate to all samples; with several metrics, the name of the one that decides; or a
        function of ``cv_results_`` that returns the index of the best one.
    cv : int, cross-validation generator or iterable, default=None
        The folds: their number (None is five), an object that makes them, or pairs of training and test rows.
    pre_dispatch : int or str, default='2*n_jobs'
        How many jobs of single fits are prepared ahead.
    error_score : 'raise' or float, default=np.nan
        The score of a fit that fails, or 'raise' for its error.
    return_train_score : bool, default=False
        Whether to score the training samples, too.
    verbose : int, default=0
        From 1 on a bar shows how many fits are done.
    max_time : float, default=None
        Seconds after which no further fit begins. The best candidate is then chosen among those whose folds are all
        finished, and fitted to all samples. The scores of the others are NaN, and a warning names them. Ctrl-C has the
        same effect at any time; a second one, during the last fit, is a KeyboardInterrupt.
    n_jobs : int, default=None
        Threads of the shared fits; None leaves it to the estimator's ``n_jobs``. The number changes no result.
    prove : bool, default=False
        Whether candidates that may still be best are solved on until their scores are proven. This is for scores of
        labels by ``SVC``, ``NuSVC`` and ``OneClassSVM``; with anything else it is a ValueError. A smaller ``gap_tol``
        of the estimator stays.

    Attributes
    ----------
    cv_results_ : dict of ndarray
        The table of all candidates, as scikit-learn's; shared searches have more columns. ``converged`` says whether
        all fits of a candidate converged; ``max_duality_gap`` is their largest relative duality gap. ``proven`` says
        whether all labels of left-out samples are those of the optimum, rounding included; scores of labels, such as
        the accuracy, then cannot change, however closely one solves. Other scores are never proven. Without ``prove`` a
        proof takes the gradients of the solver only, which are enough for searches of up to about 2,000 samples. A
        fit's time is its part of the time of all fits that share a matrix.
    end_ : {'complete', 'interrupted', 'max_time'}
        Whether all fits are finished, or why not. Searches with callbacks of scikit-learn do not have it.
    unproven_samples_ : list of ndarray or None
        With ``prove=True``: for each candidate the rows whose labels are not proven; None, and a warning, if no label
        is proven.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_ :
        Those of scikit-learn's search, which also has ``classes_``, ``n_features_in_`` and ``feature_names_in_``.
    """

    max_time: float | None
    prove: bool
    unproven_samples_: list[Any]

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Run fit with all sets of parameters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,), default=None
            Targets; None for novelty detection.
        **params : dict
            ``groups`` for the folds, ``sample_weight`` for fits and scores.

        Returns
        -------
        self : the fitted search

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C came before all folds of any candidate were finished, or during the last fit.
        ValueError
            ``max_time`` was over before, or no candidate has a score, so that ``refit`` has nothing to choose from.
        """
        if followed(self) or get_config()["array_api_dispatch"]:
            if self.prove:
                raise ValueError(NO_SHARING.format("callbacks of scikit-learn, or its array API,"))
            return super().fit(X, y, **params)
        watch = SearchWatch(self.max_time, self.verbose > 0) if self._limited() else SearchWatch(None, visible=False)
        self._watch = watch
        try:
            return self._evaluated(X, y, params, watch)
        finally:
            del self._watch

    def _evaluated(self, X: Any, y: Any, params: dict[str, Any], watch: SearchWatch) -> Any:
        """Fit as scikit-learn does, with cells that share what they can."""
        shares = self._shares(y, params)
        if self.prove and self._limited():
            refuse_unprovable(self)
            if not shares:
                raise ValueError(NO_SHARING.format("targets of several columns, or parameters of fit or of scores,"))
        if shares:
            return quiet(searched)(self, X, y, params, Evaluation(self, watch), watch)
        return searched(self, X, y, params, all_plain(self, watch), watch)

    def score(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Return the score of the best candidate, fitted to all samples, as scikit-learn's searches do.

        Raises
        ------
        ValueError
            The search has several metrics, and ``refit`` is a function, so no metric is known to be the one to return.
        """
        if callable(self.refit) and vars(self).get("multimetric_"):
            several = isinstance(self.scorer_, dict)
            names = metrics_of(self.cv_results_)
            way = f"search.scorer_[{names[0]!r}](search, X, y)" if several else "search.scorer_(search, X, y)"
            raise ValueError(NO_METRIC.format(names, f"call {way}"))
        return super().score(X, y, **params)

    def _validate_params(self) -> None:
        with plain_numbers():
            super()._validate_params()

    def _limited(self) -> bool:
        """Return whether the parameters that a watch needs are right; if not, the search soon raises an error."""
        try:
            self._validate_params()
        except ValueError:
            return False
        return True

    def _shares(self, y: Any, params: dict[str, Any]) -> bool:
        """Return whether anything in the search can be shared."""
        if machine_of(self.estimator) is None:
            return False
        if y is not None and np.ndim(y) != 1:
            return False
        allowed = {"groups"}
        if not isinstance(self.estimator, Pipeline):
            allowed |= set(params) if routing_enabled() else {"sample_weight"}
        elif not routing_enabled():
            allowed.add(f"{self.estimator.steps[-1][0]}__sample_weight")
        if not set(params) <= allowed:
            return False
        try:
            scorer = self._get_scorers()[0]
        except (ValueError, TypeError):  # scikit-learn's own way says what is wrong
            return False
        return suit(scorer)


@documented
class GridSearchCV(SharedSearch, theirs.GridSearchCV):
    """Search over all combinations of parameters; fits with equal kernels share their kernel matrices.

    It is :class:`sklearn.model_selection.GridSearchCV` with the same parameters, attributes and results. Candidates
    (settings of the parameters) of an ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``, ``OneClassSVM`` or ``QuantileSVR`` of one
    quantile, alone or last in a ``Pipeline``, are solved together: all folds and all candidates of one kernel over one
    matrix. With ``cv=LeaveOneOut()`` the solutions of a two-class ``SVC`` are exact, see
    :class:`adatron.IncrementalSVC`. Some candidates cannot share and are fitted one by one, as in scikit-learn: those
    of other estimators, kernels that are functions or precomputed, ``probability=True``, other solvers, estimators with
    ``max_time``, ``verbose`` or a callback, and scorers that are functions of the estimator.

    Parameters
    ----------
    param_grid : dict, list of dict, or 'auto'
        Names of parameters with lists of values, or several such dicts. 'auto' stands for ranges of C, gamma, nu and
        epsilon, as far as the estimator has them, that follow from the data. In a dict it may stand for a list: ``{"C":
        "auto", "gamma": [0.1, 1]}``. Such a range is widened while the best candidate is at its edge, up to six times.

    Notes
    -----
    Scores are those of single fits, except where a decision value is within the solver's tolerance of a threshold.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.selection import GridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}).fit(X, y)
    >>> bool(search.best_score_ > 0.97 and all(search.cv_results_["converged"]))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        **theirs.GridSearchCV._parameter_constraints,
        **OUR_CONSTRAINTS,
        "param_grid": [dict, list, StrOptions({"auto"})],
    }

    def __init__(
        self, estimator: Any, param_grid: Any, *, scoring: Any = None, n_jobs: int | None = None, refit: Any = True,
        cv: Any = None, verbose: int = 0, pre_dispatch: Any = "2*n_jobs", error_score: Any = np.nan,
        return_train_score: bool = False, max_time: float | None = None, prove: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            estimator, param_grid, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose,
            pre_dispatch=pre_dispatch, error_score=error_score, return_train_score=return_train_score,
        )  # fmt: skip
        self.max_time, self.prove = max_time, prove

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        if not asks(self.param_grid):
            return super().fit(X, y, **params)
        self._validate_params()
        self._ranges = found_ranges(self.estimator, self.param_grid, X, y)
        try:
            return super().fit(X, y, **params)
        finally:
            del self._ranges

    fit.__doc__ = SharedSearch.fit.__doc__

    def _run_search(self, evaluate_candidates: Any, *, callback_ctx: Any = None) -> None:
        """Evaluate the grid, and further candidates if its ranges are to be found."""
        grids = vars(self).get("_ranges")
        if grids is None:
            plain = super()._run_search
            known = "callback_ctx" in signature(plain).parameters
            plain(evaluate_candidates, **({"callback_ctx": callback_ctx} if known else {}))
        else:
            watch = vars(self).get("_watch")  # callbacks do without
            search_ranges(grids, evaluate_candidates, self._best, lambda: watch is not None and watch.over)

    def _best(self, results: dict[str, Any]) -> NDArray[np.int64]:
        """Return the best candidates so far; none if no metric is known to decide."""
        if callable(self.refit):
            return np.array([self._select_best_index(self.refit, "", results)])
        several = "mean_test_score" not in results
        metric = self.refit if several else "score"
        return best_of(results, str(metric)) if metric else np.empty(0, np.int64)


@documented
class RandomizedSearchCV(SharedSearch, theirs.RandomizedSearchCV):
    """Search over drawn parameters; fits with equal kernels share their kernel matrices.

    It is :class:`sklearn.model_selection.RandomizedSearchCV` with the same parameters, attributes and results;
    :class:`GridSearchCV` says what is shared. Draws share most if the kernel's parameters come from a list.

    Parameters
    ----------
    param_distributions : dict or list of dict
        Names of parameters with lists of values or distributions with a method ``rvs``, or several such dicts.
    n_iter : int, default=10
        How many candidates are drawn.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.selection import RandomizedSearchCV
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> draws = {"C": loguniform(0.1, 100), "gamma": [0.01, 0.1, 1]}
    >>> search = RandomizedSearchCV(SVC(), draws, n_iter=20, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        **theirs.RandomizedSearchCV._parameter_constraints,
        **OUR_CONSTRAINTS,
    }

    def __init__(
        self, estimator: Any, param_distributions: Any, *, n_iter: int = 10, scoring: Any = None,
        n_jobs: int | None = None, refit: Any = True, cv: Any = None, verbose: int = 0, pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None, error_score: Any = np.nan, return_train_score: bool = False,
        max_time: float | None = None, prove: bool = False,
    ) -> None:  # fmt: skip
        made: Any = super().__init__
        made(
            estimator, param_distributions, n_iter=n_iter, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
            verbose=verbose, pre_dispatch=pre_dispatch, random_state=random_state, error_score=error_score,
            return_train_score=return_train_score,
        )  # fmt: skip
        self.max_time, self.prove = max_time, prove
