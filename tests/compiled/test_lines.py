"""Arrays that begin with a line of the cache."""

from itertools import product

import numpy as np
import pytest

from adatron.compiled import lines

pytestmark = pytest.mark.plain


def test_arrays_begin_with_a_line_of_the_cache():
    for shape, dtype in product([(3,), (5, 7), (300, 300)], [np.float32, np.float64]):
        for make in (lines.empty, lines.zeros):
            array = make(shape, dtype)
            assert array.shape == shape
            assert array.dtype == dtype
            assert array.flags.c_contiguous
            assert array.ctypes.data % lines.LINE == 0
        assert not array.any()
