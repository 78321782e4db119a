"""Files are saved, loaded and locked where the system has none of POSIX's calls, as on Windows."""

import os
import subprocess
import sys

import pytest

from adatron.compiled.cache.folder import cache_folder
from processes import python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the platform itself is tested there")
TIMEOUT = 300

# Other libraries ask for the platform when they are imported, so they come first.
WITHOUT = """
import errno, fcntl, os, signal, sys, types
from importlib import import_module
for name in ("numba", "joblib", "click", "threadpoolctl", "tqdm", "scipy.linalg.cython_lapack", "scipy.special",
             "scipy.sparse.linalg", "sklearn.svm", "sklearn.pipeline", "tempfile", "subprocess"):
    import_module(name)
flock, exclusive = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB

def locking(descriptor, mode, count):
    assert mode == "at once" and count == 1
    assert os.lseek(descriptor, 0, os.SEEK_CUR) >= 2**43  # locked bytes of Windows cannot be read
    try:
        flock(descriptor, exclusive)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None

sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK="at once")
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for module, names in ((os, ("geteuid", "getuid", "sysconf", "register_at_fork", "fork", "O_NOFOLLOW", "O_NONBLOCK")),
                      (signal, ("SIGALRM", "SIGKILL", "pthread_sigmask"))):
    for name in names:
        delattr(module, name)
sys.platform = "win32"
"""

FIT = """
from pathlib import Path
import numpy as np
import adatron

path = Path(sys.argv[1])
X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
model = adatron.SVC().fit(X, y)
for _ in range(2):  # the second time it replaces a file
    adatron.save(model, path / "model.adatron")
assert (adatron.load(path / "model.adatron").predict(X) == model.predict(X)).all()
live = adatron.IncrementalSVC().fit(X[:40], y[:40])
adatron.save(live, path / "live.adatron")
live = adatron.load(path / "live.adatron")
adatron.save(live.forget([0]), path / "live.adatron")
assert len(adatron.load(path / "live.adatron").ids_) == 39
"""

LOCK = """
from pathlib import Path
from adatron.lock import hold

path = Path(sys.argv[1])
with path.open("r+b") as stream:
    try:
        hold(stream)
    except BlockingIOError:
        print("held by another process", flush=True)
    else:
        print("locked", flush=True)
        input()
    assert stream.tell() == 0
"""


def script(code, *arguments):
    command = [sys.executable, "-c", WITHOUT + code, *map(str, arguments)]
    environment = {**os.environ, "ADATRON_CACHE_DIR": str(cache_folder().parent)}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, env=environment, text=True, **pipes)


@pytest.mark.slow
def test_fit_predict_save_and_load(tmp_path):
    python("-c", WITHOUT + FIT, tmp_path, ADATRON_CACHE_DIR=cache_folder().parent)
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.slow
def test_one_process_holds_a_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"data")
    first = script(LOCK, path)
    assert first.stdout.readline() == "locked\n"
    second = script(LOCK, path)
    assert second.communicate(timeout=TIMEOUT)[0] == "held by another process\n"
    first.communicate("go on\n", timeout=TIMEOUT)
    third = script(LOCK, path)
    assert third.communicate("go on\n", timeout=TIMEOUT)[0] == "locked\n"
    assert (first.returncode, second.returncode, third.returncode) == (0, 0, 0)
