"""The parts of a model: the scaling before it, and the machine; what it remembers of its data."""

from __future__ import annotations

from typing import Any

TASK_NAMES = {"classifier": "classification", "regressor": "regression", "outlier_detector": "novelty"}
SCALES = 6  # Most numbers of a scaling for each feature, used or not.


def with_scaling(machine: Any, scale: str, X: Any) -> Any:
    """Return the machine after a scaling of the features, which keeps the zeros of sparse data.

    Parameters
    ----------
    scale : {'none', 'standard', 'minmax'}
        Mean 0 and variance 1 (sparse data: variance 1), or the range from 0 to 1 (sparse data: from -1 to 1).
    """
    from scipy import sparse
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

    from ..files.table import check_size
    from ..files.tables.memory import room

    if scale == "none":
        return machine
    check_size("--scale", "scales of the features", 8 * SCALES * X.shape[1], room())
    if scale == "standard":
        scaler: Any = StandardScaler(with_mean=not sparse.issparse(X))
    else:
        scaler = MaxAbsScaler() if sparse.issparse(X) else MinMaxScaler()
    return Pipeline([("scale", scaler), (type(machine).__name__.lower(), machine)])


def machine_of(model: Any) -> Any:
    """Return the machine at the end of a model."""
    from ..estimators.base.machine import KernelMachine

    last = _last(model)
    if not isinstance(last, KernelMachine):
        raise ValueError(f"the model is a {type(last).__name__}; this command is for support vector machines")
    return last


def task_of(model: Any) -> str:
    """Return what a model was made for: classification, regression or novelty."""
    from sklearn.utils import get_tags

    return TASK_NAMES[str(get_tags(machine_of(model)).estimator_type)]


def remember_names(model: Any, names: tuple[str, ...] | None) -> None:
    """Give a fitted model the names of its features, as scikit-learn does after a fit to named columns."""
    import numpy as np

    if names is not None:
        _first(model).feature_names_in_ = np.array(names, dtype=object)


def take_names(model: Any) -> tuple[str, ...] | None:
    """Return the names of a model's features, which it then forgets: it would warn that arrays have none."""
    names = vars(_first(model)).pop("feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def remember_counting(model: Any, first_index: int | None) -> None:
    """Tell a fitted model from which number on the features were counted, if its data were LIBSVM text."""
    if first_index is not None:
        _last(model).first_index_ = first_index


def counting_of(model: Any) -> int | None:
    """Return the number from which a model's features are counted in LIBSVM text; None if it was not told."""
    return vars(_last(model)).get("first_index_")


def remember_label(model: Any, label: str | None) -> None:
    """Tell a fitted model where its labels came from."""
    if label is not None:
        _last(model).label_ = label


def label_of(model: Any) -> str | None:
    """Return where a model's labels came from; None if it was not told."""
    found = vars(_last(model)).get("label_")
    return found if isinstance(found, str) else None


def _first(model: Any) -> Any:
    """Return the part of a model that meets the data first."""
    return _parts(model)[0]


def _last(model: Any) -> Any:
    return _parts(model)[-1]


def _parts(model: Any) -> list[Any]:
    from ..files.models.contents import parts

    return list(parts(model))


def scaling_of(model: Any) -> str:
    """Return the name of the scaling in a model."""
    return type(_first(model)).__name__ if len(_parts(model)) > 1 else "none"
