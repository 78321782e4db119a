"""Try an installed wheel that brought compiled code: nothing may be compiled for the README and the tutorial.

It needs the extras ``precompiled``, ``cli`` and ``plot``, and pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES = """
import time
from adatron import SVC
from adatron.compiled.cache.precompiled import precompiled_folder
from sklearn.datasets import make_moons

X, y = make_moons(15_000, noise=0.2, random_state=0)
for which in ("first", "second"):
    wall, processor = time.perf_counter(), time.process_time()
    SVC(C=10).fit(X, y)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"the {which} fit took {wall:.2f} s, {processor:.2f} s of the processor's time")
assert precompiled_folder(), "no compiled code came for this processor"
print(f"the code was that for {precompiled_folder().name}")
"""
PAGES = ("-q", "-p", "no:cacheprovider", "-k", "README or tutorial", "tests/whole/test_examples.py")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        for command in (("-c", TIMES), ("-m", "pytest", *PAGES)):
            # -P: the installed package counts, not the sources.
            process = [sys.executable, "-P", *command]
            subprocess.run(process, cwd=ROOT, env={**around, "ADATRON_CACHE_DIR": folder}, check=True)
        compiled = sorted(path.name for path in Path(folder).rglob("*.nbi"))
    if compiled:
        raise SystemExit("\n".join(["these functions were compiled, though the wheel should bring them:", *compiled]))
    print("nothing was compiled for the README and the tutorial")


if __name__ == "__main__":
    main()
