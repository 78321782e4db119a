"""Labels, decision function and probabilities, as nodes that follow the decision values of the problems.

``model/readout.py`` says the same in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_outlier_detector

from ...model.layout import pairs
from ...model.readout import Classes
from ...quoted import quoted
from .kernels import Graph, Tensor


def outputs(model: Any, graph: Graph, values: str) -> dict[str, Tensor]:
    """Return what a machine predicts from the decision values of its problems, (n, n_problems).

    The results are 'label' (a class, or 1 inside and -1 outside), 'decision' and 'probabilities', if the model has
    them; 'prediction' of a regression.
    """
    if is_classifier(model):
        return _classified(model, graph, values)
    if model.readout.width is not None:
        order = model.readout.order  # the problem of the lowest value comes first; None: as they are
        if order is not None:
            ascending = graph.add("TopK", values, graph.whole(len(order)), outputs=2, axis=1, largest=0)
            values = graph.add("Gather", ascending, graph.constant(np.argsort(order), np.int64), axis=1)
        return {"prediction": Tensor(values, width=model.readout.width)}
    one = graph.add("Squeeze", values, graph.whole(1))
    if not is_outlier_detector(model):
        return {"prediction": Tensor(one)}
    inside = graph.add("GreaterOrEqual", one, graph.constant(0.0))
    both = graph.constant(1, np.int64), graph.constant(-1, np.int64)
    return {"label": Tensor(graph.add("Where", inside, *both), np.dtype(np.int64)), "decision": Tensor(one)}


def has_probabilities(model: Any) -> bool:
    """Return whether a machine was fitted with probabilities, and offers them."""
    return is_classifier(model) and model.readout.slope is not None and hasattr(model, "predict_proba")


def labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes, which must be numbers, truth values or text, as an array that ONNX has a type for."""
    if classes.dtype.kind in "biuf" and classes.dtype.itemsize <= 8:
        return classes
    listed = classes.tolist()
    for kind, dtype in ((str, object), (bool, bool), (int, np.int64)):
        if all(type(one) is kind or (kind is str and isinstance(one, str)) for one in listed):
            return np.array(listed, dtype)
    raise ValueError(f"ONNX has no type for the classes {quoted(listed)[:100]}; they must be numbers or text.")


def _classified(model: Any, graph: Graph, values: str) -> dict[str, Tensor]:
    readout = model.readout
    k = len(readout.labels)
    if k == 2:
        decision = graph.add("Squeeze", values, graph.whole(1))
        code = graph.cast(graph.add("GreaterOrEqual", decision, graph.constant(0.0)), np.int64)
    elif readout.each:
        decision = values
        code = graph.add("ArgMax", values, axis=1, keepdims=0)
    else:
        decision = _refined(graph, values, k) if readout.shape == "ovr" else values
        votes = decision if readout.break_ties else _votes(graph, values, k, "Greater")
        code = graph.add("ArgMax", votes, axis=1, keepdims=0)
    classes = labels(readout.labels)
    label = graph.add("Gather", graph.constant(classes, None), code)
    found = {"label": Tensor(label, classes.dtype), "decision": Tensor(decision, width=readout.width)}
    if has_probabilities(model):
        found["probabilities"] = Tensor(_probabilities(readout, graph, values, code), width=k)
    return found


def _square(graph: Graph, upper: str, lower: str, k: int) -> str:
    """Return (n, k, k) of values of the pairs i < j, (n, n_pairs), above and below a diagonal of zeros."""
    place, many = np.full((k, k), k * (k - 1)), k * (k - 1) // 2
    for pair, (i, j) in enumerate(pairs(k).T):
        place[i, j], place[j, i] = pair, many + pair
    both = graph.add("Concat", upper, lower, axis=1)
    padded = graph.add("Pad", both, graph.whole(0, 0, 0, 1))
    return graph.add("Gather", padded, graph.constant(place, np.int64), axis=1)


def _votes(graph: Graph, values: str, k: int, wins: str) -> str:
    """Return the votes for each class; ``wins`` compares a pair's value with 0, and then its first class has won."""
    first = graph.add(wins, values, graph.constant(0.0))
    won, lost = (graph.cast(one, np.float64) for one in (first, graph.add("Not", first)))
    return graph.add("ReduceSum", _square(graph, won, lost, k), graph.whole(2), keepdims=0)


def _refined(graph: Graph, values: str, k: int) -> str:
    """Return votes, and between them the sums of a class's values."""
    square = _square(graph, values, graph.add("Neg", values), k)
    sums = graph.add("ReduceSum", square, graph.whole(2), keepdims=0)
    size = graph.add("Add", graph.add("Abs", sums), graph.constant(1.0))
    part = graph.add("Div", sums, graph.add("Mul", size, graph.constant(3.0)))
    return graph.add("Add", _votes(graph, values, k, "GreaterOrEqual"), part)


def _probabilities(readout: Classes, graph: Graph, values: str, code: str) -> str:
    """Return the probabilities of the classes, coupled from those of the pairs; the predicted class has the largest."""
    k = len(readout.labels)
    if k == 2:
        values = graph.add("Neg", values)
    elif readout.each:
        i, j = (graph.constant(part, np.int64) for part in pairs(k))
        values = graph.add("Sub", graph.add("Gather", values, i, axis=1), graph.add("Gather", values, j, axis=1))
    logits = graph.scaled(values, readout.slope or 0.0)
    square = _square(graph, graph.add("Neg", logits), logits, k)
    most = graph.largest(square)  # at least 0, for the diagonal; so no exponential overflows
    total = graph.add("ReduceSum", graph.add("Exp", graph.add("Sub", square, most)), graph.whole(2), keepdims=0)
    inverse = graph.add("Add", graph.add("Log", total), graph.add("Squeeze", most, graph.whole(2)))
    return _agreeing(graph, graph.add("Softmax", graph.add("Neg", inverse), axis=1), code, k)


def _agreeing(graph: Graph, p: str, code: str, k: int) -> str:
    """Return the nearest probabilities of which the class ``code`` has the largest, by isotonic regression."""
    add: Callable[..., str] = graph.add
    zero, axis = graph.constant(0.0), graph.whole(1)
    own = add("Equal", add("Unsqueeze", code, axis), graph.constant(np.arange(k)[None], np.int64))
    right = add("Equal", add("Unsqueeze", add("ArgMax", p, axis=1, keepdims=0), axis), add("Unsqueeze", code, axis))
    mine = add("ReduceSum", add("Where", own, p, zero), axis, keepdims=1)
    others = add("TopK", add("Where", own, zero, p), graph.whole(k), outputs=2, axis=1)
    sums = add("Add", mine, add("CumSum", others, graph.constant(1, np.int64)))
    means = add("Div", sums, graph.constant(np.arange(2.0, k + 2.0)[None]))
    level = add("Max", mine, graph.largest(means))
    top = add("Add", level, graph.scaled(level, 2.0**-52))  # no tie with another class
    return add("Where", right, p, add("Where", own, top, add("Min", p, level)))
