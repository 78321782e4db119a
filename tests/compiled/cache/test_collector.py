"""The garbage collector pauses, and is afterwards as it was before."""

import gc

import pytest

from adatron.compiled.cache.collector import collector_paused


def _fail_in_a_pause():
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
        raise KeyError


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_as_it_was(was_on):
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with pytest.raises(KeyError):
            _fail_in_a_pause()
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if before else gc.disable)()
