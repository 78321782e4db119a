"""Fits beside each other, in workers, and interrupted: right answers, BLAS threads as before, no hang."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from numba.core.event import Listener, install_listener
from sklearn.datasets import make_classification

from adatron import SVC
from adatron.compiled.cache.jit import JIT_DISABLED, jit
from adatron.compiled.cache.uninterrupted import uninterrupted
from adatron.gram import Gram
from adatron.solvers.run import _Desk
from adatron.solvers.tasks import Tasks
from machines import blas_threads
from moments import calls, raising
from processes import python

WORKERS = """
import sys
import multiprocessing
from joblib import Parallel, delayed
from sklearn.datasets import make_classification
from adatron import SVC

def fit(seed):
    X, y = make_classification(1800, 40, n_informative=15, flip_y=0.05, random_state=seed)
    return SVC().fit(X, y).intercept_[0]

if __name__ == "__main__":
    kind = sys.argv[1]
    here = [fit(seed) for seed in range(3)]  # the parent has fitted before its workers start
    if kind == "fork":
        with multiprocessing.get_context("fork").Pool(2) as pool:
            there = pool.map(fit, range(3))
    else:
        there = Parallel(n_jobs=2, backend=kind)(delayed(fit)(seed) for seed in range(3))
    assert here == there, (here, there)
    print("equal")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no fork")
@pytest.mark.parametrize("kind", ["loky", "threading", "fork"])
def test_a_fit_inside_a_worker(kind, tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    assert python(script, kind).stdout.strip() == "equal"


FORKS = """
import os, signal, threading, time
import numpy as np

X = np.random.default_rng(0).normal(size=(300, 3))
y = (X[:, 0] > 0.3 * X[:, 1]).astype(int)
fits = 0

def fit():
    global fits
    from adatron import SVC
    while True:
        SVC(C=10.0 + fits, kernel=("rbf", "linear")[fits % 2]).fit(X, np.arange(300) % 4 if fits % 3 else y).predict(X)
        fits += 1

threading.Thread(target=fit, daemon=True).start()
time.sleep(0.1)  # in its imports
for _ in range(12):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        from adatron import SVC
        SVC().fit(X, y).predict(X)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    before, end = fits, time.monotonic() + 0.05  # the next one is in a fit
    while fits == before and time.monotonic() < end:
        time.sleep(0.001)
print("all fitted", flush=True)
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no fork")
def test_a_child_forked_while_another_thread_imports_and_fits_can_fit():
    """It has no copies of locks that the thread held."""
    done = python("-c", FORKS)
    assert done.stdout.strip() == "all fitted", done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_a_fork_waits_for_what_another_thread_does_in_one_go():
    inside, over = threading.Event(), threading.Event()

    def work():
        with uninterrupted():
            inside.set()
            time.sleep(0.3)
            over.set()

    worker = threading.Thread(target=work)
    worker.start()
    inside.wait()
    with uninterrupted():  # its own steps hold no fork back
        child = os.fork()
        if child == 0:
            os._exit(0 if over.is_set() else 1)
    assert os.waitpid(child, 0)[1] == 0
    worker.join()


@jit
def plus_one(x):
    return x + 1.0


class Press(Listener):
    """Ctrl-C whenever Numba compiles."""

    def on_start(self, event):
        signal.raise_signal(signal.SIGINT)

    def on_end(self, event):
        pass


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_ctrl_c_waits_until_a_function_is_compiled():
    """Within Numba it would be swallowed, or end as another error, and leave half a function."""
    x = np.float32(1.0)
    with install_listener("numba:compiler_lock", Press()), pytest.raises(KeyboardInterrupt):
        plus_one(x)
    assert len(plus_one.signatures) == 1
    assert plus_one(x) == 2.0


LONG = """
import sys, threading
from sklearn.datasets import make_classification
from adatron import SVC

X, y = make_classification(30000, 60, n_informative=20, n_classes=int(sys.argv[1]), flip_y=0.4, random_state=0)
started = False
def callback(state):
    global started
    if not started:
        print("started", flush=True)
        started = True
try:
    SVC(C=1e3, callback=callback, tol=1e-6).fit(X, y)
except KeyboardInterrupt:
    alive = [t.name for t in threading.enumerate() if t.name.startswith("adatron")]
        print("interrupted", alive, min(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"))
    SVC().fit(X[:200], y[:200])
    print("fits again")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("classes", [2, 4])
def test_interrupting_a_long_fit(classes, tmp_path):
    script = tmp_path / "long.py"
    script.write_text(LONG)
    own = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}  # Dask sets them
    process = subprocess.Popen([sys.executable, script, str(classes)], stdout=subprocess.PIPE, text=True, env=own)
    try:
        assert process.stdout.readline().strip() == "started"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    threads = min(blas_threads())
    assert out.splitlines() == [f"interrupted [] {threads}", "fits again"]


def test_an_error_of_the_callback_comes_through():
    before = blas_threads()
    X, y = make_classification(4000, 30, n_informative=10, n_classes=3, flip_y=0.3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        SVC(C=1e4, callback=raising(KeyboardInterrupt)).fit(X, y)
    assert blas_threads() == before
    assert SVC().fit(X[:300], y[:300]).fit_status_ == 0


def imported(statement):
    code = f"import sys; {statement}; print(*[m for m in ('numpy', 'numba', 'sklearn', 'scipy') if m in sys.modules])"
    return set(python("-c", code).stdout.split())


@pytest.mark.slow
def test_imports_are_lazy():
    assert imported("import adatron") == set()
    assert "numba" not in imported("from adatron import SVC")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "parameters", [{}, {"gap_tol": 1e-6}, *({"solver": name, "max_iter": 50} for name in ("smo", "isda"))], ids=str
)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("n", [300, 1500])
def test_a_fit_leaves_no_memory_to_the_collector(n, classes, parameters):
    """Rows of kernel values are gone when the fit ends; in a cycle they would stay until some later fit."""
    X, y = make_classification(n, 5, n_classes=classes, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)
    SVC(C=100.0, **parameters).fit(X, y)  # what the compiler leaves, if it is needed, is not the solvers'
    gc.disable()
    try:
        with calls(Gram.__init__, keep=lambda given, _: weakref.ref(given["self"])) as grams:
            SVC(C=100.0, **parameters).fit(X, y)
        assert grams
        assert not any(gram() for gram in grams)
    finally:
        gc.enable()


def test_reports_are_heard_though_all_was_solved_before_the_first():
    heard = []
    desk = _Desk(Tasks(None, np.zeros(3, int), np.arange(4), None, np.ones(3, bool)), heard.append)

    def work():
        for number in range(3):
            desk.reporter(number, direct=False)(1, 0.0, 0.0, 1.0)
        desk.close()

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    desk.serve(worker)
    assert [progress.problem for progress in heard] == [0, 1, 2]
