"""The steps of a pipeline before its machine, and the inputs of a network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from ...estimators.base.machine import KernelMachine
from ...estimators.forms.way import way_to
from ...extras import needed
from .network import NetworkInput
from .parity import rows_near

OPSETS = {"": 18, "ai.onnx.ml": 3}  # Versions of the operators of converted steps.


def split(model: Any) -> tuple[Pipeline | None, Any]:
    """Return the steps before a machine, or None, and the machine.

    Raises
    ------
    TypeError
        No machine of adatron is at the end.
    """
    way = way_to(model)
    if not isinstance(way.machine, KernelMachine):
        raise TypeError(
            f"to_onnx takes an estimator of adatron, a pipeline that ends with one, or a fitted search over these. "
            f"Got a {type(way.machine).__name__}. For other estimators, import adatron.onnx and call skl2onnx.to_onnx."
        )
    steps = [(f"{name}{number}", step) for number, (name, step) in enumerate(way.steps)]
    return Pipeline(steps) if steps else None, way.machine


def rows_of(steps: Pipeline | None, machine: Any, X: Any) -> tuple[Any, NDArray[np.float64]]:
    """Return the rows to compare on, as the model gets them and as the machine gets them.

    Raises
    ------
    ValueError
        No rows are given, and the steps do not lead back from the machine's features to rows.
    """
    if X is None:
        rows = rows_near(machine)
        if steps is None:
            return rows, rows
        if not hasattr(steps, "inverse_transform"):
            raise ValueError(
                "The 'X' parameter is needed: rows on which the network is compared with the pipeline. Its steps have "
                "no inverse_transform, which would make rows of the support vectors."
            )
        X = steps.inverse_transform(rows)
    rows = X if steps is None else steps.transform(X)
    dense: Any = rows.toarray() if sparse.issparse(rows) else rows
    kind: Any = np.float64
    dense = check_array(dense, dtype=kind, order="C")
    if dense.shape[1] != machine.n_features_in_:
        raise ValueError(
            f"X has {dense.shape[1]} features, but {type(machine).__name__} is expecting {machine.n_features_in_} "
            "features as input."
        )
    return X, dense


def inputs_of(steps: Pipeline | None, X: Any) -> dict[str, NDArray[Any]]:
    """Return what a network takes: 'X', or an array for each column of a frame with text or with steps for columns."""
    frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    if not frame or not (_text(X) or _by_columns(steps)):
        dense = np.asarray(X.toarray() if sparse.issparse(X) else X)
        if dense.ndim != 2:
            raise ValueError(f"X must be a matrix or a frame, with a row for each sample. Got the shape {dense.shape}.")
        return {"X": dense.astype(np.float64)}
    return {str(name): _column(np.asarray(X[name])) for name in X.columns}


def _column(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.float64 if values.dtype.kind in "biuf" else object)[:, None]


def _text(X: Any) -> bool:
    return any(np.asarray(X[name]).dtype.kind not in "biuf" for name in X.columns)


def _by_columns(steps: Any) -> bool:
    """Return whether a step takes columns by their names."""
    if isinstance(steps, Pipeline):
        return any(_by_columns(step) for _, step in steps.steps)
    return isinstance(steps, ColumnTransformer)


def converted(steps: Pipeline, inputs: dict[str, NetworkInput]) -> Any:
    """Return the network of the steps, made by scikit-learn's converters.

    Raises
    ------
    ValueError
        A step has no converter.
    """
    skl2onnx = needed("skl2onnx", "onnx", "The steps of a pipeline take")
    types = needed("skl2onnx.common.data_types", "onnx", "The steps of a pipeline take")
    kinds = {"f": types.DoubleTensorType, "O": types.StringTensorType}
    given = [(name, kinds[one.dtype.kind]([None, one.width])) for name, one in inputs.items()]
    try:
        return skl2onnx.convert_sklearn(steps, initial_types=given, target_opset=OPSETS)
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise ValueError(f"The steps of this pipeline have no ONNX network: {reason}") from error
