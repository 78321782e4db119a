"""What goes round each method that computes: imports in one go, and NumPy's warnings stay inside.

What a method imports when it is first called is imported at its start, where neither Ctrl-C nor a fork by another
thread can come between.

What overflows is looked at where it matters, and an estimator says so in words. Numbers may overflow anywhere in a fit,
in its proof, in a prediction. A certificate of numbers that are not finite proves nothing and says so; coefficients
that are not finite are an error. NumPy's "overflow encountered in multiply" adds nothing to this that a user could act
on. So methods run with NumPy's floating-point warnings off, those of the user's own functions that they call included;
a kernel function that returns infinity or NaN is an error all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ...compiled.cache.uninterrupted import uninterrupted
from ..checks.arrays import returned

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
FOR_OTHERS = ("fitting.fit", *FOR_PREDICTIONS)


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
