"""A thread that tells something now and then, and ends with its block."""

import threading

import pytest

from adatron.cli.ticker import every


def test_it_tells_until_the_block_ends():
    told, twice = [], threading.Event()

    def tell():
        told.append(threading.current_thread())
        if len(told) == 2:
            twice.set()

    def fail():
        with every(0.001, tell):
            assert twice.wait(60)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert threading.main_thread() not in told
    assert not told[0].is_alive()


def test_a_short_block_is_told_nothing():
    told = []
    with every(3600.0, lambda: told.append(1)):
        pass
    assert told == []
