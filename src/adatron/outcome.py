"""The outcome of a search over parameters, ours or scikit-learn's, as its ``cv_results_`` tells it."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIED = 1e-12  # Largest difference of two mean scores, relative to the larger one, that counts as none.


def is_number(value: Any) -> bool:
    """Return whether a parameter's value is a number that can be ordered."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and not _is_nan(value)


def short(name: str) -> str:
    """Return the name of a parameter without the step of a pipeline that has it."""
    return name.rpartition("__")[2]


def metrics_of(results: dict[str, Any]) -> list[str]:
    """Return the names of the metrics."""
    return [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]


def values_of(results: dict[str, Any], name: str) -> list[Any]:
    """Return the different values of a parameter: numbers in ascending order, then others as they were met."""
    column = results[f"param_{name}"]
    given = [
        value for value, absent in zip(column.data.tolist(), np.ma.getmaskarray(column), strict=True) if not absent
    ]
    numbers = sorted({value for value in given if is_number(value)})
    others: list[Any] = []
    for value in given:
        if not is_number(value) and not any(same(value, other) for other in others):
            others.append(value)
    return [*numbers, *others]


def same(one: Any, other: Any) -> bool:
    """Return whether two values of a parameter are the same one; NaN is the same as NaN."""
    if one is other or (_is_nan(one) and _is_nan(other)):
        return True
    if type(one) is not type(other) and not (is_number(one) and is_number(other)):
        return False
    try:
        return bool(one == other)
    except ValueError:  # arrays
        return False


def _is_nan(value: Any) -> bool:
    return isinstance(value, Real) and bool(value != value)  # float() would refuse very large whole numbers


def positions(results: dict[str, Any], name: str, values: list[Any]) -> NDArray[np.int64]:
    """Return the position of each candidate's value in ``values``; -1 of candidates without this parameter."""
    column = results[f"param_{name}"]
    out = np.full(len(column), -1)
    for at, (value, absent) in enumerate(zip(column.data.tolist(), np.ma.getmaskarray(column), strict=True)):
        if not absent:
            out[at] = next(k for k, one in enumerate(values) if same(value, one))
    return out


def varied(results: dict[str, Any]) -> list[str]:
    """Return the names of the parameters that have several values, in the order of the candidates."""
    names: dict[str, None] = {}
    for params in results["params"]:
        names |= dict.fromkeys(params)
    return [name for name in names if len(values_of(results, name)) > 1]


def metric_of(search: Any, metric: str | None = None) -> str:
    """Return the name of a search's metric: the one that chose the best candidate, if none is named.

    Raise a ValueError if the search has no such metric, or several and none of them chose.
    """
    known = metrics_of(search.cv_results_)
    if metric is None:
        refit = getattr(search, "refit", None)
        metric = known[0] if len(known) == 1 else refit if isinstance(refit, str) else None
    if metric is None or metric not in known:
        printed = "is missing" if metric is None else f"is {metric!r}"
        raise ValueError(f"The parameter metric {printed}, and the metrics of the search are {known}.")
    return metric


def measure_of(search: Any, metric: str) -> str:
    """Return the name of a metric for people: 'score' has the name of what it measures, if that is known."""
    from sklearn.base import BaseEstimator, is_classifier, is_regressor

    scoring, estimator = getattr(search, "scoring", None), getattr(search, "estimator", None)
    if metric == "score" and isinstance(scoring, str):
        metric = scoring
    elif metric == "score" and scoring is None and isinstance(estimator, BaseEstimator):
        metric = "accuracy" if is_classifier(estimator) else "R²" if is_regressor(estimator) else metric
    return metric.replace("_", " ")


def best_of(results: dict[str, Any], metric: str = "score") -> NDArray[np.int64]:
    """Return the candidates with the best mean score; none if no candidate has any."""
    means = results[f"mean_test_{metric}"]
    if np.isnan(means).all():
        return np.empty(0, np.int64)
    best = float(np.nanmax(means))
    if not np.isfinite(best):
        return np.flatnonzero(means == best)
    return np.flatnonzero(means >= best - TIED * abs(best))


def edges(results: dict[str, Any], best: NDArray[np.int64]) -> dict[str, str]:
    """Return the parameters of which the best candidates have an outermost value, with 'smallest' or 'largest'.

    A number that is 0 or infinite has nothing beyond it. If some best candidate lies inside, the range is wide enough.
    """
    found: dict[str, str] = {}
    for name in varied(results) if len(best) else ():
        values = [value for value in values_of(results, name) if is_number(value)]
        if len(values) < 2:
            continue
        at = set(positions(results, name, values_of(results, name))[best].tolist())
        for place, word in ((0, "smallest"), (len(values) - 1, "largest")):
            if at == {place} and values[place] != 0 and np.isfinite(float(values[place])):
                found[name] = word
    return found


def edges_of(search: Any) -> dict[str, str]:
    """Return the parameters of which the best candidate of a fitted search has an outermost value; see ``edges``."""
    if callable(search.refit):
        return edges(search.cv_results_, np.array([search.best_index_]))
    return edges(search.cv_results_, best_of(search.cv_results_, metric_of(search)))
