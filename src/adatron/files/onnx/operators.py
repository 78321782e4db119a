"""The operators SVMClassifier and SVMRegressor of the domain ai.onnx.ml, for runtimes that know only these.

Their attributes, input and values are float32. Their coefficients have LIBSVM's signs: of two classes the first one is
the positive one. onnxruntime returns two values of two classes: the first is positive for the second class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_outlier_detector

from .decisions import Output, labels
from .graph import Graph

DOMAIN, VERSION = "ai.onnx.ml", 1  # The domain of the classical machines; its first version has their operators.
FLOAT = np.dtype(np.float32)  # The type of a network's numbers.


def draw_operator(model: Any, graph: Graph, x: str) -> dict[str, Output]:
    """Add the operator of a fitted machine to a graph; ``x`` holds the rows, (n, n_features) in float32.

    Raises
    ------
    ValueError
        The operator has no place for the model, see ``KernelMachine.to_sklearn``.
    """
    try:
        theirs = model.to_sklearn()
    except ValueError as error:
        raise ValueError(f"ONNX's SVM operators hold only what scikit-learn holds: {error}") from error
    dual = theirs.dual_coef_.toarray() if sparse.issparse(theirs.dual_coef_) else theirs.dual_coef_
    vectors = theirs.support_vectors_
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    counts = theirs.n_support_.copy()
    if not len(vectors):  # the operator needs one: the origin, times 0
        vectors, dual = np.zeros((1, model.n_features_in_)), np.zeros((dual.shape[0], 1))
        counts[0] = 1
    sign = -1.0 if is_classifier(model) and len(model.classes_) == 2 else 1.0
    graph.domains[DOMAIN] = VERSION
    attributes: dict[str, Any] = {
        "domain": DOMAIN,
        "kernel_type": theirs.kernel.upper(),
        "kernel_params": [float(one) for one in (theirs._gamma, theirs.coef0, theirs.degree)],
        "support_vectors": vectors.ravel().tolist(),
        "coefficients": (sign * dual).ravel().tolist(),
        "rho": (sign * theirs.intercept_).tolist(),
        "post_transform": "NONE",
    }
    if is_classifier(model):
        return _classified(model, graph, x, {**attributes, "vectors_per_class": counts.tolist()})
    value = graph.add("SVMRegressor", x, n_supports=len(vectors), **attributes)
    one = graph.add("Squeeze", value, graph.whole(1))
    if not is_outlier_detector(model):
        return {"prediction": Output(one, FLOAT)}
    inside = graph.add("GreaterOrEqual", one, graph.constant(0.0, np.float32))
    both = graph.constant(1, np.int64), graph.constant(-1, np.int64)
    return {"label": Output(graph.add("Where", inside, *both), np.dtype(np.int64)), "decision": Output(one, FLOAT)}


def _classified(model: Any, graph: Graph, x: str, attributes: dict[str, Any]) -> dict[str, Output]:
    """Add a classifier, whose second output has the values of the pairs, or of two classes those of both."""
    classes, k = labels(model.classes_), len(model.classes_)
    text = classes.dtype.kind == "O"
    if not text and not np.array_equal(classes, classes.astype(np.int64)):
        raise ValueError(f"ONNX's SVMClassifier takes whole numbers or text as classes. Got {classes.tolist()[:5]}.")
    named = "classlabels_strings" if text else "classlabels_ints"
    attributes[named] = (classes if text else classes.astype(np.int64)).tolist()
    label = graph.add("SVMClassifier", x, outputs=2, **attributes)
    scores, width = graph.nodes[-1].outputs[1], k * (k - 1) // 2
    if k == 2:
        scores, width = graph.add("Gather", scores, graph.constant(0, np.int64), axis=1), None
    return {
        "label": Output(label, np.dtype(object) if text else np.dtype(np.int64)),
        "decision": Output(scores, FLOAT, width),
    }
