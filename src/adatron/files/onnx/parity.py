"""The comparison of a network, run by onnxruntime with all its optimisations, and the machine that it was made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from ...arrays import Vector
from ...extras import needed
from ...fitting.storage import dense_rows
from ...model.function import DecisionFunctions, KernelSum
from ...model.heads import Classes
from ...model.tilted import Tilted, outputs
from .functions import by_class, sides

ALLOWED = 1e-12  # Deviation of a decision value, relative to the sum of the sizes of its terms.
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
    deviation : the largest deviation of a decision value, relative to the sum of the sizes of its terms
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

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by their names."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def check(self, steps: bool = False) -> None:
        """Raise ParityError unless all labels are equal and no value deviates by more than is allowed.

        ``steps`` says that the model has steps before the machine.
        """
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


def reference_of(model: Any) -> Any:
    """Return the machine that a network is compared with: in float64 throughout, its features without names."""
    found = copy(model)
    vars(found).pop("feature_names_in_", None)
    if "precision" in found.get_params(deep=False):
        found.precision = "double"
    return found


def rows_near(model: Any) -> Vector:
    """Return support vectors, and random points around them."""
    rng, function, width = np.random.default_rng(0), model.model_.function(), model.n_features_in_
    vectors, most = function.vectors, max(1, min(MOST_COMPARED, VALUES // max(width, 4 * len(function.intercepts))))
    Z = dense_rows(vectors[:: max(1, -(-vectors.shape[0] // most))]) if vectors.shape[0] else np.zeros((1, width))
    spread = Z.std(axis=0)
    near = Z[rng.integers(len(Z), size=most)] + rng.normal(size=(most, width)) * np.where(spread > 0, spread, 1.0)
    return np.concatenate([Z, near])


def run(
    network: bytes, inputs: Mapping[str, NDArray[Any]], batch: int, what: str = "the network"
) -> dict[str, NDArray[Any]]:
    """Return the results of a network by their names; each call gets ``batch`` rows, ``what`` is named in errors.

    Raises
    ------
    ValueError
        The runtime cannot run it. It has no float64 form of some operators that converters use.
    """
    runtime: Any = needed("onnxruntime", "onnx", "The comparison of a network with its model takes")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
    n = len(next(iter(inputs.values())))
    try:
        session = runtime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
        names = [one.name for one in session.get_outputs()]
        some = [slice(start, start + batch) for start in range(0, n, batch)]
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
    """Compare what a network says of some rows, (n, n_features), with what a machine says; see ``reference_of``."""
    function = model.model_.function()
    values, sizes = map(np.concatenate, zip(*_evaluated(function, rows), strict=True))
    all_rows = np.ones(len(rows), bool)
    if is_regressor(model):
        wanted = model.head.predictions(values)
        return _parity(results["prediction"], wanted, _scales(model.head, sizes, wanted), all_rows)
    head, pairs = model.head, sizes.sum(axis=1, keepdims=True)
    shaped = head.shaped(values)
    voted = isinstance(head, Classes) and head.refines
    scales = len(head.labels) + 0.0 * shaped + pairs if voted else sizes.reshape(shaped.shape)
    decided = head.decided(values, ALLOWED * sizes)
    found = _parity(results["decision"], shaped, scales, decided if voted else all_rows)
    differ = results["label"] != model.predict(rows)
    found = replace(
        found,
        labels_differ=int(np.count_nonzero(differ & decided)),
        undecided=int(np.count_nonzero(~decided)),
        undecided_differ=int(np.count_nonzero(differ & ~decided)),
    )
    if "probabilities" not in results:
        return found
    missed = np.abs(results["probabilities"] - head.probabilities(values)).max(axis=1)
    return replace(found, probabilities=_largest(missed[decided], (1.0 + head.slope * pairs[:, 0])[decided]))


def _scales(head: Any, sizes: Vector, wanted: Vector) -> Vector:
    """Return the sizes of sums in the shape of predictions; those of a row that was sorted are the largest of it."""
    if head.order is not None:
        sizes = np.broadcast_to(sizes.max(axis=1, keepdims=True), sizes.shape)
    return sizes.reshape(wanted.shape)


def _parity(found: Vector, wanted: Vector, scales: Vector, rows: NDArray[np.bool_]) -> Parity:
    """Return the deviations of decision values in some rows."""
    runtime: Any = needed("onnxruntime", "onnx", "The comparison of a network with its model takes")
    missed = np.abs(found - wanted)[rows]
    absolute = float(missed.max(initial=0.0))
    return Parity(len(rows), 0, 0, _largest(missed, scales[rows]), absolute, None, runtime.__version__)


def _largest(missed: Vector, scales: Vector) -> float:
    """Return the largest ratio; 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(missed == 0.0, 0.0, missed / scales).max(initial=0.0))


def _evaluated(function: DecisionFunctions, rows: Vector) -> Iterator[tuple[Vector, Vector]]:
    """Yield values and sizes of some rows after the other, so that their kernel values need little memory."""
    step = max(1, VALUES // max(1, function.vectors.shape[0], 4 * len(function.intercepts)))
    for start in range(0, len(rows), step):
        yield evaluated(function, rows[start : start + step])


@singledispatch
def evaluated(function: DecisionFunctions, rows: Vector) -> tuple[Vector, Vector]:
    """Return decision values by NumPy, and the sums of the sizes of their terms, (n, n_problems) each."""
    raise TypeError(f"The terms of a {type(function).__name__} are not known.")


@evaluated.register
def _(function: KernelSum, rows: Vector) -> tuple[Vector, Vector]:
    bias = np.tile(function.intercepts, (len(rows), 1))
    if not len(function.columns):
        return bias, np.abs(bias)
    K, sizes = function.kernel(rows, dense_rows(function.vectors)), np.abs(bias)
    if function.diagonal:
        own = function.diagonal * function.kernel.diagonal(np.sum(rows * rows, axis=1))[:, None]
        bias, sizes = bias + own, sizes + np.abs(own)
    return _sum(K, function, np.asarray) + bias, _sum(np.abs(K), function, np.abs) + sizes


def _sum(K: Vector, function: KernelSum, part: Callable[[Vector], Vector]) -> Vector:
    """Return sums of kernel values times a part of the coefficients, (n, n_problems)."""
    if function.counts is None:
        return K @ part(function.coefficients()).T
    classes = by_class(dense_rows(function.dual), function.counts)
    found = np.concatenate([K[:, some] @ part(coefficients).T for some, coefficients in classes], axis=1)
    first, second = sides(len(classes))
    return found[:, first] + found[:, second]


@evaluated.register
def _(function: Tilted, rows: Vector) -> tuple[Vector, Vector]:
    values = np.tile(function.intercepts, (len(rows), 1))
    sizes, factors = np.abs(values), np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
    for problem, field in enumerate(function.fields()):
        for kernel, coefficients in outputs(field).items() if len(field.points) else ():
            K = kernel(rows, field.points)
            values[:, problem] += np.sum((K @ coefficients) * factors, axis=1)
            sizes[:, problem] += np.sum((np.abs(K) @ np.abs(coefficients)) * np.abs(factors), axis=1)
    return values, sizes
