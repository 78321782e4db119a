"""Forgetting in a whole model: steps before an incremental model may also remember samples, and give them away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from ...learning.store import Store
from ...pipelines import is_search, of_class, way_to
from ...quoted import quoted
from .holder import Holder


def forget(model: Any, ids: Any) -> Any:
    """Unlearn some samples of an incremental model, or of a pipeline or search that ends with one, or refuse.

    A step before the model that was fitted to a sample remembers it. For instance, ``mean_`` and ``n_samples_seen_`` of
    a StandardScaler and the remaining samples give the sample that has gone. The step cannot unlearn it either, since
    the rows in the model were scaled with it. So samples that such a step has seen are refused, and the others are
    unlearned.

    Parameters
    ----------
    model : incremental model, Pipeline, or search of scikit-learn
        The fitted model; of a search its best estimator forgets. A step that counts in ``n_samples_seen_`` is taken to
        have seen the samples of the model's first call, and as many as it counts, in the order of their arrival, as
        ``Pipeline.fit`` does it. A step that does not count is taken to have seen all samples; a step that needs no
        fit, none. The estimators inside a ColumnTransformer or a FeatureUnion are steps, too.
    ids : int or array-like of int
        Ids of the samples, as ``model.forget`` of the incremental model takes them.

    Returns
    -------
    model
        The given model. Files stay as they are: :func:`adatron.save` writes the model anew.

    Raises
    ------
    ValueError
        Another kind of model; a step that remembers one of the samples; samples that ``forget`` of the incremental
        model refuses. The model is then as it was.

    Examples
    --------
    >>> import adatron
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = adatron.IncrementalSVC().fit(X, y)
    >>> adatron.forget(model, [0, 1]).ids_.size
    148
    """
    last = way_to(model).machine
    if not issubclass(type(last), Holder):
        raise ValueError(f"model must be an incremental model, or a pipeline with one at its end. Got {quoted(model)}.")
    with last.lock:
        store = last.store
        slots = store.slots(ids)
        for name, step in _fitted_steps(model):
            known = slots[store.age[slots] < _seen(step, store)]
            if len(known):
                raise ValueError(
                    f"The step {name!r} ({type(step).__name__}) was fitted to sample {store.ids[known[0]]} and would "
                    "still give it away, so nothing was forgotten. Fit the pipeline again to the samples that are "
                    "left; pipeline[-1].forget(ids) unlearns in the model alone."
                )
        last.forget(ids)
    return model


def keeping(model: Any) -> list[str]:
    """Name the steps before a model that remember samples, and the attributes that give samples away."""
    return [
        f"the step {name!r} ({type(step).__name__}) keeps {', '.join(_statistics(step)) or 'what it was fitted to'}: "
        "with the rows that are left this gives away rows that were forgotten; fit the pipeline again to the samples "
        "that are left"
        for name, step in _fitted_steps(model)
    ]


def remembers(model: Any, store: Store, one: int) -> bool:
    """Return whether a step before the model has seen a sample that is still in it."""
    age = store.age[store.slots([one])][0]
    return any(age < _seen(step, store) for _, step in _fitted_steps(model))


def _fitted_steps(model: Any) -> list[tuple[str, Any]]:
    """Return the steps before the last one that are fitted to samples, including those inside other steps."""
    found: list[tuple[str, Any]] = []
    for one in _way(model):
        if isinstance(one, Pipeline):
            for name, step in cast("list[tuple[str, Any]]", one.steps)[:-1]:
                found += _leaves(name, step)
    return found


def _way(model: Any) -> Iterator[Any]:
    """Yield a model, what predicts at the end of it if it is a pipeline or a search, and so on."""
    yield model
    while isinstance(model, Pipeline) or is_search(model):
        model = model.steps[-1][1] if isinstance(model, Pipeline) else model.best_estimator_
        yield model


def _leaves(name: str, step: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fitted estimators of a step, which may be several side by side or one after the other."""
    if isinstance(step, Pipeline):
        inner: list[Any] = step.steps
    elif isinstance(step, FeatureUnion):
        inner = step.transformer_list
    elif of_class(step, "sklearn.compose", "ColumnTransformer"):
        inner = [one[:2] for one in getattr(step, "transformers_", step.transformers)]
    else:
        if not (step is None or isinstance(step, str)) and get_tags(step).requires_fit:
            yield name, step
        return
    for part, one in inner:
        yield from _leaves(f"{name}__{part}", one)


def _seen(step: Any, store: Store) -> int:
    """Return how many samples, by their arrival, a step may have seen: those of the model's first call, or more."""
    count = getattr(step, "n_samples_seen_", None)  # an array over the features if values were missing
    return store.arrived if count is None else max(store.first, int(np.ceil(np.max(count))))


def _statistics(step: Any) -> list[str]:
    """Return the names of what a fit has kept in a step, without what only describes the features."""
    kept = {name: one for name, one in vars(step).items() if not isinstance(one, (str, bool, type(None)))}
    public = [name for name in kept if name.endswith("_") and not name.startswith(("_", "n_features", "feature_"))]
    return public + [name for name in kept if name.startswith("_fit_")]  # samples that an imputer keeps
