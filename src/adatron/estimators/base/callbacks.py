"""scikit-learn's callbacks of a fit (``set_callbacks(ProgressBar())``), where scikit-learn has them: from 1.9 on.

The task of a fit has a hundred tasks below it: hundredths of its way, the fall of the duality gap on a logarithmic
scale. A callback that is asked at the end of one of them may stop the fit. The fit itself ends with the fitted
estimator, for callbacks that measure it. All that knows of this interface, which may change, is in this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sklearn.base import _fit_context  # pyright: ignore[reportPrivateUsage]

from ...progress import part_done

if TYPE_CHECKING:
    from ...solvers.watch import Progress


class _NoSupport:
    """Nothing: scikit-learn before 1.9 has no callbacks."""


def _support() -> type:
    """Return the class with the methods that scikit-learn gives."""
    if find_spec("sklearn.callback") is None:
        return _NoSupport
    from sklearn.callback import CallbackSupportMixin

    return CallbackSupportMixin


if TYPE_CHECKING:
    CallbackSupport = _NoSupport
else:
    CallbackSupport = _support()
PROGRESS_PARTS = 100
#: Attributes that belong to a running fit or to the user's callbacks, and to no model file.
CALLBACK_ATTRIBUTES = (
    "_skl_callbacks", "_parent_callback_ctx", "_callback_fit_ctx", "_skl_callbacks_to_teardown", "_fit_parts",
)  # fmt: skip
#: Attributes that the check of X sets before there is a model.
OF_INPUT = ("n_features_in_", "feature_names_in_", "_given_objects", "first_index_", "label_")
#: Attributes that hold what a fit has found.
FOUND_ATTRIBUTES = ("_model", "_learner")
Fit = TypeVar("Fit", bound=Callable[..., Any])


def named(fit: Fit) -> Fit:
    """Return a ``fit`` that names the user's class, not a base of it, if an argument is missing or unknown."""
    own = f"{fit.__qualname__}()"

    @wraps(fit)
    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return fit(self, *args, **kwargs)
        except TypeError as error:
            users = f"{type(self).__name__}.{fit.__name__}()"
            error.args = tuple(one.replace(own, users, 1) if isinstance(one, str) else one for one in error.args)
            raise

    return cast("Fit", told)


def fitting(fit: Fit) -> Fit:
    """Return a ``fit`` that checks the parameters first, as scikit-learn does, and tells callbacks of its way."""

    @wraps(fit)
    def told(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        state = vars(self)
        before = {name: state[name] for name in (*OF_INPUT, *FOUND_ATTRIBUTES) if name in state}
        try:
            return _told(self, X, *args, **kwargs)
        except BaseException:  # what the check of X has set is not that of the model that stays
            if all(vars(self).get(name) is before.get(name) for name in FOUND_ATTRIBUTES):
                for name in OF_INPUT:
                    vars(self).pop(name, None)
                vars(self).update(before)
            raise

    def _told(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not any(name in vars(self) for name in CALLBACK_ATTRIBUTES[:2]):
            return fit(self, X, *args, **kwargs)
        y = kwargs.get("y", args[0] if args else None)
        weight = kwargs.get("sample_weight", args[1] if len(args) > 1 else None)
        given = {"X": X, "y": y, "metadata": None if weight is None else {"sample_weight": weight}}
        context = self._init_callback_context(max_subtasks=PROGRESS_PARTS)
        context.call_on_fit_task_begin(estimator=self, **given)
        self._fit_parts = Parts(self, context)
        try:
            fit(self, X, *args, **kwargs)
        finally:
            del self._fit_parts
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes={}, **given)
        return self

    checked: Any = _fit_context(prefer_skip_nested_validation=True)
    return named(checked(told))


class Parts:
    """Tells scikit-learn's callbacks how far a fit is, given its reports."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator, self.context, self.told = estimator, context, 0
        self.first: dict[int, float] = {}

    def __call__(self, state: Progress) -> bool:
        """Tell of the parts that are done now; return whether a callback asks to stop."""
        first = self.first.setdefault(state.problem, state.duality_gap)
        if not math.isfinite(first):
            del self.first[state.problem]
        target = self.estimator.gap_tol or self.estimator.tol
        done = (state.n_finished + part_done(first, state.duality_gap, target)) / state.n_problems
        stop = False
        for _ in range(self.told, min(PROGRESS_PARTS - 1, int(PROGRESS_PARTS * done))):  # a fit ends the last part
            one = self.context.subcontext(task_name="part")
            one.call_on_fit_task_begin(estimator=self.estimator)
            stop |= bool(one.call_on_fit_task_end(estimator=self.estimator))
            self.told += 1
        return stop


def together(own: Callable[[Any], object] | None, parts: Parts | None) -> Callable[[Any], object] | None:
    """Return the callback for the engine: the user's, and the one for scikit-learn's callbacks."""
    if parts is None or own is None:
        return own or parts

    def both(state: Any) -> bool:
        return any([own(state) is True, parts(state)])

    return both
