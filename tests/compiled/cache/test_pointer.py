"""Calls of compiled functions by their address."""

import numpy as np
import pytest
from numba import typeof
from numba.core.errors import NumbaError
from scipy.sparse import csr_matrix

from adatron.compiled.cache.jit import JIT_DISABLED, jit
from adatron.compiled.cache.pointer import address, call
from adatron.compiled.panels import Dense, Sparse
from adatron.gram import Gram, Points, Source, View
from adatron.gram.backends.tile_loop import Weights
from adatron.kernels import RBF
from adatron.threads import Pool

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")


@jit
def fill(out, k, factor):
    for i in range(len(out)):
        out[i] = k + factor * out[i]


@jit
def fail(out):
    out[0] = 1.0
    raise ValueError("no")


@jit
def by_address(place, out, k, factor):
    call(*place, out, k, factor)


@jit
def by_address_alone(place, out):
    call(*place, out)


@pytest.mark.parametrize("k", [3, np.int32(3), np.uint8(3)])
@pytest.mark.parametrize("factor", [0.5, np.float32(0.5)])
def test_a_call_by_address_does_what_a_call_by_name_does(k, factor):
    place = address(fill, np.empty(0), 0, 0.0)
    assert place == address(fill, np.ones(3), 1, 1.0)
    one, other = np.arange(5.0), np.arange(5.0)
    by_address(place, one, k, factor)
    fill(other, 3, 0.5)
    np.testing.assert_array_equal(one, other)


def test_an_error_reaches_the_caller():
    out = np.zeros(1)
    with pytest.raises(ValueError, match="no"):
        by_address_alone(address(fail, out), out)
    assert out[0] == 1.0


def locked(array):
    array.flags.writeable = False
    return array


WRONG = {
    "a step": np.zeros(6)[::2],
    "read-only": locked(np.zeros(3)),
    "in a tuple": Dense(np.zeros((1, 1, 1)), locked(np.zeros(3)), 1, 1),
}


@pytest.mark.parametrize("out", WRONG.values(), ids=WRONG)
def test_arrays_of_another_type_than_the_function_was_compiled_for_are_refused(out):
    with pytest.raises((NumbaError, TypeError), match="called by its address"):
        by_address_alone(address(fail, np.empty(0)), out)


def test_arguments_of_other_types_are_refused_when_the_call_is_made():
    out = np.zeros(3, np.float32)
    with pytest.raises(TypeError, match="of other types"):
        by_address_alone(address(fail, np.empty(0)), out)
    with pytest.raises(TypeError, match="of other types"):
        by_address_alone(address(fill, np.empty(0), 0, 0.0), np.zeros(3))
    assert not out.any()


@jit
def first(out):
    return out[0]


def test_a_function_with_a_result_has_no_address():
    with pytest.raises(TypeError, match="first must be compiled, and return nothing"):
        address(first, np.empty(0))


def test_points_of_another_precision_or_kind_than_the_rows_are_refused():
    X, some = np.eye(3), np.arange(3)
    with Pool(1) as pool:
        view = View.of(Gram(Source.of(X, some, RBF()), np.float64, [3], pool))
        points, out, weights = view.points(some), np.zeros((3, 1)), Weights.of(some, np.ones((3, 1)))
        rows, other = view.gram.over(points), Source.of(csr_matrix(X), some, RBF())
        for wrong in (points.source.as_points(np.float32, pool), other.as_points(np.float64, pool)):
            with pytest.raises(TypeError, match="must be of one kind and one precision"):
                rows.add(out, wrong, weights)
        with pytest.raises(TypeError, match="must be of one kind and one precision"):
            view.accumulate(out, Points(other, some), np.ones((3, 1)))
        with pytest.raises(TypeError, match="must be of one kind and one precision"):
            rows.fill(Points(other, some), out, some)


STORAGE = {Dense: np.asarray, Sparse: csr_matrix}


@pytest.mark.parametrize("kind", STORAGE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_rows_have_the_type_of_rows(kind, dtype):
    """The code of a product is found by the former, and is called with the latter."""
    source = Source.of(STORAGE[kind](np.eye(3)), np.arange(3), RBF())
    for rows in (source.as_rows(dtype, Pool(1)), source.as_points(dtype, Pool(1))):
        assert typeof(rows) == typeof(kind.empty(dtype))
