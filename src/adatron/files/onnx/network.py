"""The network of one fitted machine, and what its file says about the model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from ...kernels import Kernel
from .decisions import Output, labels, outputs
from .functions import decision_values
from .graph import IR_VERSION, OPSET, Graph

LARGEST_NETWORK = 2**31 - 2**20  # Bytes of the constants: a file of Protocol Buffers holds less than 2 GiB.
# Parts of the certificate that a network's metadata hold.
CERTIFICATE_KEPT = ("duality_gap", "kkt_violation", "primal_objective", "dual_objective")


class NetworkInput(NamedTuple):
    """One input of a network, (rows, width); the type object stands for text."""

    dtype: np.dtype[Any]
    width: int


def draw(model: Any, graph: Graph, x: str) -> dict[str, Output]:
    """Add the nodes of a fitted machine to a graph; ``x`` holds the rows, (n, n_features) in float64.

    Raises
    ------
    ValueError
        The numbers of the model are too many for a file.
    """
    found = outputs(model, graph, decision_values(model.model_.function(), graph, x))
    _check_size(graph.size)
    return found


def check(model: Any) -> None:
    """Refuse a machine whose kernel, classes or support vectors have no place in ONNX."""
    if model.model_.samples is not None:
        raise ValueError("ONNX networks take rows of numbers; the kernel function of this model takes other samples.")
    _check_kernel(model.kernel_)
    if is_classifier(model):
        model.head.refuse_several()
        model.head.check()
        labels(model.classes_)
    function = model.model_.function()
    _check_size(8 * model.n_features_in_ * function.vectors.shape[0] * (not function.kernel.plain))


def network(graph: Graph, found: Mapping[str, Output], inputs: Mapping[str, NetworkInput], before: Any = None) -> Any:
    """Return the ``onnx.ModelProto`` of a graph.

    inputs : those of the network, by their names
    before : a network whose result the graph goes on from; then the inputs are this network's
    """
    from onnx import helper, numpy_helper

    nodes = [helper.make_node(one.operator, one.inputs, one.outputs, **one.attributes) for one in graph.nodes]
    nodes += [helper.make_node("Identity", [output.value], [name]) for name, output in found.items()]
    results = [_value_info(name, one.dtype, one.width) for name, one in found.items()]
    constants = [numpy_helper.from_array(array, name) for name, array in graph.constants.items()]
    if before is not None:
        del before.graph.output[:]
        before.graph.output.extend(results)
        before.graph.node.extend(nodes)
        before.graph.initializer.extend(constants)
        return before
    given = [_value_info(name, one.dtype, one.width) for name, one in inputs.items()]
    drawn = helper.make_graph(nodes, "adatron", given, results, constants)
    return helper.make_model(drawn, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def _value_info(name: str, dtype: np.dtype[Any], width: int | None) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, type_of(dtype), ["rows", *([] if width is None else [width])])


def type_of(dtype: np.dtype[Any]) -> int:
    """Return ONNX's number for a type; object stands for text."""
    from onnx import TensorProto, helper

    return TensorProto.STRING if dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(dtype)


def describe(network: Any, model: Any, parity: Mapping[str, Any]) -> None:
    """Write into a network which model it is, the model's certificate, and how the network was compared with it."""
    from onnx import helper

    network.producer_name, network.producer_version = "adatron", metadata.version("adatron")
    proofs = {name: getattr(model, f"{name}_", None) for name in CERTIFICATE_KEPT}
    about = {
        "model": type(model).__name__,
        "kernel": model.kernel_.spec(),
        "certificate": {name: _plain(value) for name, value in proofs.items() if value is not None},
        "parity": dict(parity),
        "feature_names": [str(name) for name in getattr(model, "feature_names_in_", ())],
    }
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in about.items()}
    helper.set_model_props(network, {f"adatron.{name}": text for name, text in texts.items()})


def _plain(value: Any) -> Any:
    """Return numbers for JSON; those that are not finite as text."""
    if np.ndim(value):
        return [_plain(one) for one in value]
    return float(value) if math.isfinite(value) else str(float(value))


def _check_kernel(kernel: Kernel) -> None:
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


def _check_size(size: int) -> None:
    if size > LARGEST_NETWORK:
        raise ValueError(
            f"An ONNX file holds less than 2 GiB; the numbers of this model would take {size / 2**30:.1f} GiB as dense "
            "arrays. A compact model may be smaller, and so is one of fewer features."
        )
