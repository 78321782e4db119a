"""Check an estimator of scikit-learn in a model file, take its state out, and put a state in."""

from __future__ import annotations

from typing import Any, cast

import sklearn
from sklearn.base import BaseEstimator

from ..archive import InvalidError
from ..schema import Field, check_fields
from .classes import LEFT_OUT, Around
from .rules import settled
from .values import Words, is_generator

SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")


def taken_apart(estimator: BaseEstimator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the state that a model file keeps of an estimator.

    Generators of random numbers are left out: they act in fits only, and a loaded estimator draws anew.
    """
    params = estimator.get_params(deep=False)
    whole = cast("dict[str, Any]", estimator.__getstate__())
    state = {name: value for name, value in whole.items() if name not in params and name not in LEFT_OUT}
    if isinstance(words := state.get("vocabulary_"), dict):
        state["vocabulary_"] = _words(words)
    return params, {name: None if is_generator(one) else one for name, one in state.items()}


def put_together(kind: Around, params: dict[str, Any], state: dict[str, Any], version: str) -> BaseEstimator:
    """Return a checked estimator; scikit-learn warns if its version is not that which wrote the state.

    Raises
    ------
    InvalidError
        The installed scikit-learn has no such class, or the state is not one of it.
    ValueError
        A parameter is not allowed.
    """
    if kind.kind is None:
        raise InvalidError(f"scikit-learn {sklearn.__version__} has no {kind.name}")
    estimator = kind.kind(**settled(params))
    check(kind, estimator, state)
    if isinstance(words := state.get("vocabulary_"), Words):
        state = {**state, "vocabulary_": dict(words)}
    theirs = {"_sklearn_version": version} if kind.module.startswith("sklearn.") else {}
    estimator.__setstate__({**vars(estimator), **state, **theirs})
    if kind.name in SEARCHES and "cv_results_" in state:
        estimator.scorer_ = _scorer(estimator)
    return estimator


def check(kind: Around, estimator: BaseEstimator, state: dict[str, Any]) -> None:
    """Check the parameters of an estimator, and a state that is, or is to become, its own.

    Raises
    ------
    InvalidError
        The state is not one of the class.
    ValueError
        A parameter is not allowed.
    """
    params = estimator.get_params(deep=False)
    settled(params)
    validated: Any = estimator
    if hasattr(validated, "_parameter_constraints"):
        validated._validate_params()
    fields = kind.state
    for name in state:
        if name in params:
            raise InvalidError(f"{name[:50]!r} is a parameter, and cannot be an attribute that a fit sets")
        hidden = not (name in fields and isinstance(fields[name], Field)) and hasattr(kind.kind, name)
        if not name.isidentifier() or name.startswith("__") or name in LEFT_OUT or hidden:
            raise InvalidError(f"a fit sets no attribute {name[:50]!r}")
    check_fields(fields, state, {"params": params, "state": state})
    fault = None if kind.rule is None else kind.rule(params, state)
    if fault is not None:
        raise InvalidError(fault)


def _words(vocabulary: dict[Any, Any]) -> Words:
    found = Words({str(word): int(column) for word, column in vocabulary.items()})
    if len(found) < len(vocabulary) or set(found.values()) != set(range(len(found))):
        raise InvalidError("vocabulary_ must have the columns 0 to n - 1, one for each word")
    return found


def _scorer(search: Any) -> Any:
    """Return what a search scores with, which `fit` has made of its parameters."""
    from sklearn.metrics import check_scoring

    scorer: Any = check_scoring(search.estimator, search.scoring)
    return getattr(scorer, "_scorers", scorer)
