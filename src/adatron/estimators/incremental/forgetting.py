"""Forgetting in a whole model: the steps before an incremental model may remember samples, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils import get_tags

if TYPE_CHECKING:
    from .machine import Incremental


def forget(model: Any, ids: Any) -> Any:
    """Unlearn some samples of an incremental model or of a pipeline that ends with one, or refuse.

    A step before the model that was fitted to a sample remembers it: from ``mean_`` and ``n_samples_seen_`` of a
    StandardScaler and the samples that are left, the one that has gone can be computed. The step cannot unlearn the
    sample either, since the rows in the model were scaled with it. So samples that such a step has seen are refused,
    and the others are unlearned.

    Parameters
    ----------
    model : incremental model or Pipeline
        Fitted. A step that counts in ``n_samples_seen_`` is taken to have seen the samples of the model's first call,
        and as many as it counts, in the order of their arrival, as ``Pipeline.fit`` does it; one that does not count,
        all samples; one that needs no fit, none.
    ids : int or array-like of int
        Ids of the samples, as ``model.forget`` of the incremental model takes them.

    Returns
    -------
    model
        The one that was given. Its files are written anew as by ``forget`` of the incremental model.

    Raises
    ------
    ValueError
        Another model; a step that remembers one of the samples; what ``forget`` of the incremental model refuses. The
        model is then as it was.
    OSError
        As for ``forget`` of the incremental model.

    Examples
    --------
    >>> import adatron
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = adatron.IncrementalSVC().fit(X, y)
    >>> adatron.forget(model, [0, 1]).ids_.size
    148
    """
    from .machine import Incremental

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(last, Incremental):
        raise ValueError(f"model must be an incremental model, or a pipeline with one at its end. Got {model!r}.")
    slots = last.store.slots(ids)
    for name, step in _fitted_steps(model):
        known = slots[last.store.age[slots] < _seen(step, last)]
        if len(known):
            raise ValueError(
                f"The step {name!r} ({type(step).__name__}) was fitted to sample {last.store.ids[known[0]]} and would "
                "still give it away, so nothing was forgotten. Fit the pipeline again to the samples that are left; "
                "pipeline[-1].forget(ids) unlearns in the model alone."
            )
    last.forget(ids)
    return model


def keeping(model: Any) -> list[str]:
    """Name the steps before a model that remember samples, and what they give away."""
    return [
        f"the step {name!r} ({type(step).__name__}) keeps {', '.join(_statistics(step)) or 'what it was fitted to'}: "
        "with the rows that are left this gives away rows that were forgotten; fit the pipeline again to the samples "
        "that are left"
        for name, step in _fitted_steps(model)
    ]


def remembers(model: Any, last: Incremental, one: int) -> bool:
    """Whether a step before the model has seen a sample that is still in it."""
    age = last.store.age[last.store.slots([one])][0]
    return any(age < _seen(step, last) for _, step in _fitted_steps(model))


def _fitted_steps(model: Any) -> list[tuple[str, Any]]:
    """Return the steps before the last one that are fitted to samples."""
    steps = cast("list[tuple[str, Any]]", getattr(model, "steps", []))[:-1]
    return [(name, step) for name, step in steps if step not in (None, "passthrough") and get_tags(step).requires_fit]


def _seen(step: Any, last: Incremental) -> int:
    """Return how many samples, by their arrival, a step may have seen: those of the model's first call, or more."""
    count = getattr(step, "n_samples_seen_", None)  # for each feature if values were missing
    return last.store.arrived if count is None else max(last.store.first, int(np.ceil(np.max(count))))


def _statistics(step: Any) -> list[str]:
    """Return the names of the fitted arrays and counts of a step, without those that only describe the features."""
    named = [name for name in vars(step) if name.endswith("_") and not name.startswith(("_", "n_features", "feature_"))]
    return [name for name in named if isinstance(vars(step)[name], (int, float, np.number, np.ndarray))]
