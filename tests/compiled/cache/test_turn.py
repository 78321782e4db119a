"""Who compiles a function: one process at a time, and nobody waits in vain."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from adatron.compiled.cache import processes
from adatron.compiled.cache.processes import LOCK_SECONDS, Turn


def test_who_compiles_a_function(tmp_path):
    """One process at a time; the file of a dead one holds nobody up."""
    path, turn = tmp_path / "function.compiling", Turn()
    turn.wait(path)
    assert path.exists()
    turn.wait(path)  # its own turn
    turn.end(path)
    assert not path.exists()
    path.write_text(str(os.getpid()))  # left by a process that was killed and had this number, as 1 in a container
    begun = time.monotonic()
    turn.wait(path)
    assert time.monotonic() - begun < LOCK_SECONDS / 2
    turn.end(path)
    assert not path.exists()


HOLDER = """
import sys
from pathlib import Path
from adatron.compiled.cache.processes import TURN

TURN.wait(Path(sys.argv[1]))
print("compiles", flush=True)
sys.stdin.read()
"""


def test_another_process_is_waited_for_until_it_ends(tmp_path):
    """Nobody has a turn beside a process that lives, and somebody has one as soon as it was killed."""
    path, turn = tmp_path / "function.compiling", Turn()
    holder = [sys.executable, "-c", HOLDER, path]
    with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"compiles\n"
        waits = threading.Thread(target=turn.wait, args=(path,))
        waits.start()
        waits.join(0.5)
        assert waits.is_alive()
        process.kill()
        waits.join(LOCK_SECONDS / 2)
        assert not waits.is_alive()
    turn.end(path)
    assert not path.exists()


def test_nobody_is_waited_for_on_a_full_disk(tmp_path, monkeypatch):
    """Who cannot say that he compiles does so all the same, at once, and leaves no file."""

    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def write(self, text):
            raise OSError(28, "No space left on device")

    def opened(path, *how, **named):
        if path.suffix == ".compiling":
            raise OSError(28, "No space left on device")
        if tmp_path not in path.parents:
            return usual(path, *how, **named)
        path.touch(exist_ok=False)
        return Full()

    usual, path, begun = Path.open, tmp_path / "function.compiling", time.monotonic()
    monkeypatch.setattr(Path, "open", opened)
    Turn().wait(path)
    assert time.monotonic() - begun < LOCK_SECONDS / 2
    assert not path.exists()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a helper was called"))
    monkeypatch.delenv(processes.HELPER, raising=False)
    processes.begin.cache_clear()
    processes.begin(tmp_path)  # nor does anybody compile what nobody could read
    assert not list(tmp_path.iterdir())


def test_nothing_is_begun_after_the_end(tmp_path):
    """A thread that goes on compiling while another ends the process leaves no lock file behind."""
    turn, first, second = Turn(), tmp_path / "first.compiling", tmp_path / "second.compiling"
    turn.wait(first)
    assert first.exists()
    turn.end_all()
    turn.wait(second)
    assert not list(tmp_path.iterdir())
