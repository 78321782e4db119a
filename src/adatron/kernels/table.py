"""The table of compiled kernels. A new kernel is one file and one line here; its position is its op id in programs.

The command line reads the names from the source of this file, as it may not take the time to import it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..quoted import quoted
from .base import Kernel, Leaf
from .compose import Product, Scaled, Sum
from .given import Function, Precomputed
from .laplacian import Laplacian, laplacian_map
from .linear import Linear, linear_map
from .polynomial import Polynomial, polynomial_map
from .rbf import RBF, DistanceRBF, distance_rbf_map, rbf_map
from .sigmoid import Sigmoid, sigmoid_map

KERNELS: tuple[tuple[str, type[Leaf], Callable[..., None]], ...] = (
    ("rbf", RBF, rbf_map),
    ("linear", Linear, linear_map),
    ("poly", Polynomial, polynomial_map),
    ("sigmoid", Sigmoid, sigmoid_map),
    ("laplacian", Laplacian, laplacian_map),
    ("_distance_rbf", DistanceRBF, distance_rbf_map),  # no name for users: kernels turn to it when needed
)

for _op, (_name, _leaf, _) in enumerate(KERNELS):
    _leaf.op, _leaf.name = _op, _name

LEAVES: dict[str, type[Leaf]] = {name: leaf for name, leaf, _ in KERNELS if not name.startswith("_")}
LEAVES[Precomputed.name] = Precomputed
COMPOSED: dict[str, type[Kernel]] = {kernel.name: kernel for kernel in (Sum, Product, Scaled)}


def resolve(kernel: Any, gamma: float, degree: int, coef0: float) -> Kernel:
    """Return the kernel that scikit-learn's parameters name.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name in the table, a kernel (returned as it is) or a function of (X, Z).
    gamma, degree, coef0 : float, int, float
        Taken by the named kernels that have such a parameter; all others of a kernel keep their defaults.

    Raises
    ------
    ValueError
        The name is unknown, or a parameter is out of its range.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Function(kernel)
    if not isinstance(kernel, str) or kernel not in LEAVES:
        allowed = f"a str among {sorted(LEAVES)}, a Kernel or a callable"
        raise ValueError(f"The 'kernel' parameter must be {allowed}. Got {quoted(kernel)} instead.")
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    leaf = LEAVES[kernel]
    return leaf(**{name: given[name] for name in leaf.__match_args__ if name in given})  # pyright: ignore


def from_spec(spec: dict[str, Any]) -> Kernel:
    """Return the kernel that ``Kernel.spec`` described."""
    arguments = {name: from_spec(value) if isinstance(value, dict) else value for name, value in spec.items()}
    name = arguments.pop("kernel", None)
    known: dict[str, type[Kernel]] = {**LEAVES, **COMPOSED}
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"A kernel is described by a 'kernel' among {sorted(known)}. Got {quoted(name)} instead.")
    return known[name](**arguments)
