"""The search of scikit-learn that begins with few samples; fits of our estimators share kernel matrices."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils import indexable

from .grid import OUR_CONSTRAINTS, SharedSearch
from .theirs import Halving

if TYPE_CHECKING:
    HalvingBase = Any
else:
    HalvingBase = Halving


class HalvingGridSearchCV(SharedSearch, HalvingBase):
    """Search over all combinations of parameters, with few samples first and the best candidates on more.

    It is :class:`sklearn.model_selection.HalvingGridSearchCV` with the same parameters, attributes and results, and
    needs no import of ``sklearn.experimental``; :class:`GridSearchCV` says what is shared. Ctrl-C ends the search
    without a result, as later rounds depend on earlier ones.

    Parameters
    ----------
    estimator : estimator
        As in scikit-learn.
    param_grid : dict or list of dict
        As in scikit-learn.
    factor : int or float, default=3
        As in scikit-learn.
    resource : str, default='n_samples'
        As in scikit-learn.
    max_resources : int or 'auto', default='auto'
        As in scikit-learn.
    min_resources : {'exhaust', 'smallest'} or int, default='exhaust'
        As in scikit-learn.
    aggressive_elimination : bool, default=False
        As in scikit-learn.
    cv : int, cross-validation generator or iterable, default=5
        As in scikit-learn.
    scoring : str or callable, default=None
        As in scikit-learn.
    refit : bool or callable, default=True
        As in scikit-learn.
    error_score : 'raise' or float, default=np.nan
        As in scikit-learn.
    return_train_score : bool, default=True
        As in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        As in scikit-learn.
    n_jobs : int, default=None
        As in :class:`GridSearchCV`.
    verbose : int, default=0
        As in :class:`GridSearchCV`.

    Attributes
    ----------
    cv_results_, end_ :
        As in :class:`GridSearchCV`.
    n_resources_, n_candidates_, n_remaining_candidates_, max_resources_, min_resources_, n_iterations_ :
        As in scikit-learn, and so are ``n_possible_iterations_`` and ``n_required_iterations_``.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_ :
        As in scikit-learn, and so are ``classes_``, ``n_features_in_`` and ``feature_names_in_``.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.selection import HalvingGridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}
    >>> search = HalvingGridSearchCV(SVC(), grid, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    max_time: float | None = None
    prove: bool = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        **Halving._parameter_constraints,
        "n_jobs": OUR_CONSTRAINTS["n_jobs"],
    }

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        X, y = indexable(X, y)
        self._n_samples_orig = X.shape[0] if hasattr(X, "shape") else len(X)
        super().fit(X, y, **params)
        self.best_score_ = self.cv_results_["mean_test_score"][self.best_index_]
        return self

    fit.__doc__ = SharedSearch.fit.__doc__

    def _run_search(self, evaluate_candidates: Any, *, callback_ctx: Any = None) -> None:
        """Evaluate round after round, until Ctrl-C."""
        watch = vars(self).get("_watch")  # callbacks do without

        def evaluated(*args: Any, **more: Any) -> Any:
            results = evaluate_candidates(*args, **more)
            if watch is not None and watch.interrupted:
                raise KeyboardInterrupt
            return results

        plain = super()._run_search
        known = "callback_ctx" in signature(plain).parameters
        plain(evaluated, **({"callback_ctx": callback_ctx} if known else {}))
