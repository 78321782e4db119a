"""Pauses of the garbage collector, attributes that are computed once, and the clock of compilation.

Also tested here: ``cached`` and ``spent``.
"""

import gc
from time import monotonic, sleep

import pytest

from adatron.compiled.cache.uninterrupted import Spent, cached_property, collector_paused


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


class Counted:
    """Counts how often its attribute is computed."""

    calls = 0

    @cached_property
    def value(self):
        """The number of calls."""
        self.calls += 1
        return self.calls


def test_an_attribute_is_computed_when_it_is_first_asked_for():
    one, other = Counted(), Counted()
    assert one.calls == 0
    assert [one.value, one.value, other.value] == [1, 1, 1]
    assert vars(one)["value"] == 1
    del one.value  # then it is computed anew
    assert one.value == 2


@pytest.mark.plain
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
