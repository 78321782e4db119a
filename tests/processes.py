"""Programs in a process of their own."""

import os
import subprocess
import sys

from adatron.compiled.cache import processes

COMPILING = {processes.HELPER: "1", "NUMBA_DISABLE_JIT": "0"}  # The process compiles all it needs by itself.


def python(*arguments, cwd=None, **variables):
    """Run Python with more variables in its environment, to an end without an error; return what it has said."""
    env = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done
