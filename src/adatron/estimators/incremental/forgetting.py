"""Forgetting in a whole model: steps before an incremental model may also remember samples."""

from __future__ import annotations

from typing import Any

from ...quoted import quoted
from ..forms.way import way_to
from .machine import Incremental
from .steps import fitted_steps, seen


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
    if not isinstance(last, Incremental):
        raise ValueError(f"model must be an incremental model, or a pipeline with one at its end. Got {quoted(model)}.")
    with last.turn:
        store = last.store
        slots = store.slots(ids)
        for name, step in fitted_steps(model):
            known = slots[store.age[slots] < seen(step, store)]
            if len(known):
                raise ValueError(
                    f"The step {name!r} ({type(step).__name__}) was fitted to sample {store.ids[known[0]]} and would "
                    "still give it away, so nothing was forgotten. Fit the pipeline again to the samples that are "
                    "left; pipeline[-1].forget(ids) unlearns in the model alone."
                )
        last.forget(ids)
    return model
