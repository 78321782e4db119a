"""A network under construction: nodes and constants, whose names nothing else has.

Every operator here means the same from ``OPSET`` on. So the nodes also fit into a network of a later opset, in which
scikit-learn's converters have put the steps of a pipeline.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

OPSET = 13  # The version of the operators.
IR_VERSION = 7  # The version of the file format that came with this opset.


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
