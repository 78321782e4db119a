"""The range of one parameter."""

import numpy as np
import pytest

from adatron.selection.ranges.auto import Axis, geometric


@pytest.mark.parametrize(
    ("axis", "edge", "value"),
    [
        (Axis((0.1, 1.0, 10.0), 10.0), "largest", 100.0),
        (Axis((0.1, 1.0, 10.0), 10.0), "smallest", 0.01),
        (Axis((0.1, 1.0), 10.0, least=0.05), "smallest", 0.05),
        (Axis((0.1, 1.0), 10.0, least=0.1), "smallest", None),
        (Axis((0.1, 0.5), 2.0, most=0.8), "largest", 0.8),
        (Axis((0.1, 0.799), 2.0, most=0.8), "largest", None),
        (Axis((1e308,), 10.0), "largest", None),
    ],
)
def test_beyond(axis, edge, value):
    assert axis.beyond(edge) == value
    if value is not None:
        assert axis.wider(edge).values == tuple(sorted((*axis.values, value)))


def test_geometric():
    assert geometric(0.01, 10.0, 1.0, 10.0, 9) == (0.01, 0.1, 1.0, 10.0)
    many = geometric(1e-9, 1e9, 1.0, 10.0, 5)
    assert len(many) == 5
    np.testing.assert_allclose(np.diff(np.log10(many)), 1.0)
