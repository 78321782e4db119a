"""Code from the disk is used without the compiler."""

import os
import subprocess
import sys

from adatron.compiled.cache import ahead

TIMEOUT = 120


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
