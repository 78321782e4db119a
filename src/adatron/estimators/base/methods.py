"""What goes round the methods of an estimator: imports in one go, quiet numbers, errors that say what to do, callbacks.

What a method imports when it is first called is imported at its start, where neither Ctrl-C nor a fork by another
thread can come between.

What overflows is looked at where it matters, and an estimator says so in words. Numbers may overflow anywhere in a fit,
in its proof, in a prediction. A certificate of numbers that are not finite proves nothing and says so; coefficients
that are not finite are an error. NumPy's "overflow encountered in multiply" adds nothing to this that a user could act
on. So methods run with NumPy's floating-point warnings off, those of the user's own functions that they call included;
a kernel function that returns infinity or NaN is an error all the same.

Callbacks are scikit-learn's (``set_callbacks(ProgressBar())``), which has them from 1.9 on. The task of a fit has a
hundred tasks below it: hundredths of its way, the fall of the duality gap on a logarithmic scale. A callback that is
asked at the end of one of them may stop the fit. The fit itself ends with the fitted estimator, for callbacks that
measure it. All that knows of this interface, which may change, is in this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numpy as np
from sklearn.base import _fit_context  # pyright: ignore[reportPrivateUsage]
from sklearn.utils._available_if import _AvailableIfDescriptor  # pyright: ignore[reportPrivateUsage]

from ...compiled.cache.uninterrupted import uninterrupted
from ...door.arrays import returned
from ...progress import part_done

if TYPE_CHECKING:
    from ...solvers.base import Progress


class Spelling:
    """Base of the estimators: a constructor names the nearest parameter, or all, if it gets one that it lacks."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        parameters = list(signature(cls.__init__).parameters.values())[1:]
        open_ended = any(one.kind is Parameter.VAR_KEYWORD for one in parameters)
        if not (open_ended or hasattr(cls.__init__, "helpful")):
            helpful = _spelt(cls.__init__, [one.name for one in parameters])
            setattr(cls, "__init__", helpful)  # noqa: B010 (a type checker reads the original)


def _spelt(init: Callable[..., None], known: list[str]) -> Callable[..., None]:
    @wraps(init)
    def helpful(self: Any, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in known:
                lower = {one.lower(): one for one in known}
                near = get_close_matches(name.lower(), lower, n=1)
                hint = f"Did you mean {lower[near[0]]!r}?" if near else f"Its parameters are {', '.join(known)}."
                raise TypeError(f"{init.__qualname__}() got an unexpected keyword argument {name!r}. {hint}")
        init(self, *args, **kwargs)

    setattr(helpful, "helpful", True)  # noqa: B010
    return helpful


class _AvailableIf(_AvailableIfDescriptor):
    """The error has the words of the check; scikit-learn's says only that there is no such attribute."""

    def _check(self, obj: Any, owner: Any) -> None:
        try:
            self.check(obj)
        except Exception as error:  # hasattr must say no
            raise AttributeError(f"{owner.__name__} has no {self.attribute_name}: {error}") from None


def available_if(check: Callable[[Any], object]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of methods that are there unless ``check`` of the estimator raises an error, the reason."""
    return lambda method: _AvailableIf(method, check, method.__name__)


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
#: Methods of estimators that compute.
QUIET_METHODS = (
    "fit", "partial_fit", "forget", "set_C", "C_path", "loo_decision", "loo_error", "deletion_report", "restore_state",
    "predict", "decision_function", "score_samples", "compact", "to_sklearn",
)  # fmt: skip
PREDICTIONS = ("predict", "decision_function", "score_samples")  # Those that only sum.
OF_CLASSES = ("predict_proba", "predict_log_proba")
FOR_PREDICTIONS = ("model.function",)
FOR_OTHERS = ("fitting.fit", "fitting.convergence", *FOR_PREDICTIONS)


@cache
def _import_all(modules: tuple[str, ...]) -> None:
    with uninterrupted():
        for name in modules:
            import_module(f"adatron.{name}")
        with suppress(ModuleNotFoundError):  # older ones have none
            import_module("sklearn.callback")  # scikit-learn imports it in the first fit


def quiet(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the function with its imports in one go, and without NumPy's floating-point warnings."""
    modules = FOR_PREDICTIONS if function.__name__ in PREDICTIONS else FOR_OTHERS
    predicts = function.__name__ in (*PREDICTIONS, *OF_CLASSES)

    @wraps(function)
    def without_warnings(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        _import_all(modules)
        with np.errstate(all="ignore"):
            found: Any = function(*args, **kwargs)
        return returned(found, args[1] if len(args) > 1 else kwargs.get("X")) if predicts else found

    return without_warnings


def quiet_methods(kind: type) -> None:
    """Make those QUIET_METHODS quiet that a class defines."""
    for name in QUIET_METHODS:
        if name in vars(kind):
            setattr(kind, name, quiet(vars(kind)[name]))


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
    def renamed(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return fit(self, *args, **kwargs)
        except TypeError as error:
            users = f"{type(self).__name__}.{fit.__name__}()"
            error.args = tuple(one.replace(own, users, 1) if isinstance(one, str) else one for one in error.args)
            raise

    return cast("Fit", renamed)


def fitting(fit: Fit) -> Fit:
    """Return a ``fit`` that checks the parameters first, as scikit-learn does, and tells callbacks of its way."""

    @wraps(fit)
    def restoring(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        state = vars(self)
        before = {name: state[name] for name in (*OF_INPUT, *FOUND_ATTRIBUTES) if name in state}
        try:
            return reporting(self, X, *args, **kwargs)
        except BaseException:  # what the check of X has set is not that of the model that stays
            if all(vars(self).get(name) is before.get(name) for name in FOUND_ATTRIBUTES):
                for name in OF_INPUT:
                    vars(self).pop(name, None)
                vars(self).update(before)
            raise

    def reporting(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
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
    return named(checked(restoring))


class Parts:
    """Tells scikit-learn's callbacks how far a fit is, given its reports."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator, self.context, self.reported = estimator, context, 0
        self.first: dict[int, float] = {}

    def __call__(self, state: Progress) -> bool:
        """Tell of the parts that are done now; return whether a callback asks to stop."""
        first = self.first.setdefault(state.problem, state.duality_gap)
        if not math.isfinite(first):
            del self.first[state.problem]
        target = self.estimator.gap_tol or self.estimator.tol
        done = (state.n_finished + part_done(first, state.duality_gap, target)) / state.n_problems
        stop = False
        for _ in range(self.reported, min(PROGRESS_PARTS - 1, int(PROGRESS_PARTS * done))):  # a fit ends the last part
            one = self.context.subcontext(task_name="part")
            one.call_on_fit_task_begin(estimator=self.estimator)
            stop |= bool(one.call_on_fit_task_end(estimator=self.estimator))
            self.reported += 1
        return stop


def together(own: Callable[[Any], object] | None, parts: Parts | None) -> Callable[[Any], object] | None:
    """Return the callback for the engine: the user's, and the one for scikit-learn's callbacks."""
    if parts is None or own is None:
        return own or parts

    def both(state: Any) -> bool:
        return any([own(state) is True, parts(state)])

    return both
