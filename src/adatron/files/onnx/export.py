"""Write a fitted model as an ONNX network that decides as the model does.

A machine becomes plain operators in float64. The steps of a pipeline before the machine become what scikit-learn's own
converters (skl2onnx) make of them. The network runs in onnxruntime before anything is written. All labels must be those
of the model. Its decision values must agree with `decision_function` to 1e-12 of the sum of the sizes of all terms.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import asdict
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from ...estimators.base.machine import KernelMachine
from ...extras import needed
from ...pipelines import way_to
from ..atomic import atomic_write
from .decisions import labels, outputs
from .kernels import IR_VERSION, OPSET, Graph, Tensor, decision_values
from .parity import Parity, batch_of, compare, rows_near, run

LARGEST_NETWORK = 2**31 - 2**20  # Bytes of the constants: a file of Protocol Buffers holds less than 2 GiB.
# Parts of the certificate that a network's metadata hold.
CERTIFICATE_KEPT = ("duality_gap", "kkt_violation", "primal_objective", "dual_objective")
OPSETS = {"": 18, "ai.onnx.ml": 3}  # Versions of the operators of converted steps.


def to_onnx(model: Any, X: Any = None, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a fitted model as an ONNX network that predicts the same, and write it to a file.

    Parameters
    ----------
    model : estimator
        A fitted machine of adatron, a pipeline that ends with one, or a search for one of these.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), optional
        Rows on which the network is compared with the model. By default these are support vectors and random points
        around them. A pipeline needs rows unless all its steps have an ``inverse_transform``.
    path : path, optional
        The file to write, whole or not at all.

    Returns
    -------
    network : onnx.ModelProto
        Its input is ``X``, (rows, n_features) in float64, or one input for each column if X is a frame with text or the
        pipeline names columns. Its outputs are ``label``, ``decision`` (the decision function) and, if the model has
        them, ``probabilities``; or ``prediction`` of a regression. Its metadata has the certificate of the model and
        how the network agrees with it, as JSON.

    Raises
    ------
    ParityError
        The network does not decide as the model. Nothing is written.
    ValueError
        The model has no place in ONNX, for example because its kernel is a Python function or 'precomputed'.
    ImportError
        onnx, onnxruntime or, for pipelines, skl2onnx is not installed.

    Warns
    -----
    UserWarning
        How many rows have another label because rounding decides it.

    Notes
    -----
    A network takes memory for some numbers for each pair of a row and a support vector, so call it with some thousand
    rows at a time. It does not refuse NaN.

    Examples
    --------
    >>> from adatron import SVC, to_onnx
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> network = to_onnx(SVC().fit(X, y), X)
    >>> [result.name for result in network.graph.output]
    ['label', 'decision']
    """
    needed("onnx", "onnx", "An ONNX network takes")
    way = way_to(model)
    machine = way.machine
    if not isinstance(machine, KernelMachine):
        raise TypeError(
            f"to_onnx takes an estimator of adatron, a pipeline that ends with one, or a fitted search over these. "
            f"Got a {type(machine).__name__}. For other estimators, import adatron.onnx and call skl2onnx.to_onnx."
        )
    steps = Pipeline([(f"{name}{at}", step) for at, (name, step) in enumerate(way.steps)]) if way.steps else None
    check_is_fitted(machine)
    check(machine)
    found, parity = _compared(steps, machine, X)
    parity.check(steps is not None)
    if parity.undecided_differ:
        warnings.warn(
            f"Rounding decides the labels of {parity.undecided} of {parity.rows} rows, and "
            f"{parity.undecided_differ} of them differ. Scaled and centred features may leave fewer such rows.",
            stacklevel=2,
        )
    _describe(found, machine, parity)
    if path is not None:
        with atomic_write(path) as stream:
            stream.write(found.SerializeToString(deterministic=True))
    return found


def check(model: Any) -> None:
    """Refuse a machine whose kernel, classes or support vectors have no place in ONNX."""
    kernel = model.kernel_
    if model.model_.samples is not None:
        raise ValueError("ONNX networks take rows of numbers; the kernel function of this model takes other samples.")
    if kernel.name == "precomputed":
        raise ValueError(
            "kernel='precomputed' has no network: its input would be kernel values with the training samples. Fit with "
            "another kernel, which takes rows of features."
        )
    if not kernel.compiled:
        raise ValueError(
            f"A Python function has no ONNX operators: {kernel}. Use a named kernel, or sums and products of "
            "adatron.kernels."
        )
    if is_classifier(model):
        model.readout.refuse_several()
        model.readout.check()
        labels(model.classes_)
    function = model.model_.function()
    _check_size(8 * model.n_features_in_ * function.vectors.shape[0] * (not function.kernel.plain))


def _check_size(size: int) -> None:
    if size > LARGEST_NETWORK:
        raise ValueError(
            f"An ONNX file holds less than 2 GiB; the numbers of this model would take {size / 2**30:.1f} GiB as dense "
            "arrays. A compact model may be smaller, and so is one of fewer features."
        )


def draw(model: Any, graph: Graph, x: str) -> dict[str, Tensor]:
    """Add the nodes of a fitted machine to a graph; ``x`` holds the rows, (n, n_features) in float64."""
    found = outputs(model, graph, decision_values(model.model_.function(), graph, x))
    _check_size(sum(array.nbytes for array in graph.constants.values()))
    return found


