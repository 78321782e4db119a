"""A network under construction, and in it the decision values of a fitted machine and their kernel values, in float64.

Every operator here means the same from ``OPSET`` on. So the nodes also fit into a network of a later opset, in which
scikit-learn's converters have put the steps of a pipeline.

Products          x·z is one product of matrices.
Squared distances ‖x - c‖² + ‖z - c‖² - 2 (x - c)·(z - c) with the mean c of the support vectors, if rounding is then
                  small in the exponent. Otherwise, and for the distances ‖x - z‖₁, a loop over the features adds the
                  part of each feature. Both take memory for a few numbers for each pair of a row and a support vector.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...arrays import Vector, dense_rows
from ...compiled.cache.uninterrupted import cached_property
from ...kernels import RBF, Kernel, Laplacian, Linear, Polynomial, Product, Scaled, Sigmoid, Sum
from ...model import layout
from ...model.function import DecisionFunctions, KernelSum
from ...model.tilted import Tilted, outputs

OPSET = 13  # The version of the operators.
IR_VERSION = 7  # The version of the file format that came with this opset.
SMALL_ERROR = 1e-13  # Typical relative error of a kernel value up to which squared distances come from products.


class Tensor(NamedTuple):
    """A value in a network.

    name : of the node's output, or of the input, that holds it
    dtype : type of the numbers; object stands for text
    width : columns; None for one number a row
    """

    name: str
    dtype: np.dtype[Any] = np.dtype(np.float64)
    width: int | None = None


class Node(NamedTuple):
    """One operator with the names of its inputs and outputs."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]


