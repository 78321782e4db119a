"""The kernels k(x, z), one a file. ``table`` names them all; ``base`` states the conventions."""

from .base import ADD, MULTIPLY, SCALE, Kernel, Leaf
from .compose import Product, Scaled, Sum
from .given import Function, Precomputed
from .laplacian import Laplacian
from .linear import Linear
from .polynomial import Polynomial
from .rbf import RBF
from .sigmoid import Sigmoid
from .table import KERNELS, from_spec, resolve

__all__ = [
    "ADD",
    "KERNELS",
    "MULTIPLY",
    "RBF",
    "SCALE",
    "Function",
    "Kernel",
    "Laplacian",
    "Leaf",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "from_spec",
    "resolve",
]
