"""The garbage collector pauses, and is afterwards as it was before."""

import gc

import pytest

from adatron.compiled.cache.uninterrupted import collector_paused


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


def test_the_new_objects_cause_no_collection_afterwards():
    ran = []
    gc.callbacks.append(lambda phase, info: ran.append(phase))
    try:
        with collector_paused():
            made = [[] for _ in range(10_000)]
        few = [[] for _ in range(100)]
    finally:
        gc.callbacks.pop()
    assert not ran
    assert len(few) < len(made)


@pytest.mark.slow
def test_what_a_process_has_frozen_stays_frozen():
    gc.collect()
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with collector_paused():
            pass
        assert gc.get_freeze_count() >= frozen > 0
    finally:
        gc.unfreeze()
