"""How far a fit is."""

import math

import pytest

from adatron.progress import part_done


def test_progress_is_counted_in_decades():
    assert part_done(1.0, 0.1, 0.01) == pytest.approx(0.5)
    assert part_done(1.0, 1e-9, 0.01) == 1.0
    assert part_done(1.0, 2.0, 0.01) == 0.0
    for nonsense in (math.nan, math.inf, 0.0):
        assert part_done(nonsense, 0.5, 0.01) == 0.0
        assert part_done(1.0, nonsense, 0.01) == 0.0