class Graph:
    """Nodes in the order in which they are computed, and constants by their names.

    unique : returns a name that no other value has, from a word for it; by default the word, a prefix and a number
    """

    def __init__(self, unique: Callable[[str], str] | None = None, prefix: str = "") -> None:
        numbers = count()
        self._unique = unique or (lambda word: f"{prefix}{word}_{next(numbers)}")
        self.nodes: list[Node] = []
        self.constants: dict[str, NDArray[Any]] = {}

    def add(self, operator: str, *inputs: str, outputs: int = 1, named: str | None = None, **attributes: Any) -> str:
        """Add a node and return the name of its first output.

        outputs : how many it has
        named : the name of the output, for a node with one
        """
        names = [named or self._unique(operator.lower()) for _ in range(outputs)]
        self.nodes.append(Node(operator, list(inputs), names, attributes))
        return names[0]

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant and return its name; ``dtype`` None keeps the type of an array."""
        name = self._unique("constant")
        self.constants[name] = np.asarray(value, dtype)
        return name

    def whole(self, *numbers: int) -> str:
        """Return the name of a constant of whole numbers."""
        return self.constant(numbers, np.int64)

    def filled(self, value: Any, like: str) -> str:
        """Return a value, (width,), for each row of another tensor, (rows, width)."""
        rows = self.add("Slice", self.add("Shape", like), self.whole(0), self.whole(1))
        value = np.atleast_1d(value)
        shape = self.add("Concat", rows, self.whole(len(value)), axis=0)
        return self.add("Expand", self.constant(value), shape)

    def scaled(self, values: str, factor: float) -> str:
        """Return multiples of values; onnxruntime's optimisations drop a factor that is 1 in float32."""
        if factor != 1.0 and np.float32(factor) == 1.0:
            return self.add("Add", values, self.add("Mul", values, self.constant(factor - 1.0)))
        return self.add("Mul", values, self.constant(factor))

    def largest(self, values: str) -> str:
        """Return the largest entry of each row along the last axis, which stays with length 1.

        ReduceMax takes its axes in another way from opset 18 on.
        """
        return self.add("TopK", values, self.whole(1), outputs=2, axis=-1)

    def cast(self, values: str, dtype: Any, named: str | None = None) -> str:
        """Return values of another type."""
        from onnx import helper

        return self.add("Cast", values, named=named, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


class Pairs:
    """The pairs of the rows of ``x``, (n, d), and of the support vectors, (m, d); what kernels share is made once."""

    def __init__(self, graph: Graph, x: str, vectors: NDArray[np.float64]) -> None:
        self.graph, self.x, self.vectors, self.width = graph, x, vectors, len(vectors)
        self._center = vectors.mean(axis=0)
        self._centred = vectors - self._center
        self._sizes = np.einsum("md,md->m", self._centred, self._centred)

    @cached_property
    def products(self) -> str:
        """The products x·z, (n, m)."""
        return self.graph.add("MatMul", self.x, self.graph.constant(self.vectors.T))

    def squares(self, gamma: float) -> str:
        """Return squared distances, (n, m), precise enough to be multiplied by gamma and negated as an exponent."""
        d = self.vectors.shape[1]
        error = gamma * (4.0 * np.sqrt(d + 2.0) + 2.0) * 2.0**-53 * float(self._sizes.max())
        return self._squares_by_products if error <= SMALL_ERROR else self._squares_by_differences

    @cached_property
    def _squares_by_products(self) -> str:
        add, constant = self.graph.add, self.graph.constant
        x = add("Sub", self.x, constant(self._center))
        sizes = add("ReduceSum", add("Mul", x, x), self.graph.whole(1), keepdims=1)
        both = add("Add", sizes, constant(self._sizes[None]))
        return add("Max", add("Add", both, add("MatMul", x, constant(-2.0 * self._centred.T))), constant(0.0))

    @cached_property
    def _squares_by_differences(self) -> str:
        return self._summed("Mul", 2)

    @cached_property
    def lengths(self) -> str:
        """The distances ‖x - z‖₁, (n, m)."""
        return self._summed("Abs", 1)

    def _summed(self, operator: str, times: int) -> str:
        """Return the sum over the features of what an operator makes of a difference, which it gets so many times."""
        from onnx import TensorProto, helper

        graph = self.graph
        columns = graph.add("Unsqueeze", graph.add("Transpose", self.x, perm=[1, 0]), graph.whole(2))
        rows = graph.constant(self.vectors.T[:, None, :])
        nodes = [
            helper.make_node("Sub", ["column", "row"], ["difference"]),
            helper.make_node(operator, ["difference"] * times, ["part"]),
            helper.make_node("Add", ["before", "part"], ["after"]),
        ]
        infos = {
            name: helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, None])
            for name in ("before", "column", "row", "after")
        }
        after = infos.pop("after")
        body = helper.make_graph(nodes, "feature", list(infos.values()), [after])
        return graph.add("Scan", self.constant(0.0), columns, rows, body=body, num_scan_inputs=2)

    def constant(self, value: float) -> str:
        """Return one value for all pairs, (n, m)."""
        return self.graph.filled(np.full(self.width, value), self.x)


class Own(Pairs):
    """The pairs of each row of ``x`` with itself: products and distances, (n, 1)."""

    def __init__(self, graph: Graph, x: str) -> None:
        self.graph, self.x, self.width = graph, x, 1

    @cached_property
    def products(self) -> str:
        return self.graph.add("ReduceSum", self.graph.add("Mul", self.x, self.x), self.graph.whole(1), keepdims=1)

    def squares(self, gamma: float) -> str:
        return self.constant(0.0)

    @cached_property
    def lengths(self) -> str:
        return self.constant(0.0)


@singledispatch
def values(kernel: Kernel, pairs: Pairs) -> str:
    """Return the kernel values of all pairs, (n, m)."""
    raise ValueError(f"There are no ONNX operators for the kernel {kernel!r}.")


values.register(Sum, lambda one, at: at.graph.add("Add", values(one.left, at), values(one.right, at)))
values.register(Product, lambda one, at: at.graph.add("Mul", values(one.left, at), values(one.right, at)))
values.register(Scaled, lambda one, at: at.graph.scaled(values(one.part, at), one.factor))
values.register(Linear, lambda one, at: at.products)
values.register(RBF, lambda one, at: at.graph.add("Exp", at.graph.scaled(at.squares(one.gamma), -one.gamma)))
values.register(Laplacian, lambda one, at: at.graph.add("Exp", at.graph.scaled(at.lengths, -one.gamma)))
values.register(Sigmoid, lambda one, at: at.graph.add("Tanh", _affine(one, at)))


