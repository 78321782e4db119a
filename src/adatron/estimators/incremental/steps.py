"""Steps of a pipeline before an incremental model: the samples that they have seen, and may give away."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .learning import Learning


def keeping(model: Any) -> list[str]:
    """Name the steps before a model that remember samples, and the attributes that give samples away."""
    return [
        f"the step {name!r} ({type(step).__name__}) keeps {', '.join(_statistics(step)) or 'what it was fitted to'}: "
        "with the rows that are left this gives away rows that were forgotten; fit the pipeline again to the samples "
        "that are left"
        for name, step in fitted_steps(model)
    ]


def remembers(model: Any, last: Learning, one: int) -> bool:
    """Return whether a step before the model has seen a sample that is still in it."""
    age = last.store.age[last.store.slots([one])][0]
    return any(age < seen(step, last) for _, step in fitted_steps(model))


def fitted_steps(model: Any) -> list[tuple[str, Any]]:
    """Return the steps before the last one that are fitted to samples, including those of a pipeline at the end."""
    found: list[tuple[str, Any]] = []
    while isinstance(model, Pipeline):
        steps = cast("list[tuple[str, Any]]", model.steps)
        found += [one for one in steps[:-1] if one[1] not in (None, "passthrough") and get_tags(one[1]).requires_fit]
        model = steps[-1][1]
    return found


def last_of(model: Any) -> Any:
    """Return the estimator at the end of a model, which may be a pipeline of pipelines."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def seen(step: Any, last: Learning) -> int:
    """Return how many samples, by their arrival, a step may have seen: those of the model's first call, or more."""
    count = getattr(step, "n_samples_seen_", None)  # an array over the features if values were missing
    return last.store.arrived if count is None else max(last.store.first, int(np.ceil(np.max(count))))


def _statistics(step: Any) -> list[str]:
    """Return the names of the fitted arrays and counts of a step, without those that only describe the features."""
    named = [name for name in vars(step) if name.endswith("_") and not name.startswith(("_", "n_features", "feature_"))]
    return [name for name in named if isinstance(vars(step)[name], (int, float, np.number, np.ndarray))]
