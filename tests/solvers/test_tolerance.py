"""The next tolerance while a gap is too large, and how far kernel values blur a gradient."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.solvers.loop import AIM, LARGEST_SHARE, LEAST_SHARE, blur, closer

POSITIVE = st.floats(1e-12, 1e6)


@settings(deadline=None)
@given(tol=POSITIVE, gap=POSITIVE, wanted=POSITIVE)
def test_a_tolerance_falls_in_proportion_within_limits(tol, gap, wanted):
    near = closer(tol, gap, wanted)
    assert LEAST_SHARE * tol <= near <= LARGEST_SHARE * tol
    share = AIM * wanted / (gap / (1.0 + gap))  # of the larger bound of the optimum
    if LEAST_SHARE < share < LARGEST_SHARE:
        assert np.isclose(near / tol, share)
    assert closer(tol, np.inf, wanted) == closer(tol, np.nan, wanted) == LARGEST_SHARE * tol


def test_errors_of_kernel_values_add_up_as_squares():
    assert blur(4.0, 3.0, 4) == 6.0 * 2.0**-24
    assert blur(4.0, 3.0, 8) == 6.0 * 2.0**-53
