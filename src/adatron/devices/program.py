"""A kernel as a device evaluates it: statements of the CUDA source on a product x·z."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..kernels import Kernel
from ..kernels.base import ADD, MULTIPLY, SCALE
from ..kernels.table import KERNELS

LOG2E = math.log2(math.e)  # exp(x) is 2 to the power of x times this.
NAME_OF = {op: name for op, (name, _, _) in enumerate(KERNELS)}  # Kernels by their operators.
REASONS = {
    "dot": "its formula is not written for devices",
    "l1": "its distances are sums of absolute differences, not of products",
    "squares": "its distances are sums of squared differences, not of products",
    "given": "its values are given",
    "call": "its values come from a function in Python",
}


# The kernels that devices evaluate, in C++: made of a function that returns the place of a number, and a, b, c. They
# are functions of a product s = x·z and squared norms x and z. `unsuited` says why devices do not evaluate the others.
FORMULAS: dict[str, Callable[..., str]] = {
    "rbf": lambda p, a, b, c: f"gaussian(s, x, z, {p(a * LOG2E)})",
    "linear": lambda p, a, b, c: "s",
    "poly": lambda p, a, b, c: f"polynomial(s, {p(a)}, {p(b, 'int')}, {p(c)})",
    "sigmoid": lambda p, a, b, c: f"hyperbolic(s, {p(a)}, {p(b)}, {p(2.0 * LOG2E)})",
}


class KernelCode(NamedTuple):
    """Statements that turn ``s`` = x·z, and the squared norms ``x`` and ``z``, into k(x, z); p[...] are numbers."""

    statements: str
    numbers: tuple[float, ...]


def unsuited(kernel: Kernel) -> str | None:
    """Return the reason why no device evaluates a kernel, or None."""
    return next((REASONS[leaf.product] for leaf in kernel.leaves() if NAME_OF.get(leaf.op) not in FORMULAS), None)


def program(kernel: Kernel) -> KernelCode:
    """Return a kernel as statements of C++."""
    numbers: list[float] = []
    lines: list[str] = []
    depth = 0

    def number(value: float, kind: str = "REAL") -> str:
        numbers.append(value)
        return f"({kind})p[{len(numbers) - 1}]"

    for op, (a, b, c) in kernel.terms():
        if op in (ADD, MULTIPLY):
            depth -= 1
            lines.append(f"v{depth - 1} = v{depth - 1} {'+' if op == ADD else '*'} v{depth};")
        elif op == SCALE:
            lines.append(f"v{depth - 1} = {number(a)} * v{depth - 1};")
        else:
            value = FORMULAS[NAME_OF[op]](number, a, b, c)
            lines.append(f"v{depth} = {value};")
            depth += 1
    deepest = (len(kernel.terms()) + 1) // 2
    head = "REAL " + ", ".join(f"v{k} = REAL(0)" for k in range(deepest)) + "; "
    return KernelCode(head + " ".join(lines) + " s = v0;", tuple(numbers) or (0.0,))
