"""The bound of the error against its formula."""

from math import e, isnan, log

import pytest
from reproductions.kernel_adatron.radius_margin import vc_bound


@pytest.mark.parametrize("m", [577, 578, 10**7])
@pytest.mark.parametrize("delta", [0.05, 0.3])
@pytest.mark.parametrize(
    ("radius2", "margin", "k"), [(1.0, 1.0, 577), (2.0, 2.0, 288), (0.25, 12.0, 1), (0.5, 1.0, 288)]
)
def test_the_bound_is_its_formula(m, delta, radius2, margin, k):
    expected = (k * log(8 * e * m / k) * log(32 * m) + log(8 * m / delta)) / m
    assert vc_bound(m, radius2, margin, delta) == pytest.approx(expected, rel=1e-12)
    if delta == 0.05:
        assert vc_bound(m, radius2, margin) == vc_bound(m, radius2, margin, delta)


def test_a_vacuous_bound_is_no_number():
    assert isnan(vc_bound(576, 1.0, 1.0))  # k = 577 > m
    assert isnan(vc_bound(576, 1.0, 100.0))  # k = 0
