"""The table of kernels: programs, names, and kernels that are not in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.metrics import pairwise

from adatron import SVC
from adatron.kernels import ADD, KERNELS, RBF, SCALE, Function, Kernel, Linear, Polynomial, Sigmoid, from_spec, resolve
from adatron.kernels.table import LEAVES


def test_programs_are_postfix() -> None:
    assert (0.5 * RBF(0.1) + Linear()).terms() == [
        (RBF.op, (0.1, 0.0, 0.0)),
        (SCALE, (0.5, 0.0, 0.0)),
        (Linear.op, (0.0, 0.0, 0.0)),
        (ADD, (0.0, 0.0, 0.0)),
    ]
    assert [leaf.op for _, leaf, _ in KERNELS] == list(range(len(KERNELS)))


def test_resolve() -> None:
    assert resolve("rbf", 0.2, 3, 0.0) == RBF(0.2)
    assert resolve("poly", 0.2, 4, 1.0) == Polynomial(0.2, 4, 1.0)
    assert resolve("sigmoid", 0.2, 3, 1.0) == Sigmoid(0.2, 1.0)
    assert resolve("linear", 0.2, 3, 1.0) == Linear()
    kernel = RBF(0.1) + Linear()
    assert resolve(kernel, 0.2, 3, 0.0) is kernel
    assert resolve(pairwise.rbf_kernel, 0.2, 3, 0.0) == Function(pairwise.rbf_kernel)
    for unknown in ("gaussian", 3, None):
        with pytest.raises(ValueError, match="The 'kernel' parameter must be a str among"):
            resolve(unknown, 0.2, 3, 0.0)
    with pytest.raises(ValueError, match="'kernel' among"):
        from_spec({"kernel": "gaussian"})


def test_names_of_kernels_that_are_not_for_users_are_unknown() -> None:
    own = [name for name, _, _ in KERNELS if name.startswith("_")]
    assert own
    for name in own:
        assert name not in LEAVES
        with pytest.raises(ValueError, match="The 'kernel' parameter must be a str among"):
            resolve(name, 0.2, 3, 0.0)


@dataclass(frozen=True)
class Unlisted(RBF):
    """A formula that nobody added to the table."""

    op = -1


def test_a_formula_that_is_not_in_the_table_is_refused() -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match=r"compiled only if KERNELS of kernels/table.py has a line for it"):
        SVC(kernel=Unlisted(0.5)).fit(X, X[:, 0] > 0)


@dataclass(frozen=True)
class Counted(RBF):
    """Counts how often it is asked what it costs."""

    asked: ClassVar[list[float]] = []

    def cost(self, d: float) -> float:
        self.asked.append(d)
        return super().cost(d)


def test_the_cost_of_a_sum_asks_each_part_a_few_times() -> None:
    kernel: Kernel = Counted(1.0)
    for number in range(59):
        kernel = 0.5 * (kernel + Counted(2.0 + number)) if number % 2 else kernel * Counted(2.0 + number)
    Counted.asked.clear()
    kernel.cost(3.0)
    assert len(Counted.asked) == 2 * 60


def test_the_cost_of_a_sum_has_the_product_once() -> None:
    a, b, c = RBF(1.0), Linear(), Counted(2.0)
    for kernel, operators in (((a + b) + c, 2), (a * (b + c), 2), (0.5 * (a + b) + c, 3)):
        parts = kernel.leaves()
        product = max(leaf.cost(7.0) - leaf.cost(0.0) for leaf in parts)
        assert kernel.cost(7.0) == product + sum(leaf.cost(0.0) for leaf in parts) + operators
