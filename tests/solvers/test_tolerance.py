"""The next tolerance while a gap is too large, and how far kernel values blur a gradient."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.solvers.tolerance import AIM, LEAST, MOST, blur, closer

POSITIVE = st.floats(1e-12, 1e6)


@settings(deadline=None)
@given(tol=POSITIVE, gap=POSITIVE, wanted=POSITIVE)
def test_a_tolerance_falls_in_proportion_within_limits(tol, gap, wanted):
    near = closer(tol, gap, wanted)
    assert LEAST * tol <= near <= MOST * tol
    if LEAST < AIM * wanted / gap < MOST:
        assert np.isclose(near / tol, AIM * wanted / gap)
    assert closer(tol, np.inf, wanted) == closer(tol, np.nan, wanted) == MOST * tol


def test_errors_of_kernel_values_add_up_as_squares():
    assert blur(4.0, 3.0, 4) == 6.0 * 2.0**-24
    assert blur(4.0, 3.0, 8) == 6.0 * 2.0**-53
