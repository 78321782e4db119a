"""Compiled code: where it is kept, who compiles it, and what is compiled ahead."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adatron.compiled import ahead, folder
from adatron.compiled.folder import Turn

TIMEOUT = 120


def test_compiled_code_is_kept_by_the_hash_of_the_package(tmp_path):
    """Where the user's cache cannot be written, in a private temporary folder."""
    environment = os.environ | {"ADATRON_CACHE_DIR": "/dev/null/x", "TMPDIR": str(tmp_path)}
    code = "from adatron.compiled.folder import cache_folder as f, package_hash as h; print(f(), h())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=TIMEOUT, check=True
    )
    found, digest = done.stdout.split()
    assert found.startswith(str(tmp_path))
    assert found.endswith(digest)
    assert Path(found).stat().st_mode & 0o077 == 0


def test_the_faces_hold_no_compiled_code():
    """Their files are left out of the hash that names the cache."""
    root = Path(folder.__file__).parents[1]
    for face in folder.FACES:
        files = list((root / face).rglob("*.py"))
        assert files
        assert not [path for path in files if "import jit" in path.read_text(encoding="utf-8")]


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
    assert time.monotonic() - begun < folder.LOCK_SECONDS / 2
    assert not path.exists()
    calls = []
    monkeypatch.setattr(ahead, "_start", calls.append)
    monkeypatch.delenv(ahead.HELPER, raising=False)
    ahead.begin.cache_clear()
    ahead.begin(tmp_path)  # nor does anybody compile what nobody could read
    assert not calls
    assert not list(tmp_path.iterdir())


def test_the_first_use_calls_helpers_once(tmp_path, monkeypatch, caplog):
    calls = []
    monkeypatch.setattr(ahead, "_start", calls.append)
    monkeypatch.setattr(ahead.joblib, "cpu_count", lambda: 3)
    monkeypatch.delenv(ahead.HELPER, raising=False)
    ahead.begin.cache_clear()
    for _ in range(2):
        ahead.begin(tmp_path)
    assert sorted(part for parts in calls for part in parts) == sorted(ahead.PARTS)
    assert len(calls) == 2
    assert [record.message for record in caplog.records] == [ahead.FIRST]
    ahead.begin.cache_clear()  # another process
    ahead.begin(tmp_path)
    assert len(calls) == 2
    assert [record.message for record in caplog.records] == [ahead.FIRST, ahead.LATER]


def test_a_single_helper_begins_with_what_the_fit_needs_last(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(ahead, "_start", calls.append)
    monkeypatch.setattr(ahead.joblib, "cpu_count", lambda: 2)
    monkeypatch.delenv(ahead.HELPER, raising=False)
    ahead.begin.cache_clear()
    ahead.begin(tmp_path)
    assert [parts[0] for parts in calls] == ["pairs"]


def test_nothing_is_begun_after_the_end(tmp_path):
    """A thread that goes on compiling while another ends the process leaves no lock file behind."""
    turn, first, second = Turn(), tmp_path / "first.compiling", tmp_path / "second.compiling"
    turn.wait(first)
    assert first.exists()
    turn.end_all()
    turn.wait(second)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("part", ahead.PARTS)
def test_helpers_end_with_their_parent(part, tmp_path):
    """They compile what they are told, and a closed pipe ends them early without a trace."""
    env = {**os.environ, "ADATRON_CACHE_DIR": str(tmp_path), ahead.HELPER: "1", "NUMBA_DISABLE_JIT": "0"}
    process = subprocess.Popen([sys.executable, "-m", "adatron.warm", part], env=env, stdin=subprocess.PIPE)
    while process.poll() is None and not list(tmp_path.glob("*/*.compiling")):
        time.sleep(0.05)
    process.stdin.close()
    assert process.wait(60) == 0
    assert not list(tmp_path.glob("*/*.compiling"))


AHEAD = """
import numpy as np
from numba.core.dispatcher import Dispatcher
from adatron import SVC, SVR, IncrementalSVC, OneClassSVM
from adatron.warm import warmup
import gc

def compiled():
    return {(f.py_func.__module__, f.py_func.__qualname__, s)
            for f in gc.get_objects() if isinstance(f, Dispatcher) for s in f.signatures}

warmup()
before = compiled()
X = np.random.default_rng(0).normal(size=(2400, 3))
for dtype in (np.float64, np.float32):
    for n in (50, 2400):
        for classes in (2, 3):
            SVC().fit(X[:n].astype(dtype), np.arange(n) % classes).predict(X[:2].astype(dtype))
few, weight = X[:50], np.ones(50)
weight.flags.writeable = False
SVC(C=2).fit(few, np.arange(50) % 3, weight)
SVR(C=2).fit(few, few[:, 0], weight)
OneClassSVM().fit(few, sample_weight=weight)
for dtype in (np.float64, np.float32):
    SVC(kernel="precomputed").fit((few @ few.T).astype(dtype), np.arange(50) % 3).predict((X[:2] @ few.T).astype(dtype))
IncrementalSVC().fit(few, np.arange(50) % 3).predict(few)
assert before
for one in compiled() - before:
    print(*one)
"""


def test_a_warm_up_compiles_what_fits_of_both_precisions_need():
    env = {**os.environ, ahead.HELPER: "1", "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", AHEAD]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=3 * TIMEOUT, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


FROM_DISK = """
import sys
import numpy as np
from adatron.compiled.scan import gains, violation

assert gains(1.0, -2.0, 0.0, 3.0, 0.0, False) == (2.0, -2.0)
print("numba.np.arrayobj" in sys.modules)
if len(sys.argv) > 1:  # compiled now, out of what was read
    beta, g = np.zeros(3), np.array([1.0, -2.0, 3.0])
    assert violation(beta, g, np.zeros(0), beta - 1.0, beta + 1.0, 0.0, np.zeros(0, np.int64), np.zeros(0), 0) == 3.0
"""


def test_code_from_the_disk_needs_no_compiler(tmp_path):
    """Numba's libraries of what it can compile are loaded where something is compiled."""
    env = {**os.environ, "ADATRON_CACHE_DIR": str(tmp_path), ahead.HELPER: "1", "NUMBA_DISABLE_JIT": "0"}

    def loads(*arguments):
        command = [sys.executable, "-c", FROM_DISK, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=TIMEOUT, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert [loads(), loads(), loads("more"), loads("more")] == ["True", "False", "False", "False"]
