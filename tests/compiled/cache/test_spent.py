"""The clock of compilation."""

from time import monotonic, sleep

import pytest

from adatron.compiled.cache.uninterrupted import Spent

pytestmark = pytest.mark.plain


def test_the_clock_runs_while_somebody_compiles():
    spent, start = Spent(), monotonic()
    assert spent.seconds() == 0.0
    with spent.running():
        with spent.running():  # a function that another one calls
            sleep(0.02)
        assert 0.02 <= spent.seconds() <= monotonic() - start
    before = spent.seconds()
    sleep(0.01)
    assert spent.seconds() == before
