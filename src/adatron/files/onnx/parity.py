"""The comparison of a network, run by onnxruntime with all its optimisations, and the machine that it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from ...arrays import Vector, dense_rows
from ...extras import needed
from ...model.function import DecisionFunctions
from ...model.readout import Classes
from ...model.tilted import Tilted, outputs

ALLOWED = 1e-12  # Deviation of a decision value, relative to the sum of the sizes of all terms.
MOST_COMPARED = 500  # Support vectors, and random points around them, that are compared if no rows are given.
VALUES = 1 << 22  # Numbers of the rows that are made; kernel values at a time.


class ParityError(ValueError):
    """A network does not decide as its model.

    Examples
    --------
    >>> from adatron.onnx import ParityError
    >>> issubclass(ParityError, ValueError)
    True
    """


@dataclass(frozen=True)
class Parity:
    """How a network and its machine agree.

    rows : rows that were compared
    labels_differ : rows with another label, undecided ones not counted
    undecided : rows whose label rounding decides, because a decision value is as near to 0 as it may deviate
    undecided_differ : those of them with another label
    deviation : the largest deviation of a decision value, relative to the sum of the sizes of the terms of all values
    probabilities : the largest deviation of a probability, relative to 1 + the sum for its logarithms of odds, or None
    absolute : the largest deviation of a decision value as it is
    runtime : version of onnxruntime
    """

    rows: int
    labels_differ: int
    undecided: int
    deviation: float
    absolute: float
    probabilities: float | None
    runtime: str
    undecided_differ: int = 0

    def check(self, steps: bool = False) -> None:
        """Raise ParityError unless all labels are equal and no value deviates by more than is allowed."""
        deviations = (self.deviation, self.probabilities or 0.0)
        if self.labels_differ:
            reason = f"{self.labels_differ} of {self.rows} labels differ"
        elif wrong := [one for one in deviations if not one <= ALLOWED]:  # nan, too
            reason = f"a value deviates by {wrong[0]:.1e} of the sum of its terms, and {ALLOWED:g} is allowed"
        else:
            return
        raise ParityError(
            f"The ONNX network and the model decide differently: {reason}. Nothing was written. The usual causes are "
            f"{'steps of a pipeline that ONNX computes in float32, ' if steps else ''}very large features, and a very "
            "large gamma or degree."
        )


def rows_near(model: Any) -> Vector:
    """Return support vectors, and random points around them."""
    rng, function, width = np.random.default_rng(0), model.model_.function(), model.n_features_in_
    vectors, most = function.vectors, max(1, min(MOST_COMPARED, VALUES // max(width, 4 * len(function.intercepts))))
    Z = dense_rows(vectors[:: max(1, -(-vectors.shape[0] // most))]) if vectors.shape[0] else np.zeros((1, width))
    spread = Z.std(axis=0)
    near = Z[rng.integers(len(Z), size=most)] + rng.normal(size=(most, width)) * np.where(spread > 0, spread, 1.0)
    return np.concatenate([Z, near])


def run(network: bytes, inputs: Mapping[str, NDArray[Any]], batch: int, what: str) -> dict[str, NDArray[Any]]:
    """Return the results of a network by their names; each call gets ``batch`` rows, ``what`` is named in errors.

    The runtime has no float64 form of some operators that converters use.
    """
    runtime: Any = needed("onnxruntime", "onnx", "The comparison of a network with its model takes")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
    n = len(next(iter(inputs.values())))
    try:
        session = runtime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
        names, some = [one.name for one in session.get_outputs()], [slice(at, at + batch) for at in range(0, n, batch)]
        parts = [session.run(names, {name: rows[part] for name, rows in inputs.items()}) for part in some]
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise ValueError(f"onnxruntime cannot run {what} in float64: {reason}") from error
    return {name: np.concatenate(part) for name, part in zip(names, zip(*parts, strict=True), strict=True)}


def batch_of(model: Any) -> int:
    """Return how many rows a network gets at a time, so that their kernel values need little memory."""
    function = model.model_.function()
    return max(1, VALUES // max(1, function.vectors.shape[0], 4 * len(function.intercepts)))


def compare(results: Mapping[str, NDArray[Any]], model: Any, rows: Any) -> Parity:
    """Compare what a network says of some rows, (n, n_features), with what a machine says."""
    runtime: Any = needed("onnxruntime", "onnx", "The comparison of a network with its model takes")
    function, step, n = model.model_.function(), batch_of(model), len(rows)
    parts = [_sizes(function, rows[at : at + step]) for at in range(0, n, step)]
    sizes = np.concatenate([np.zeros(0), *parts])[:, None]
    scales, decided, compared = sizes, np.ones(n, bool), np.ones(n, bool)
    differ, probabilities = np.zeros(n, bool), None
    if is_regressor(model):
        missed = np.abs(results["prediction"] - model.predict(rows))
    else:
        readout, values = model.readout, model.problem_values(rows)
        decided = readout.decided(values, ALLOWED * sizes + 0.0 * values)
        missed = np.abs(results["decision"] - model.decision_function(rows))
        differ = results["label"] != model.predict(rows)
        if isinstance(readout, Classes) and readout.refines:  # values made of votes
            scales, compared = len(readout.labels) + sizes, decided
        if "probabilities" in results:
            steep = 0.0 if readout.slope is None else readout.slope  # there is one where there are probabilities
            wrong = np.abs(results["probabilities"] - model.predict_proba(rows))
            probabilities = _largest(wrong[decided], 1.0 + steep * sizes[decided])
    missed = missed.reshape(n, -1)[compared]
    return Parity(
        rows=n,
        labels_differ=int(np.count_nonzero(differ & decided)),
        undecided=int(np.count_nonzero(~decided)),
        deviation=_largest(missed, scales[compared]),
        absolute=float(missed.max(initial=0.0)),
        probabilities=probabilities,
        runtime=runtime.__version__,
        undecided_differ=int(np.count_nonzero(differ & ~decided)),
    )


def _largest(missed: Vector, scales: Vector) -> float:
    """Return the largest ratio; 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(missed == 0.0, 0.0, missed / scales).max(initial=0.0))


def _sizes(function: DecisionFunctions, rows: Vector) -> Vector:
    """Return the sums of the sizes of the terms of all decision functions, (n,)."""
    found = np.full(len(rows), np.abs(function.intercepts).max(initial=0.0))
    if isinstance(function, Tilted):
        factors = np.abs(np.insert(rows, 0, 1.0, axis=1))
        for field in function.fields():
            for kernel, coefficients in outputs(field).items() if len(field.points) else ():
                found += np.sum((np.abs(kernel(rows, field.points)) @ np.abs(coefficients)) * factors, axis=1)
        return found
    weights = np.abs(dense_rows(function.dual)).sum(axis=0)
    found += np.abs(function.kernel(rows, dense_rows(function.vectors))) @ weights if len(weights) else 0.0
    diagonal = getattr(function, "diagonal", 0.0)
    return found + np.abs(diagonal * function.kernel.diagonal(np.sum(rows * rows, axis=1))) if diagonal else found
