"""Write a fitted model as an ONNX network that decides as the model does.

A machine becomes plain operators in float64. The steps of a pipeline before the machine become what scikit-learn's own
converters (skl2onnx) make of them. The network runs in onnxruntime before anything is written. All labels must be those
of the model. Its decision values must agree with `decision_function` to 1e-12 of the sum of the sizes of all terms.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ...extras import needed
from ..atomic import atomic_write
from .graph import Graph
from .network import NetworkInput, check, describe, draw, network
from .parity import Parity, batch_of, compare, reference_of, run
from .steps import converted, inputs_of, rows_of, split


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
    steps, machine = split(model)
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
    describe(found, machine, parity.as_dict())
    if path is not None:
        with atomic_write(path) as stream:
            stream.write(found.SerializeToString(deterministic=True))
    return found


def _compared(steps: Pipeline | None, machine: Any, X: Any) -> tuple[Any, Parity]:
    """Return the network of a machine and the steps before it, and how it agrees with them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        X, rows = rows_of(steps, machine, X)
    given = inputs_of(steps, X)
    inputs = {name: NetworkInput(array.dtype, array.shape[1]) for name, array in given.items()}
    before = None if steps is None else converted(steps, inputs)
    graph = Graph() if before is None else Graph(prefix="adatron_")
    x = "X" if before is None else graph.cast(before.graph.output[0].name, np.float64)
    found = draw(machine, graph, x)
    if clash := found.keys() & inputs.keys():
        raise ValueError(
            f"X has a column {min(clash)!r}, and a result of the network has this name. Rename the column."
        )
    made = network(graph, found, inputs, before)
    what = "the network" if steps is None else "a step of the pipeline"
    results = run(made.SerializeToString(), given, batch_of(machine), what)
    return made, compare(results, reference_of(machine), rows)
