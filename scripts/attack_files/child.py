"""A process that makes attempts: ``child.py WHAT SEED BEGIN``."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import resource
import shutil
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

ROOM = 3 * 2**30  # Bytes of address space for attempts, beyond what the process has after the first one.


def once(what: str, seed: int, number: int) -> tuple[str, str]:
    """Make one attempt, which depends on the seed and its number alone, in a folder of its own."""
    module = importlib.import_module(what)
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        return module.attempt(np.random.default_rng([seed, number]), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _report(what: str, seed: int, number: int) -> dict[str, str]:
    try:
        kind, end = once(what, seed, number)
    except Exception as error:  # every error is reported
        return {"kind": type(error).__name__, "end": "BROKEN", "reason": traceback.format_exc()[-3000:]}
    return {"kind": kind, "end": end}


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * os.sysconf("SC_PAGE_SIZE") + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def main(what: str, seed: int, begin: int) -> None:
    """Make attempts until the parent has enough of them."""
    # Output of an attempt must not get among the reports.
    reports = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for number in itertools.count(begin):
        print(json.dumps(_report(what, seed, number)), file=reports, flush=True)
        if number == begin:
            _limit_memory()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