@values.register
def _(kernel: Polynomial, pairs: Pairs) -> str:
    """Square and multiply from the highest bit of the degree down."""
    if kernel.degree == 0:
        return pairs.constant(1.0)
    graph, base = pairs.graph, _affine(kernel, pairs)
    power = base
    for bit in f"{kernel.degree:b}"[1:]:
        power = graph.add("Mul", power, power)
        if bit == "1":
            power = graph.add("Mul", power, base)
    return power


def _affine(kernel: Any, pairs: Pairs) -> str:
    """Return γ x·z + c₀."""
    scaled = pairs.graph.scaled(pairs.products, kernel.gamma)
    return pairs.graph.add("Add", scaled, pairs.graph.constant(kernel.coef0))


@singledispatch
def decision_values(function: DecisionFunctions, graph: Graph, x: str) -> str:
    """Return the decision values of the rows of ``x``, (n, n_problems)."""
    raise TypeError(f"There is no network for a {type(function).__name__}.")


@decision_values.register
def _(function: KernelSum, graph: Graph, x: str) -> str:
    if function.kernel.plain:
        weights: Any = layout.feature_weights(function.coefficients(), function.vectors)
        weights = weights.toarray() if sparse.issparse(weights) else weights
        sums = graph.add("MatMul", x, graph.constant(weights.T))
    elif not len(function.columns):
        return graph.filled(function.intercepts, x)
    else:
        K = values(function.kernel, Pairs(graph, x, dense_rows(function.vectors)))
        if function.counts is None:
            sums = graph.add("MatMul", K, graph.constant(function.coefficients().T))
        else:
            sums = _of_pairs(graph, K, dense_rows(function.dual), function.counts)
    if function.diagonal:
        own = values(function.kernel, Own(graph, x))
        sums = graph.add("Add", sums, graph.scaled(own, function.diagonal))
    return graph.add("Add", sums, graph.constant(function.intercepts))


@decision_values.register
def _(function: Tilted, graph: Graph, x: str) -> str:
    found: list[str] = []
    for field in function.fields():
        value = graph.filled(field.f0, x)
        for kernel, coefficients in outputs(field).items() if len(field.points) else ():
            K = values(kernel, Pairs(graph, x, dense_rows(field.points)))
            plain, tilted = graph.constant(coefficients[:, :1]), graph.constant(coefficients[:, 1:])
            slopes = graph.add("Mul", x, graph.add("MatMul", K, tilted))
            value = graph.add("Add", value, graph.add("MatMul", K, plain))
            value = graph.add("Add", value, graph.add("ReduceSum", slopes, graph.whole(1), keepdims=1))
        found.append(value)
    return graph.add("Concat", *found, axis=1)


def _of_pairs(graph: Graph, K: str, dual: Vector, counts: Any) -> str:
    """Return the sums of all pairs of classes, (n, n_pairs).

    Each class has a product of its own columns of K with its own columns of the coefficients, (n, k - 1). A pair takes
    one entry of each of its two classes. A table of all pairs' coefficients would be k / 2 times as large.
    """
    parts, k = list[str](), len(counts)
    for start, end in pairwise([0, *np.cumsum(counts).tolist()]):
        some = slice(start, end) if end > start else slice(0, 1)  # of a class without any, one times 0
        columns = graph.add("Slice", K, graph.whole(some.start), graph.whole(some.stop), graph.whole(1))
        parts.append(graph.add("MatMul", columns, graph.constant((end > start) * dual[:, some].T)))
    sums, (i, j) = graph.add("Concat", *parts, axis=1), layout.pairs(k)
    first, second = (graph.constant(part, np.int64) for part in (i * (k - 1) + j - 1, j * (k - 1) + i))
    return graph.add("Add", graph.add("Gather", sums, first, axis=1), graph.add("Gather", sums, second, axis=1))
