"""Code from the disk is used without the compiler."""

import os
import subprocess
import sys

import pytest

from processes import COMPILING, python

FROM_DISK = """
import sys
import numpy as np
from adatron.compiled.optimality import gains, violation

assert gains(1.0, -2.0, 0.0, 3.0, 0.0, False) == (2.0, -2.0)
print("numba.np.arrayobj" in sys.modules)
if len(sys.argv) > 1:  # compiled now, out of what was read
    beta, g = np.zeros(3), np.array([1.0, -2.0, 3.0])
    assert violation(beta, g, np.zeros(0), beta - 1.0, beta + 1.0, 0.0, np.zeros(0, np.int64), np.zeros(0), 0) == 3.0
"""


@pytest.mark.slow
def test_code_from_the_disk_needs_no_compiler(tmp_path):
    """Numba's libraries of what it can compile are loaded where something is compiled."""

    def loads(*arguments):
        return python("-c", FROM_DISK, *arguments, ADATRON_CACHE_DIR=tmp_path, **COMPILING).stdout.strip()

    assert [loads(), loads(), loads("more"), loads("more")] == ["True", "False", "False", "False"]
    for path in tmp_path.glob("*/*.nbi"):
        path.write_bytes(bytes(path.stat().st_size))
    assert [loads(), loads()] == ["True", "False"]  # compiled again, and replaced


WITHIN = """
import numpy as np
import pytest
from adatron.compiled.panels import Sparse, _spread, sparse_products

rows, whole = Sparse.empty(np.float64), np.empty(0, np.int64)
for _ in range(2):  # before and after it is compiled into another function
    with pytest.raises(TypeError, match="only compiled code calls _spread"):
        _spread(rows, 0, whole, 0, np.empty((0, 0)))
    sparse_products(rows, 0, 0, rows, 0, 0, np.empty((0, 0)))
"""


@pytest.mark.slow
def test_python_cannot_call_what_has_no_wrapper(tmp_path):
    """The call would crash."""
    python("-c", WITHIN, ADATRON_CACHE_DIR=tmp_path, **COMPILING)


INTERRUPTED = """
import os, signal, sys
import numpy as np
from adatron.compiled import optimality
from adatron.compiled.panels import PRODUCTS, Dense, Sparse
from adatron.compiled.cache import uninterrupted


def loaded():
    assert optimality.gains(1.0, -2.0, 0.0, 3.0, 0.0, False) == (2.0, -2.0)
    for kind in (Dense, Sparse):
        rows, tile = kind.empty(np.float64), np.empty((0, 0))
        PRODUCTS[kind, "dot"](rows, 0, 0, rows, 0, 0, tile)


def trace(frame, event, _):
    global at
    frame.f_trace_lines = False
    if event in ("call", "return") and not (outside and uninterrupted._NOW):
        at += 1
        if at == moment:
            signal.raise_signal(signal.SIGINT)
    return trace


def attempt():
    sys.settrace(trace)
    try:
        loaded()
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        sys.settrace(None)
    return "finished"


outside = sys.argv[1] == "outside"
at = moment = 0
for kept in (False, True):  # a cache that has everything, and then how many moments there are
    if os.fork() == 0:
        attempt()
        if kept:
            print(at, flush=True)
        os._exit(0)
    os.wait()
for moment in map(int, sys.stdin.readline().split()):
    if os.fork() == 0:
        end = attempt()
        loaded()
        print(end, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize(("where", "times"), [("anywhere", 10), ("outside", 30)])
def test_ctrl_c_while_code_is_loaded_is_a_keyboard_interrupt(where, times):
    """At many moments, above all between the steps that nothing interrupts; afterwards the code is loaded."""
    env = {**os.environ, **COMPILING}
    command = [sys.executable, "-c", INTERRUPTED, where]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=env, text=True, **pipes) as process:
        moments = int(process.stdout.readline())
        last = moments * 19 // 20  # another child may have some moments less
        some = sorted({*range(1, last, max(1, moments // times))})
        out, errors = process.communicate(" ".join(map(str, some)) + "\n", timeout=600)
    assert process.returncode == 0, errors
    assert not errors
    assert out.split() == ["interrupted"] * len(some)
