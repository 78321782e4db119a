"""Kernels as a device evaluates them, and the reasons why it does not evaluate others."""

from dataclasses import dataclass

import numpy as np
import pytest

from adatron.devices import unsuited
from adatron.devices.program import FORMULAS, NAME_OF, program
from adatron.kernels import RBF, Function, Kernel, Laplacian, Linear, Polynomial, Precomputed
from adatron.kernels.table import LEAVES


def test_statements_take_their_numbers_in_order():
    made = program(0.5 * Polynomial(0.25, 3, 2.0) + Linear())
    assert made.numbers == (0.25, 3.0, 2.0, 0.5)
    assert "polynomial(s, (REAL)p[0], (int)p[1], (REAL)p[2])" in made.statements
    assert program(Linear()).numbers == (0.0,)  # an argument that is never read


def test_kernels_that_no_device_evaluates_have_a_reason():
    assert unsuited(RBF(1.0) + Linear()) is None
    assert unsuited(Laplacian(1.0)) == "its distances are sums of absolute differences, not of products"
    assert unsuited(RBF(1.0) * Laplacian(1.0)) == unsuited(Laplacian(1.0))
    assert unsuited(RBF(1.0).by_differences()) == "its distances are sums of squared differences, not of products"
    assert unsuited(Precomputed()) == "its values are given"
    assert unsuited(Function(np.dot)) == "its values come from a function in Python"


@dataclass(frozen=True)
class Unwritten(Linear):
    """A function of products for which nobody wrote a formula here."""

    op = len(NAME_OF)


def test_a_function_of_products_without_a_formula_has_a_reason():
    assert unsuited(Unwritten()) == "its formula is not written for devices"
    assert unsuited(RBF(1.0) + Unwritten()) == unsuited(Unwritten())


@pytest.mark.parametrize("name", LEAVES)
def test_each_kernel_has_a_formula_or_a_reason(name):
    kernel: Kernel = LEAVES[name]()
    assert (unsuited(kernel) is None) == (name in FORMULAS)
    assert unsuited(kernel) is not None or program(kernel).statements
