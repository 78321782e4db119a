"""Cells, the measurements of a table: run in turn, kept on disk, resumed after an interruption."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

import adatron
from adatron.files import atomic_write

from .cell import LIMIT
from .libraries import LIBRARIES

HERE = Path(__file__).parent
SLACK = 900  # Seconds for loading and checking, above which a cell is broken.


def folder() -> Path:
    """Return the folder of the results: the one that ADATRON_CELLS names, or .cells beside this file."""
    return Path(os.environ.get("ADATRON_CELLS") or HERE / ".cells")


def run(specs: list[dict[str, Any]], fresh: bool) -> list[dict[str, Any]]:
    """Return results of the cells in the order given; cells that are on disk are not measured again."""
    results = []
    with tqdm(specs, desc="cells", disable=None) as bar:
        for spec in bar:
            bar.set_postfix_str(" ".join(str(spec.get(key, "")) for key in ("data", "library")))
            path = folder() / f"{_key(spec)}.json"
            if fresh or not path.exists():
                result = _measured(spec)
                if "failed" not in result:
                    _keep(path, result)
            else:
                result = json.loads(path.read_text())
            results.append(result)
    return results


def _measured(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the report of the cell's process; for a process that took too long, the limit."""
    command = [sys.executable, "-m", "benchmarks.cell", json.dumps(spec)]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=2 * LIMIT + SLACK, check=False, cwd=HERE.parent
        )
    except subprocess.TimeoutExpired:
        return {"failed": "it took too long beside the fits"}
    if hasattr(signal, "SIGALRM") and done.returncode == -signal.SIGALRM:
        return {"seconds": float(LIMIT), "cut": True}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:300] if done.stderr else str(done.returncode)}
    return json.loads(done.stdout.splitlines()[-1])


def _key(spec: dict[str, Any]) -> str:
    """Return a name that changes with the specification, the machine, the versions and this library's source."""
    told = {**spec, "machine": machine(), "version": versions(), "source": _source(spec)}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:24]


def _source(spec: dict[str, Any]) -> str:
    """Return a digest of what a cell runs: its definitions, and this library if the cell is one of it."""
    digest = hashlib.sha256()
    files = sorted(Path(adatron.__file__).parent.rglob("*.py")) if spec.get("library") == "adatron" else []
    own = ["cell.py", "datasets.py", "libraries.py", "yardstick.py"]
    if spec.get("measure", True):
        own.append("quality.py")
    for path in [*files, *(HERE / name for name in own)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _keep(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    with atomic_write(path) as stream:
        stream.write(json.dumps(result).encode())


def machine() -> str:
    """Return the processor and the number of cores that this process may use."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {threads()} threads"


def threads() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries."""
    return {"Python": platform.python_version(), **{one.package: one.version for one in LIBRARIES.values()}}
