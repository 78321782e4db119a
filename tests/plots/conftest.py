"""Pictures of the tests are drawn nowhere."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _off_screen():
    pytest.importorskip("matplotlib.pyplot").switch_backend("agg")
