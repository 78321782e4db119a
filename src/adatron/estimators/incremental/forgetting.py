"""Forgetting in a whole model: the steps before an incremental model may remember samples, too."""

from __future__ import annotations

from typing import Any

from .machine import Incremental
from .steps import fitted_steps, last_of, seen


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
    last = last_of(model)
    if not isinstance(last, Incremental):
        raise ValueError(f"model must be an incremental model, or a pipeline with one at its end. Got {model!r}.")
    slots = last.store.slots(ids)
    for name, step in fitted_steps(model):
        known = slots[last.store.age[slots] < seen(step, last)]
        if len(known):
            raise ValueError(
                f"The step {name!r} ({type(step).__name__}) was fitted to sample {last.store.ids[known[0]]} and would "
                "still give it away, so nothing was forgotten. Fit the pipeline again to the samples that are left; "
                "pipeline[-1].forget(ids) unlearns in the model alone."
            )
    last.forget(ids)
    return model
