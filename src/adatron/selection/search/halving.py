"""scikit-learn's search by successive halving, whose fits share their kernel matrices."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils import indexable

from .grid import OURS, Shared
from .theirs import Halving

if TYPE_CHECKING:
    Base = Any
else:
    Base = Halving


class HalvingGridSearchCV(Shared, Base):
    """Search over all combinations of parameters, with few samples first and the best candidates on more.

    It is :class:`sklearn.model_selection.HalvingGridSearchCV` with the same parameters, attributes and results, and
    needs no import of ``sklearn.experimental``; :class:`GridSearchCV` says what is shared. Ctrl-C ends the search
    without a result, as later rounds depend on earlier ones.

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
        "n_jobs": OURS["n_jobs"],
    }

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        X, y = indexable(X, y)
        self._n_samples_orig = X.shape[0] if hasattr(X, "shape") else len(X)
        super().fit(X, y, **params)
        self.best_score_ = self.cv_results_["mean_test_score"][self.best_index_]
        return self

    fit.__doc__ = Shared.fit.__doc__

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
