"""A model's parts: the scaling before it, and the classifier."""

from __future__ import annotations

from typing import Any


def with_scaling(svc: Any, scale: str, X: Any) -> Any:
    """Return the classifier after a scaling of the features, which keeps the zeros of sparse data.

    Parameters
    ----------
    scale : {'none', 'standard', 'minmax'}
        Mean 0 and variance 1 (sparse data: variance 1), or the range from 0 to 1 (sparse data: from -1 to 1).
    """
    from scipy import sparse
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    if scale == "none":
        return svc
    if scale == "standard":
        scaler: Any = StandardScaler(with_mean=not sparse.issparse(X))
    else:
        scaler = MaxAbsScaler() if sparse.issparse(X) else MinMaxScaler()
    return Pipeline([("scale", scaler), ("svc", svc)])


def svc_of(model: Any) -> Any:
    """Return the classifier at the end of a model."""
    from .. import SVC

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(last, SVC):
        raise ValueError(f"the model is a {type(last).__name__}, not a classifier")
    return last


def scaling_of(model: Any) -> str:
    """Return the name of the scaling in a model."""
    return type(model.steps[0][1]).__name__ if hasattr(model, "steps") else "none"
