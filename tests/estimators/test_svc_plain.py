"""A whole fit, also where the compiler is off."""

import pytest

from adatron import SVC


@pytest.mark.plain
def test_a_whole_fit(rng):
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    model = SVC(gamma=0.5).fit(X, y)
    assert model.kkt_violation_ <= model.tol
    assert (model.predict(X) == y).mean() > 0.9
