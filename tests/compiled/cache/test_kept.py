"""Files of compiled code: what is damaged, or what others can write, is not read; what helpers compile ahead.

Also tested here: ``ahead``.
"""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest

from adatron.compiled.cache import processes
from adatron.compiled.cache.kept import Kept


class Bomb:
    """A pickle that runs code when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def kept(folder):
    file = Kept(folder / "function", pickle.dumps)
    file.save("key", [1, 2, 3])
    (path,) = folder.iterdir()
    return file, path


def bit_flipped(content, at):
    return content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "zeros": lambda content: bytes(len(content)),
    "cut": lambda content: content[:-1],
    "cut in the checksum": lambda content: content[:20],
    "a bit of the checksum": lambda content: bit_flipped(content, 3),
    "a bit of the pickle": lambda content: bit_flipped(content, len(content) - 5),
    "more": lambda content: content + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_counts_as_not_there_and_is_replaced(damage, tmp_path):
    file, path = kept(tmp_path)
    assert file.load("key") == [1, 2, 3]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert file.load("key") is None
    file.save("key", [4])
    assert file.load("key") == [4]
    assert list(tmp_path.iterdir()) == [path]
    assert file.load("another key") is None


@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no modes")
@pytest.mark.parametrize("change", ["group", "others", "owner", "link", "pipe"])
def test_a_file_that_others_can_write_is_not_unpickled(change, tmp_path):
    (tmp_path / "cache").mkdir()
    file, path = kept(tmp_path / "cache")
    bomb, done = tmp_path / "bomb", tmp_path / "done"
    file.save("key", Bomb(done))
    if change == "owner" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    if change == "link":
        path.rename(bomb)
        path.symlink_to(bomb)
    elif change == "pipe":
        path.unlink()
        os.mkfifo(path)
    elif change == "owner":
        os.chown(path, 65534, 65534)
    else:
        path.chmod({"group": 0o620, "others": 0o602}[change])
    assert file.load("key") is None
    assert not done.exists()


class Started:
    """Stands for a process: none is started."""

    commands: ClassVar = []
    stdin = None

    def __init__(self, command, **how):
        self.commands.append(command)

    def wait(self):
        return 0


@pytest.fixture
def calls(monkeypatch):
    """The parts that each helper is told to compile."""
    monkeypatch.setattr(subprocess, "Popen", Started)
    Started.commands.clear()
    return lambda: [command[command.index("adatron.warm") + 1 :] for command in Started.commands]


def test_the_first_use_calls_helpers_once(calls, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    monkeypatch.delenv(processes.HELPER, raising=False)
    processes.begin.cache_clear()
    for _ in range(2):
        processes.begin(tmp_path)
    assert sorted(part for parts in calls() for part in parts) == sorted(processes.HELPER_PARTS)
    assert len(calls()) == 2
    assert [record.message for record in caplog.records] == [processes.FIRST_COMPILING]
    processes.begin.cache_clear()  # another process
    processes.begin(tmp_path)
    assert len(calls()) == 2
    assert [record.message for record in caplog.records] == [processes.FIRST_COMPILING, processes.LATER_COMPILING]


def test_a_single_helper_begins_with_what_the_fit_needs_last(calls, tmp_path, monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    monkeypatch.delenv(processes.HELPER, raising=False)
    processes.begin.cache_clear()
    processes.begin(tmp_path)
    assert [parts[0] for parts in calls()] == ["pairs"]


@pytest.mark.slow
@pytest.mark.parametrize("part", processes.HELPER_PARTS)
def test_helpers_end_with_their_parent(part, tmp_path):
    """They compile what they are told, and a closed pipe ends them early without a trace."""
    env = {**os.environ, "ADATRON_CACHE_DIR": str(tmp_path), processes.HELPER: "1", "NUMBA_DISABLE_JIT": "0"}
    process = subprocess.Popen([sys.executable, "-m", "adatron.warm", part], env=env, stdin=subprocess.PIPE)
    while process.poll() is None and not list(tmp_path.glob("*/*.compiling")):
        time.sleep(0.05)
    process.stdin.close()
    assert process.wait(60) == 0
    assert not list(tmp_path.glob("*/*.compiling"))
