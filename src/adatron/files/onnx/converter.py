"""The converters of adatron's machines for skl2onnx, which converts pipelines and whatever else stands around machines.

They follow skl2onnx's customs. A classifier has a label and, for each class, a probability or a value of the decision
function: with the option ``raw_scores``, or without probabilities. Values of two classes are -f and f.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector

from ...extras import needed
from ..models.contents import MACHINE_CLASSES
from .decisions import has_probabilities, labels
from .export import check, draw, type_of
from .kernels import Graph

CLASSIFIERS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
}


def register() -> None:
    """Tell skl2onnx how to convert the machines."""
    skl2onnx = needed("skl2onnx", "onnx", "Converters of adatron's models take")
    for kind in MACHINE_CLASSES.values():
        options = CLASSIFIERS if is_classifier(kind()) else None
        skl2onnx.update_registered_converter(kind, f"Adatron{kind.__name__}", set_types, convert, options=options)
        if options is not None:
            skl2onnx.update_registered_parser(kind, parse)


def parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> Any:
    """Declare the outputs of a classifier: no ZipMap of float64, which onnxruntime does not have."""
    from skl2onnx.common.data_types import DoubleTensorType

    parsers: Any = import_module("skl2onnx._parse")
    double = isinstance(inputs[0].type, DoubleTensorType)
    usual: Any = parsers._parse_sklearn_simple_model if double else parsers._parse_sklearn_classifier
    return usual(scope, model, inputs, custom_parsers=custom_parsers)


def set_types(operator: Any) -> None:
    """Set the types and shapes of the outputs of a machine."""
    from skl2onnx.common import data_types as types

    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    number = types.guess_tensor_type(operator.inputs[0].type).__class__
    if not is_classifier(model):
        operator.outputs[-1].set_type(number([rows, model.readout.width or 1]))
        if is_outlier_detector(model):
            operator.outputs[0].set_type(types.Int64TensorType([rows, 1]))
        return
    text = labels(model.classes_).dtype.kind == "O"
    operator.outputs[0].set_type((types.StringTensorType if text else types.Int64TensorType)([rows]))
    operator.outputs[1].set_type(number([rows, None]))


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a machine to a network."""
    from onnx import numpy_helper

    model, graph = operator.raw_operator, Graph(scope.get_unique_variable_name)
    check(model)
    x = graph.cast(operator.inputs[0].full_name, np.float64)
    found = {name: one.name for name, one in draw(model, graph, x).items()}
    names = [one.full_name for one in operator.outputs]
    number = np.float32 if "Float" in type(operator.outputs[-1].type).__name__ else np.float64
    if is_classifier(model):
        scores = found["decision"]
        if has_probabilities(model) and not container.get_options(model, {"raw_scores": False})["raw_scores"]:
            scores = found["probabilities"]
        elif len(model.classes_) == 2:
            column = graph.add("Unsqueeze", scores, graph.whole(1))
            scores = graph.add("Concat", graph.add("Neg", column), column, axis=1)
        if labels(model.classes_).dtype.kind == "O":
            graph.add("Identity", found["label"], named=names[0])
        else:
            graph.cast(found["label"], np.int64, named=names[0])
        graph.cast(scores, number, named=names[1])
    else:
        for name, value in zip(names, found.values(), strict=True):
            column = value if model.readout.width else graph.add("Unsqueeze", value, graph.whole(1))
            whole = is_outlier_detector(model) and name == names[0]
            graph.cast(column, np.int64 if whole else number, named=name)
    for name, array in graph.constants.items():
        text = array.dtype.kind == "O"
        content = [one.encode() for one in array.tolist()] if text else numpy_helper.from_array(array)
        container.add_initializer(name, type_of(array.dtype), list(array.shape), content)
    for node in graph.nodes:
        container.add_node(node.operator, node.inputs, node.outputs, **node.attributes)
