"""Tables of proven errors: a class is never better than its rows.

Also tested here: ``compiled/precision``.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adatron.gram.errors import MOST_CLASSES, USUAL_CLASSES, SizeClasses
from adatron.kernels import RBF, Linear, Polynomial

KERNELS = [RBF(0.5), Linear(), Polynomial(0.5, 3, 1.0)]


@pytest.mark.plain
@given(
    st.floats(1e-6, 1e6),
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2),
    st.sampled_from([USUAL_CLASSES, MOST_CLASSES]),
)
def test_sizes_are_rounded_up(top, shares, count):
    by_size, sizes = SizeClasses.below(top, count), top * np.array(shares)
    classes = by_size.of(sizes)
    tops = np.array(by_size.tops)[classes]
    assert (tops >= sizes * (1.0 - 1e-12)).all()
    last = classes == count - 1
    assert (tops <= 1.1 * np.maximum(sizes, 0.0))[~last].all()  # and no further than a class
    (mean,) = by_size.table(lambda size: size)[classes[:1], classes[1:]]
    assert mean >= 0.5 * sizes.sum() * (1.0 - 1e-9)


@pytest.mark.plain
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_table_has_the_bounds_of_the_mean_size(kernel):
    by_size, sizes = SizeClasses.below(9.0), np.array([9.0, 4.0, 0.3, 1e-9, 0.0])
    table = by_size.table(lambda size: kernel.error_parts(size, 8, 2.0**-24))
    assert table.shape == (USUAL_CLASSES, USUAL_CLASSES, 2)
    classes = by_size.of(sizes)
    for a, i in zip(sizes, classes, strict=True):
        for b, j in zip(sizes, classes, strict=True):
            assert (table[i, j] >= kernel.error_parts(0.5 * (a + b), 8, 2.0**-24)).all()


@pytest.mark.plain
def test_rows_of_zeros_have_one_class():
    assert SizeClasses.below(0.0).of(np.zeros(3)).tolist() == [0, 0, 0]
