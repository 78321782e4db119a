"""Sums of a device are compared with those of the processor: which rows, and what a difference causes."""

import numpy as np
import pytest

from adatron.devices.rows import checked_rows, refuse_different


def test_some_rows_from_the_first_to_the_last_are_checked():
    assert checked_rows(1).tolist() == [0]
    assert checked_rows(5).tolist() == [0, 1, 2, 3, 4]
    some = checked_rows(1000)
    assert len(some) == 16
    assert {0, 999} <= set(some.tolist())


def test_a_difference_beyond_the_errors_of_both_is_an_error():
    truth, errors = np.array([1.0, 2.0]), np.array([1e-12, 1e-12])
    refuse_different("twin", truth + 1.5e-12, truth, errors)
    for wrong in (truth + 3e-12, np.array([1.0, np.nan])):
        with pytest.raises(RuntimeError, match="twin returned a sum of kernel values that is off by"):
            refuse_different("twin", wrong, truth, errors)
