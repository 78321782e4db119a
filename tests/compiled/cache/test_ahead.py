"""What helpers compile ahead, and when they end."""

import os
import subprocess
import sys
import time
from typing import ClassVar

import pytest

from adatron.compiled.cache import processes


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
