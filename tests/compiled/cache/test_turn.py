"""Who compiles a function: one process at a time, and nobody waits in vain."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adatron.compiled.cache import ahead, turn
from adatron.compiled.cache.turn import Turn


def test_who_compiles_a_function(tmp_path):
    """One process at a time; the file of a dead one holds nobody up."""
    path, turn = tmp_path / "function.compiling", Turn()
    turn.wait(path)
    assert path.exists()
    turn.wait(path)  # its own turn
    turn.end(path)
    assert not path.exists()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    path.write_text(str(dead.pid))
    turn.wait(path)
    assert path.read_text() == str(os.getpid())
    turn.end(path)


def test_nobody_is_waited_for_on_a_full_disk(tmp_path, monkeypatch):
    """Who cannot say that he compiles does so all the same, at once, and leaves no file."""

    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def write(self, text):
            raise OSError(28, "No space left on device")

    def opened(path, mode):
        path.touch(exist_ok=False)
        return Full()

    path, begun = tmp_path / "function.compiling", time.monotonic()
    monkeypatch.setattr(Path, "open", opened)
    Turn().wait(path)
    assert time.monotonic() - begun < turn.LOCK_SECONDS / 2
    assert not path.exists()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a helper was called"))
    monkeypatch.delenv(ahead.HELPER, raising=False)
    ahead.begin.cache_clear()
    ahead.begin(tmp_path)  # nor does anybody compile what nobody could read
    assert not list(tmp_path.iterdir())


def test_nothing_is_begun_after_the_end(tmp_path):
    """A thread that goes on compiling while another ends the process leaves no lock file behind."""
    turn, first, second = Turn(), tmp_path / "first.compiling", tmp_path / "second.compiling"
    turn.wait(first)
    assert first.exists()
    turn.end_all()
    turn.wait(second)
    assert not list(tmp_path.iterdir())
