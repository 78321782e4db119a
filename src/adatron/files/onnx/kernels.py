"""Kernel values of the rows of a network's input and the support vectors, as nodes in float64.

Products          x·z is one product of matrices.
Squared distances ‖x - c‖² + ‖z - c‖² - 2 (x - c)·(z - c) with the mean c of the support vectors, if rounding is then
                  small in the exponent. Otherwise, and for the distances ‖x - z‖₁, a loop over the features adds the
                  part of each feature. Both take memory for a few numbers for each pair of a row and a support vector.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiled.cache.cached import cached_property
from ...kernels import RBF, Kernel, Laplacian, Linear, Polynomial, Product, Scaled, Sigmoid, Sum
from .graph import Graph

SMALL_ERROR = 1e-13  # Typical relative error of a kernel value up to which squared distances come from products.


class Pairs:
    """The pairs of the rows of ``x``, (n, d), and of the support vectors, (m, d); what kernels share is made once."""

    def __init__(self, graph: Graph, x: str, vectors: NDArray[np.float64]) -> None:
        self.graph, self.x, self.vectors = graph, x, vectors
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
        return self._summed("Mul", twice=True)

    @cached_property
    def lengths(self) -> str:
        """The distances ‖x - z‖₁, (n, m)."""
        return self._summed("Abs", twice=False)

    def _summed(self, operator: str, twice: bool) -> str:
        """Return the sum over the features of what an operator makes of a difference, or of it and itself."""
        from onnx import TensorProto, helper

        graph = self.graph
        columns = graph.add("Unsqueeze", graph.add("Transpose", self.x, perm=[1, 0]), graph.whole(2))
        rows = graph.constant(self.vectors.T[:, None, :])
        body = helper.make_graph(
            [
                helper.make_node("Sub", ["column", "row"], ["difference"]),
                helper.make_node(operator, ["difference"] * (1 + twice), ["part"]),
                helper.make_node("Add", ["before", "part"], ["after"]),
            ],
            "feature",
            [
                helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, None])
                for name in ("before", "column", "row")
            ],
            [helper.make_tensor_value_info("after", TensorProto.DOUBLE, [None, None])],
        )
        start = self.constant(0.0)
        return graph.add("Scan", start, columns, rows, body=body, num_scan_inputs=2)

    def constant(self, value: float) -> str:
        """Return one value for all pairs, (n, m)."""
        return self.graph.filled(np.full(len(self.vectors), value), self.x)


class Own(Pairs):
    """The pairs of each row of ``x`` with itself: products and distances, (n, 1)."""

    def __init__(self, graph: Graph, x: str) -> None:
        self.graph, self.x = graph, x

    @cached_property
    def products(self) -> str:
        return self.graph.add("ReduceSum", self.graph.add("Mul", self.x, self.x), self.graph.whole(1), keepdims=1)

    def squares(self, gamma: float) -> str:
        return self.constant(0.0)

    @cached_property
    def lengths(self) -> str:
        return self.constant(0.0)

    def constant(self, value: float) -> str:
        return self.graph.filled(np.array([value]), self.x)


@singledispatch
def values(kernel: Kernel, pairs: Pairs) -> str:
    """Return the kernel values of all pairs, (n, m)."""
    raise ValueError(f"There are no ONNX operators for the kernel {kernel!r}.")


@values.register
def _(kernel: Sum, pairs: Pairs) -> str:
    return pairs.graph.add("Add", values(kernel.left, pairs), values(kernel.right, pairs))


@values.register
def _(kernel: Product, pairs: Pairs) -> str:
    return pairs.graph.add("Mul", values(kernel.left, pairs), values(kernel.right, pairs))


@values.register
def _(kernel: Scaled, pairs: Pairs) -> str:
    return pairs.graph.scaled(values(kernel.part, pairs), kernel.factor)


@values.register
def _(kernel: Linear, pairs: Pairs) -> str:
    return pairs.products


@values.register
def _(kernel: RBF, pairs: Pairs) -> str:
    return pairs.graph.add("Exp", pairs.graph.scaled(pairs.squares(kernel.gamma), -kernel.gamma))


@values.register
def _(kernel: Laplacian, pairs: Pairs) -> str:
    return pairs.graph.add("Exp", pairs.graph.scaled(pairs.lengths, -kernel.gamma))


@values.register
def _(kernel: Sigmoid, pairs: Pairs) -> str:
    return pairs.graph.add("Tanh", _affine(kernel, pairs))


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