def _compared(steps: Pipeline | None, machine: Any, X: Any) -> tuple[Any, Parity]:
    """Return the network of a machine and the steps before it, and how it agrees with them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        X, rows = _rows_of(steps, machine, X)
    given = _inputs_of(steps, X)
    inputs = [Tensor(name, array.dtype, array.shape[1]) for name, array in given.items()]
    before = None if steps is None else _converted(steps, inputs)
    graph = Graph() if before is None else Graph(prefix="adatron_")
    found = draw(machine, graph, "X" if before is None else graph.cast(before.graph.output[0].name, np.float64))
    if clash := found.keys() & given.keys():
        raise ValueError(
            f"X has a column {min(clash)!r}, and a result of the network has this name. Rename the column."
        )
    made = _network(graph, found, inputs, before)
    what = "the network" if steps is None else "a step of the pipeline"
    results = run(made.SerializeToString(), given, batch_of(machine), what)
    reference = copy(machine)  # in float64 throughout, its features without names
    vars(reference).pop("feature_names_in_", None)
    if "precision" in reference.get_params(deep=False):
        reference.precision = "double"
    return made, compare(results, reference, rows)


def _rows_of(steps: Pipeline | None, machine: Any, X: Any) -> tuple[Any, NDArray[np.float64]]:
    """Return the rows to compare on, as the model gets them and as the machine gets them.

    If no rows are given, the steps must lead back from the machine's features to rows.
    """
    if X is None:
        X = rows_near(machine)
        if steps is not None and not hasattr(steps, "inverse_transform"):
            raise ValueError(
                "The 'X' parameter is needed: rows on which the network is compared with the pipeline. Its steps have "
                "no inverse_transform, which would make rows of the support vectors."
            )
        X = X if steps is None else steps.inverse_transform(X)
    dense: Any = X if steps is None else steps.transform(X)
    kind: Any = np.float64
    dense = dense.toarray() if sparse.issparse(dense) else dense
    dense = validate_data(machine, dense, reset=False, dtype=kind, order="C")
    return X, dense


def _inputs_of(steps: Pipeline | None, X: Any) -> dict[str, NDArray[Any]]:
    """Return what a network takes: 'X', or an array for each column of a frame with text or with steps for columns."""
    frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    columns: Any = {str(name): np.asarray(X[name])[:, None] for name in X.columns} if frame else {}
    text = [name for name, values in columns.items() if values.dtype.kind not in "biuf"]
    if not frame or not (text or _by_columns(steps)):
        dense = np.asarray(X.toarray() if sparse.issparse(X) else X)
        if dense.ndim != 2:
            raise ValueError(f"X must be a matrix or a frame, with a row for each sample. Got the shape {dense.shape}.")
        return {"X": dense.astype(np.float64)}
    return {name: values.astype(object if name in text else np.float64) for name, values in columns.items()}


def _by_columns(steps: Any) -> bool:
    """Return whether a step takes columns by their names."""
    if isinstance(steps, Pipeline):
        return any(_by_columns(step) for _, step in steps.steps)
    return isinstance(steps, ColumnTransformer)


def _converted(steps: Pipeline, inputs: list[Tensor]) -> Any:
    """Return the network of the steps, made by scikit-learn's converters."""
    skl2onnx = needed("skl2onnx", "onnx", "The steps of a pipeline take")
    types = needed("skl2onnx.common.data_types", "onnx", "The steps of a pipeline take")
    kinds = {"f": types.DoubleTensorType, "O": types.StringTensorType}
    given = [(one.name, kinds[one.dtype.kind]([None, one.width])) for one in inputs]
    try:
        return skl2onnx.convert_sklearn(steps, initial_types=given, target_opset=OPSETS)
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise ValueError(f"The steps of this pipeline have no ONNX network: {reason}") from error


def _network(graph: Graph, found: Mapping[str, Tensor], inputs: list[Tensor], before: Any) -> Any:
    """Return the ``onnx.ModelProto`` of a graph, which may go on from the result of the network ``before`` it."""
    from onnx import helper, numpy_helper

    nodes = [helper.make_node(one.operator, one.inputs, one.outputs, **one.attributes) for one in graph.nodes]
    nodes += [helper.make_node("Identity", [output.name], [name]) for name, output in found.items()]
    results = [_value_info(one._replace(name=name)) for name, one in found.items()]
    constants = [numpy_helper.from_array(array, name) for name, array in graph.constants.items()]
    if before is None:
        drawn = helper.make_graph(nodes, "adatron", list(map(_value_info, inputs)), results, constants)
        return helper.make_model(drawn, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    del before.graph.output[:]
    before.graph.output.extend(results)
    before.graph.node.extend(nodes)
    before.graph.initializer.extend(constants)
    return before


def _value_info(one: Tensor) -> Any:
    from onnx import helper

    shape = ["rows"] if one.width is None else ["rows", one.width]
    return helper.make_tensor_value_info(one.name, type_of(one.dtype), shape)


def type_of(dtype: np.dtype[Any]) -> int:
    """Return ONNX's number for a type; object stands for text."""
    from onnx import TensorProto, helper

    return TensorProto.STRING if dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(dtype)


def _describe(network: Any, model: Any, parity: Parity) -> None:
    """Write into a network which model it is, the model's certificate, and how the network was compared with it."""
    from onnx import helper

    network.producer_name, network.producer_version = "adatron", metadata.version("adatron")
    about = {
        "model": type(model).__name__,
        "kernel": model.kernel_.spec(),
        "certificate": {name: _plain(getattr(model, f"{name}_")) for name in CERTIFICATE_KEPT},
        "parity": {name: value for name, value in asdict(parity).items() if value is not None},
        "feature_names": [str(name) for name in getattr(model, "feature_names_in_", ())],
    }
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in about.items()}
    helper.set_model_props(network, {f"adatron.{name}": text for name, text in texts.items()})


def _plain(value: Any) -> Any:
    """Return numbers for JSON; those that are not finite as text."""
    if np.ndim(value):
        return [_plain(one) for one in value]
    return float(value) if math.isfinite(value) else str(float(value))
