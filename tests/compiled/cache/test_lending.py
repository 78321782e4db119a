"""Structures that compiled functions hand on by their place."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types

from adatron.compiled.cache.jit import JIT_DISABLED, jit
from adatron.compiled.cache.pointer import At, address, borrowed, call, contents, hidden, number_of


class Inner(NamedTuple):
    values: Any
    factor: float


class Outer(NamedTuple):
    inner: Inner
    out: Any
    code: tuple[int, int]


@jit
def fill(outer, shift):
    inner = outer.inner
    for i in range(len(outer.out)):
        outer.out[i] = inner.factor * inner.values[i] + shift


@jit
def by_place(outer):
    call(*outer.code, borrowed(outer), 1.0)


@jit
def hidden_from_caller(outer, number):
    call(*outer.code, hidden(borrowed(outer), number), 1.0)


@jit
def total(inner):
    out = 0.0
    for value in contents(inner).values:
        out += value
    return out


@jit
def total_by_place(outer):
    return total(borrowed(outer).inner) + total(outer.inner)


def example(is_hidden):
    place = At(Outer(Inner(np.empty(0), 0.0), np.empty(0), (0, 0)), hidden=is_hidden)
    return Outer(Inner(np.arange(3.0), 2.0), np.zeros(3), address(fill, place, 0.0))


def test_members_are_read_and_written_where_they_are():
    outer = example(False)
    by_place(outer)
    np.testing.assert_array_equal(outer.out, [1.0, 3.0, 5.0])


def test_who_hands_on_a_place_need_not_know_what_is_there():
    outer = example(True)
    hidden_from_caller(outer, number_of(outer))
    np.testing.assert_array_equal(outer.out, [1.0, 3.0, 5.0])


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_another_type_at_a_place_is_noticed():
    outer = example(True)
    with pytest.raises(TypeError, match="other types"):
        hidden_from_caller(outer, number_of(outer.inner))
    with pytest.raises(TypeError, match="other types"):
        by_place(outer)
    np.testing.assert_array_equal(outer.out, 0.0)


def test_contents_are_the_tuple_itself():
    assert total_by_place(example(False)) == 6.0


@jit
def twice(value):
    return 2 * value


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_a_number_in_the_source_compiles_nothing_again():
    for number in (0, 1):
        twice.compile((types.literal(number),))  # what compiled code that calls twice(0) does
    assert twice.signatures == [(types.int64,)]
