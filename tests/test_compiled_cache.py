"""Compiled code: where it is kept, who compiles it, and what is compiled ahead."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adatron.compiled.cache import ahead, folder, turn
from adatron.compiled.cache.kept import Kept
from adatron.compiled.cache.trust import private_folder
from adatron.compiled.cache.turn import Turn

TIMEOUT = 120


WHERE = (
    "from adatron.compiled.cache.folder import cache_folder as f, package_hash as h; "
    "print(f(), h(), f().stat().st_mode)"
)


def where(given, temporary):
    """Return the folder that a process uses where ``given`` is asked for, its mode, and what it says."""
    environment = os.environ | {"ADATRON_CACHE_DIR": str(given), "TMPDIR": str(temporary)}
    done = subprocess.run(
        [sys.executable, "-c", WHERE], capture_output=True, text=True, env=environment, timeout=TIMEOUT, check=True
    )
    found, digest, mode = done.stdout.split()
    assert found.endswith(digest)
    return Path(found), int(mode), done.stderr


def test_compiled_code_is_kept_by_the_hash_of_the_package(tmp_path):
    found, mode, said = where(tmp_path / "a" / "b", tmp_path)
    assert found.parent == tmp_path / "a" / "b"
    assert mode & 0o777 == (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert found.exists()
    assert not said


def test_a_folder_that_cannot_be_made_gives_way_to_one_of_the_process(tmp_path):
    """It is private, and gone when the process ends."""
    found, mode, said = where("/dev/null/x", tmp_path)
    assert found.parents[1] == tmp_path
    assert mode & 0o777 == 0o700
    assert not list(tmp_path.iterdir())
    assert said.count("keeps no compiled code") == 1
    assert "/dev/null" in said


@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no modes")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777], ids=oct)
@pytest.mark.parametrize("writable", [".", "..", "../.."])
def test_no_code_is_loaded_from_where_others_can_write(writable, mode, tmp_path):
    """Neither the folder itself, nor one above it, from where it could be replaced."""
    given = tmp_path / "home" / "cache" / "adatron"
    given.mkdir(parents=True)
    (given / writable).resolve().chmod(mode)
    with pytest.raises(PermissionError, match="can be changed by other users") as refused:
        private_folder(given)
    assert str((given / writable).resolve()) in str(refused.value)
    found, _, said = where(given, tmp_path)
    assert given not in found.parents
    assert f"(mode {mode:o})" in said
    assert not list(given.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no modes")
def test_a_sticky_folder_may_be_above_but_is_not_used_itself(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert private_folder(shared / "own") == shared / "own"
    with pytest.raises(PermissionError, match="can be changed by other users"):
        private_folder(shared)


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_link_leads_to_what_is_checked(tmp_path):
    (tmp_path / "good").mkdir(mode=0o700)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad").chmod(0o777)
    for name in ("good", "bad"):
        (tmp_path / f"to {name}").symlink_to(tmp_path / name)
    assert private_folder(tmp_path / "to good" / "x") == tmp_path / "good" / "x"
    with pytest.raises(PermissionError):
        private_folder(tmp_path / "to bad" / "x")
    (tmp_path / "bad" / "to good").symlink_to(tmp_path / "good")  # the link is not used once it is resolved
    assert private_folder(tmp_path / "bad" / "to good" / "x") == tmp_path / "good" / "x"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("whose", [".", "..", "../.."])
def test_no_code_is_loaded_from_another_users_folder(whose, tmp_path):
    given = tmp_path / "home" / "cache" / "adatron"
    given.mkdir(parents=True)
    os.chown((given / whose).resolve(), 65534, 65534)
    with pytest.raises(PermissionError, match=r"belongs to another user \(number 65534\)"):
        private_folder(given)
    _, _, said = where(given, tmp_path)
    assert "belongs to another user" in said


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


def test_the_faces_hold_no_compiled_code():
    """Their files are left out of the hash that names the cache."""
    root = Path(folder.__file__).parents[2]
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
    assert time.monotonic() - begun < turn.LOCK_SECONDS / 2
    assert not path.exists()
    calls = []
    monkeypatch.setattr(ahead, "_start", lambda parts, base: calls.append(parts))
    monkeypatch.delenv(ahead.HELPER, raising=False)
    ahead.begin.cache_clear()
    ahead.begin(tmp_path)  # nor does anybody compile what nobody could read
    assert not calls
    assert not list(tmp_path.iterdir())


def test_the_first_use_calls_helpers_once(tmp_path, monkeypatch, caplog):
    calls = []
    monkeypatch.setattr(ahead, "_start", lambda parts, base: calls.append(parts))
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
    monkeypatch.setattr(ahead, "_start", lambda parts, base: calls.append(parts))
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
from adatron.warm import FUNCTIONS, compiled_functions, warmup
import gc

def compiled():
    return {(f.py_func.__module__, f.py_func.__qualname__, s)
            for f in gc.get_objects() if isinstance(f, Dispatcher) for s in f.signatures}

warmup()
assert compiled_functions() >= FUNCTIONS, compiled_functions()
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
    for path in tmp_path.glob("*/*.nbi"):
        path.write_bytes(bytes(path.stat().st_size))
    assert [loads(), loads()] == ["True", "False"]  # compiled again, and replaced
